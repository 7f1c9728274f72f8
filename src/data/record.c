/* record.c - a buffer that only grows. */
#include "data/record.h"
#include "base/alloc.h"

psd_status psd_record_reserve(struct psd_record *record, size_t size)
{
    if (size <= record->room_size)
        return PSD_OK;
    if (size < 2 * record->room_size) /* slowly growing records cost linear time in all */
        size = 2 * record->room_size;
    uint8_t *room = psd_alloc_resize(record->room, size, 1);
    if (!room)
        return PSD_ENOMEM;
    record->room = room;
    record->room_size = size;
    return PSD_OK;
}

void psd_record_fini(struct psd_record *record)
{
    psd_alloc_free(record->room);
    *record = (struct psd_record){0};
}
