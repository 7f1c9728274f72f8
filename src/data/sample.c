/* sample.c - three forms of a Datum become one. */
#include "data/sample.h"
#include "base/alloc.h"

static psd_status read_image(const struct psd_datum *datum, enum psd_image_color color,
                             struct psd_sample_room *room, struct psd_sample *out)
{
    const struct psd_image *image = &room->image;

    PSD_TRY(psd_image_decode(datum->data, datum->data_size, color, &room->image));
    *out = (struct psd_sample){
        .shape = {image->channels, image->height, image->width},
        .bytes = image->pixels,
    };
    return PSD_OK;
}

static psd_status reserve(struct psd_sample_room *room, size_t count)
{
    if (count <= room->count)
        return PSD_OK;
    float *floats = psd_alloc_resize(room->floats, count, sizeof *floats);
    if (!floats)
        return PSD_ENOMEM;
    room->floats = floats;
    room->count = count;
    return PSD_OK;
}

psd_status psd_sample_read(const struct psd_datum *datum, enum psd_image_color color,
                           struct psd_sample_room *room, struct psd_sample *out)
{
    if (datum->encoded)
        return read_image(datum, color, room, out);
    PSD_TRY(psd_datum_check(datum));
    struct psd_sample sample = {
        .shape = {(size_t)datum->channels, (size_t)datum->height, (size_t)datum->width},
        .bytes = datum->data,
    };
    if (datum->data_size == 0) {
        PSD_TRY(reserve(room, datum->float_count));
        psd_datum_floats(datum, room->floats);
        sample.bytes = NULL;
        sample.floats = room->floats;
    }
    *out = sample;
    return PSD_OK;
}

void psd_sample_room_fini(struct psd_sample_room *room)
{
    psd_image_fini(&room->image);
    psd_alloc_free(room->floats);
    *room = (struct psd_sample_room){0};
}
