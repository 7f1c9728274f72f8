/* record.h - room for one record, used again and again.
 *
 *     struct psd_record record = {0};
 *     for (...)
 *         psd_source_read(source, i, &record);      the room grows to the largest record and stays
 *     psd_record_fini(&record);
 *
 * Whoever reads records owns one of these, so that reading allocates nothing once it is warm. One
 * thread at a time. */
#ifndef PSD_DATA_RECORD_H
#define PSD_DATA_RECORD_H

#include "base/status.h"
#include "data/datum.h"

#include <stddef.h>
#include <stdint.h>

/* No record is larger: a source refuses it instead of asking for the memory. */
#define PSD_RECORD_LARGEST ((size_t)256 << 20)

/* All zero before its first use. What it points to is valid until the next read. */
struct psd_record {
    const uint8_t *key;     /* borrowed from the room; NULL: not known */
    const uint8_t *value;   /* borrowed from the room */
    size_t key_size;        /* 0 when the key is not known */
    size_t value_size;      /* of the record as it is stored */
    struct psd_datum datum; /* what the record says; borrowed from the room */
    uint8_t *room;          /* owned */
    size_t room_size;
};

/* Makes the room at least `size` bytes; what is in it stays, perhaps elsewhere. */
psd_status psd_record_reserve(struct psd_record *record, size_t size);
void psd_record_fini(struct psd_record *record);

#endif
