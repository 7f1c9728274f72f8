/* sources.h - the ways of keeping records that this build knows. */
#ifndef PSD_DATA_SOURCES_H
#define PSD_DATA_SOURCES_H

#include "data/source.h"

/* The way called `name`. PSD_ENOSUP: there is none; the sentence lists those there are. */
psd_status psd_sources_find(const char *name, const struct psd_source_kind **out);

#endif
