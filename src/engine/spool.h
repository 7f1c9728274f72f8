/* spool.h - a set of files on its way to the disk, while training goes on.
 *
 *     documents --> bytes in memory --> a thread: temporary files, synced --> all get their names
 *
 * What was packed is the spool's own, so that whoever made it may go on changing it. The files of a set
 * appear in their order, each whole, all or none. One thread makes, starts and ends a spool. */
#ifndef PSD_ENGINE_SPOOL_H
#define PSD_ENGINE_SPOOL_H

#include "proto/document.h"

struct psd_spool;

psd_status psd_spool_create(struct psd_spool **out);

/* Packs a document for the file `path`; `path` becomes the spool's, also on failure. */
psd_status psd_spool_add(struct psd_spool *spool, char *path, const ProtobufCMessage *message);

/* The same for bytes that are packed already; `path` and `data` become the spool's, also on failure. */
psd_status psd_spool_add_bytes(struct psd_spool *spool, char *path, void *data, size_t size);

/* Starts to write. */
psd_status psd_spool_start(struct psd_spool *spool);

/* Waits until all is written and frees the spool. PSD_ECONFIG: a file could not be written, and none
 * of the set is there; what had their names before has them still. NULL is fine. */
psd_status psd_spool_end(struct psd_spool *spool);

#endif
