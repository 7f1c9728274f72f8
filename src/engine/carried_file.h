/* carried_file.h - what layers carry as their own, as numbers in a row, and to and from a
 * .poseidonstate. What is averaged is a parameter, and in the .caffemodel. */
#ifndef PSD_ENGINE_CARRIED_FILE_H
#define PSD_ENGINE_CARRIED_FILE_H

#include "engine/net.h"
#include "engine/state.pb-c.h"

/* How many numbers the net carries for a worker; out of it, and into it. */
size_t psd_carried_count(const struct psd_net *net);
void psd_carried_take(const struct psd_net *net, float *row);
void psd_carried_put(struct psd_net *net, const float *row);

/* Adds `rows` [workers][psd_carried_count] to a document of a State, which is written before they
 * change. */
psd_status psd_carried_save(const struct psd_net *net, float *rows, unsigned workers,
                            struct psd_document *document);

/* Fills them from one. A state of other workers leaves what it has nothing for. PSD_ECONFIG: it is of
 * another net. */
psd_status psd_carried_load(const struct psd_net *net, float *rows, unsigned workers,
                            const Psd__State *state, const char *path);

#endif
