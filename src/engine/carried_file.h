/* carried_file.h - what layers carry as their own, to and from a .poseidonstate. What is averaged is a
 * parameter, and in the .caffemodel. */
#ifndef PSD_ENGINE_CARRIED_FILE_H
#define PSD_ENGINE_CARRIED_FILE_H

#include "engine/net.h"
#include "engine/state.pb-c.h"

/* Adds what the net carries to a document of a State, which is written before the net goes on. */
psd_status psd_carried_save(const struct psd_net *net, struct psd_document *document);

/* Puts it back. A state without any leaves the net's; PSD_ECONFIG: it is of another net. */
psd_status psd_carried_load(struct psd_net *net, const Psd__State *state, const char *path);

#endif
