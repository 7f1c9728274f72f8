/* data_sources.h - the databases that a Data layer reads: one for all workers, or one for each.
 *
 *     shared_file_system: true     source                    each worker takes its share of the records
 *     shared_file_system: false    source_0, source_1 ...    each worker has its own
 *
 * A net that tests, and the only worker of a job, read the source itself; where that is not there and the
 * net says false, the part of worker 0. */
#ifndef PSD_ENGINE_LAYERS_DATA_SOURCES_H
#define PSD_ENGINE_LAYERS_DATA_SOURCES_H

#include "data/source.h"
#include "engine/layer.h"

struct psd_data_sources {
    struct psd_source *common; /* owned unless borrowed; NULL: not needed so far */
    bool borrowed;             /* it is the twin's */
    struct psd_source **parts; /* owned; of each worker of the net's position */
    size_t n_parts;            /* 0: all read the common one */
};

/* Opens what the workers of the net's position read, and closes parts of others. `elder` (NULL: there is
 * none) has those of the layer in the net that this one is a twin of. PSD_ECONFIG: one is missing. */
psd_status psd_data_sources_open(struct psd_data_sources *sources, const struct psd_layer *layer,
                                 const struct psd_data_sources *elder);

void psd_data_sources_close(struct psd_data_sources *sources);

#endif
