/* pack.h - numbers and text in a row of bytes, written here and read by another member.
 *
 *     psd_pack_u32(&pack, 7);  psd_pack_text(&pack, "fc6");       07 00 00 00  03 00 00 00 'f' 'c' '6'
 *     n = psd_unpack_u32(&unpack);  name = psd_unpack_text(&unpack, 100);
 *
 * Numbers are little-endian; a text has its length before it. A writer that runs out of memory, and a
 * reader that runs out of bytes, remember that and go on with nothing: they are asked once, at the
 * end. */
#ifndef PSD_COMM_PACK_H
#define PSD_COMM_PACK_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is written; all zero at first. */
struct psd_pack {
    unsigned char *bytes; /* owned; NULL while there are none */
    size_t length, room;
    psd_status status; /* PSD_ENOMEM: something is missing */
};

void psd_pack_u32(struct psd_pack *pack, uint32_t number);
void psd_pack_u64(struct psd_pack *pack, uint64_t number);
void psd_pack_f32(struct psd_pack *pack, float number);
void psd_pack_text(struct psd_pack *pack, const char *text);

/* Frees the bytes; the pack is all zero again. */
void psd_pack_fini(struct psd_pack *pack);

/* What is read. */
struct psd_unpack {
    const unsigned char *at; /* borrowed */
    size_t left;
    psd_status status; /* PSD_EPEER: more was asked for than there is; PSD_ENOMEM: a text is lost */
};

/* The next number; 0 once something has failed. */
uint32_t psd_unpack_u32(struct psd_unpack *unpack);
uint64_t psd_unpack_u64(struct psd_unpack *unpack);
float psd_unpack_f32(struct psd_unpack *unpack);

/* A copy of the next text, which the caller frees. NULL: it has failed, now or before, as a text longer
 * than `most` and one with a NUL byte in it do. */
char *psd_unpack_text(struct psd_unpack *unpack, size_t most);

/* Whether all has been read and nothing has failed: PSD_OK, PSD_ENOMEM, or PSD_EPEER with the sentence
 * that rank `from` sends `what` ("a roster") that cannot be read. */
psd_status psd_unpack_end(const struct psd_unpack *unpack, unsigned from, const char *what);

#endif
