/* picker.c - reads, decodes, checks; and looks further where that does not work. */
#include "data/picker.h"
#include "base/alloc.h"
#include "proto/mistakes.h"

#include <inttypes.h>
#include <stdio.h>

struct psd_picker {
    const struct psd_source *source;       /* borrowed */
    const struct psd_transform *transform; /* borrowed */
    struct psd_log *log;                   /* borrowed */
    uint64_t count;                        /* of records */
    struct psd_bad bad;                    /* owned */
    uint64_t index;                        /* of the latest record read, */
    struct psd_record record;              /* owned; what is in it, */
    struct psd_sample_room room;           /* owned; its values if they are not in the record, */
    struct psd_sample sample;              /* and what they are, borrowed from both */
};

psd_status psd_picker_create(const struct psd_source *source, const struct psd_transform *transform,
                             const struct psd_bad_limit *limit, struct psd_log *log,
                             struct psd_picker **out)
{
    uint64_t count = psd_source_count(source);

    if (count == 0)
        return psd_fail(PSD_ECONFIG, "%s has no records", psd_source_path(source));
    struct psd_picker *picker = psd_alloc_zero(1, sizeof *picker);
    if (!picker)
        return PSD_ENOMEM;
    picker->source = source;
    picker->transform = transform;
    picker->log = log;
    picker->count = count;
    psd_status status = psd_bad_init(&picker->bad, count, limit);
    if (status == PSD_OK)
        *out = picker;
    else
        psd_alloc_free(picker);
    return status;
}

void psd_picker_destroy(struct psd_picker *picker)
{
    if (!picker)
        return;
    psd_sample_room_fini(&picker->room);
    psd_record_fini(&picker->record);
    psd_bad_fini(&picker->bad);
    psd_alloc_free(picker);
}

/* Reads a record, and what its values are. */
static psd_status read_sample(struct psd_picker *picker, uint64_t index)
{
    picker->index = index;
    PSD_TRY(psd_source_read(picker->source, index, &picker->record));
    return psd_sample_read(&picker->record.datum, psd_transform_color(picker->transform),
                           &picker->room, &picker->sample);
}

/* Whether the latest sample will have the shape `wanted`. */
static psd_status check_shape(const struct psd_picker *picker, struct psd_sample_shape wanted)
{
    struct psd_sample_shape shape;

    PSD_TRY(psd_transform_shape(picker->transform, picker->sample.shape, &shape));
    if (shape.channels != wanted.channels || shape.height != wanted.height ||
        shape.width != wanted.width)
        return psd_fail(PSD_ECONFIG,
                        "its shape is %zu x %zu x %zu, not %zu x %zu x %zu as that of the first",
                        shape.channels, shape.height, shape.width, wanted.channels, wanted.height,
                        wanted.width);
    return PSD_OK;
}

/* "record 17, key "00000017"", as far as it is known. */
struct name {
    char text[128];
};

/* Of the latest record. */
static const char *name_record(const struct psd_picker *picker, struct name *name)
{
    const struct psd_record *record = &picker->record;
    struct psd_quote quote; /* a key may be any bytes */

    if (record->key)
        snprintf(name->text, sizeof name->text, "record %" PRIu64 ", key \"%s\"", picker->index,
                 psd_quote(&quote, (const char *)record->key, record->key_size));
    else
        snprintf(name->text, sizeof name->text, "record %" PRIu64, picker->index);
    return name->text;
}

/* Tells that the latest record is left out, for the reason in psd_error(); fails when it is one too
 * many. */
static psd_status leave_out(struct psd_picker *picker)
{
    const char *path = psd_source_path(picker->source);
    struct name name;

    name_record(picker, &name);
    psd_log_warning(picker->log, "%s: %s is left out: %s", path, name.text, psd_error());
    if (psd_bad_add(&picker->bad, picker->index))
        return PSD_OK;
    return psd_fail(
        PSD_ECONFIG,
        "%s: %" PRIu64 " of its %" PRIu64 " records cannot be used, and at most %" PRIu64
        " may be so; the latest is %s: %s",
        path, picker->bad.count, picker->count, picker->bad.most, name.text, psd_error());
}

/* Reads the record whose turn it is, or the next one that can be used: that gets the shape `wanted`,
 * or any at all if that is NULL. */
static psd_status find_good(struct psd_picker *picker, uint64_t turn,
                            const struct psd_sample_shape *wanted)
{
    for (uint64_t tried = 0; tried < picker->count; tried++) {
        uint64_t index = (turn + tried) % picker->count;
        if (psd_bad_has(&picker->bad, index))
            continue;
        psd_status status = read_sample(picker, index);
        if (status == PSD_OK && wanted)
            status = check_shape(picker, *wanted);
        if (status != PSD_ECONFIG)
            return status; /* a good one, or a failure that is no record's fault */
        PSD_TRY(leave_out(picker));
    }
    return psd_fail(PSD_ECONFIG, "%s: none of its %" PRIu64 " records can be used",
                    psd_source_path(picker->source), picker->count);
}

/* A transform that does not fit the first record that can be read is wrong itself: leaving out that
 * record, and probably all others, would only hide it. */
psd_status psd_picker_shape(struct psd_picker *picker, struct psd_sample_shape *out)
{
    struct name name;

    PSD_TRY(find_good(picker, 0, NULL));
    psd_status status = psd_transform_shape(picker->transform, picker->sample.shape, out);
    if (status != PSD_ECONFIG)
        return status;
    return psd_fail(PSD_ECONFIG, "%s: %s: %s", psd_source_path(picker->source),
                    name_record(picker, &name), psd_error());
}

psd_status psd_picker_pick(struct psd_picker *picker, uint64_t turn, const struct psd_draw *draw,
                           struct psd_sample_shape shape, float *data, float *label)
{
    PSD_TRY(find_good(picker, turn, &shape));
    psd_transform_apply(picker->transform, &picker->sample, draw, data);
    *label = (float)picker->record.datum.label;
    return PSD_OK;
}

uint64_t psd_picker_bad(const struct psd_picker *picker)
{
    return picker->bad.count;
}
