/* hdf5_layout.c - layout messages of versions 3 and 4.
 *
 *     compact      version 0  kind 1  size 2 (2)  bytes 4
 *     contiguous   version 0  kind 1  address 2  size 10
 *     chunked, 3   version 0  kind 1  axes + 1 2  tree 3  dims 11 (4 each), the size of a value last
 *     chunked, 4   version 0  kind 1  flags 2  axes + 1 3  width 4  dims 5 (width each)
 *                  index's kind  [what the index needs]  address */
#include "data/hdf5_layout.h"
#include "base/little.h"

enum { EDGES_UNFILTERED = 1, SINGLE_FILTERED = 2 };

static psd_status too_short(const struct psd_hdf5_file *file,
                            const struct psd_hdf5_message *message)
{
    return psd_hdf5_file_damaged(file, message->at, "a layout is too short");
}

/* Dims of `width` bytes each; the last of them is the size of a value and no axis. */
static psd_status read_box(const struct psd_hdf5_file *file, const struct psd_hdf5_message *message,
                           size_t at, size_t width, struct psd_hdf5_layout *layout)
{
    if (message->size < at + (layout->axes + 1) * width)
        return too_short(file, message);
    for (size_t i = 0; i < layout->axes; i++) {
        layout->chunk[i] = psd_little_get(message->bytes + at + i * width, width);
        if (!layout->chunk[i])
            return psd_hdf5_file_damaged(file, message->at, "a chunk has no extent");
    }
    return PSD_OK;
}

static psd_status check_axes(const struct psd_hdf5_file *file,
                             const struct psd_hdf5_message *message, size_t axes_and_one)
{
    if (axes_and_one >= 2 && axes_and_one <= PSD_HDF5_AXES + 1)
        return PSD_OK;
    return psd_hdf5_file_damaged(file, message->at, "a chunk has no axes, or too many");
}

static psd_status read_tree(const struct psd_hdf5_file *file,
                            const struct psd_hdf5_message *message, struct psd_hdf5_layout *layout)
{
    if (message->size < 11)
        return too_short(file, message);
    PSD_TRY(check_axes(file, message, message->bytes[2]));
    layout->axes = message->bytes[2] - 1u;
    layout->at = psd_little_get(message->bytes + 3, 8);
    return read_box(file, message, 11, 4, layout);
}

/* What stands between the index's kind, at `at`, and its address. */
static psd_status read_index(const struct psd_hdf5_file *file,
                             const struct psd_hdf5_message *message, size_t at,
                             struct psd_hdf5_layout *layout)
{
    static const size_t needs[] = {0, 0, 0, 1};
    unsigned kind = message->size > at ? message->bytes[at] : 0;

    if (kind < PSD_HDF5_INDEX_SINGLE || kind > PSD_HDF5_INDEX_FIXED)
        return psd_hdf5_file_unknown(
            file, message->at,
            "chunks of a dataset that may grow, in HDF5's newest form, are "
            "not read; write the file with libver='earliest'");
    layout->index = (enum psd_hdf5_index)kind;
    bool filtered = kind == PSD_HDF5_INDEX_SINGLE && layout->is_filtered;
    size_t place = at + 1 + (filtered ? 12 : needs[kind]);
    if (message->size < place + 8)
        return too_short(file, message);
    if (filtered) {
        layout->size = psd_little_get(message->bytes + at + 1, 8);
        layout->skipped = (unsigned)psd_little_get(message->bytes + at + 9, 4);
    }
    layout->at = psd_little_get(message->bytes + place, 8);
    return PSD_OK;
}

static psd_status read_newer(const struct psd_hdf5_file *file,
                             const struct psd_hdf5_message *message, struct psd_hdf5_layout *layout)
{
    if (message->size < 5)
        return too_short(file, message);
    size_t width = message->bytes[4];
    PSD_TRY(check_axes(file, message, message->bytes[3]));
    if (width < 1 || width > 8)
        return psd_hdf5_file_damaged(file, message->at, "a chunk's shape makes no sense");
    if (message->bytes[2] & EDGES_UNFILTERED)
        return psd_hdf5_file_unknown(file, message->at,
                                     "chunks that are filtered in part are not read");
    layout->axes = message->bytes[3] - 1u;
    layout->is_filtered = message->bytes[2] & SINGLE_FILTERED;
    PSD_TRY(read_box(file, message, 5, width, layout));
    return read_index(file, message, 5 + (layout->axes + 1) * width, layout);
}

static psd_status read_bytes(const struct psd_hdf5_file *file,
                             const struct psd_hdf5_message *message, struct psd_hdf5_layout *layout)
{
    bool compact = layout->kind == PSD_HDF5_COMPACT;

    if (message->size < (compact ? 4u : 18u))
        return too_short(file, message);
    layout->at = compact ? message->at + 4 : psd_little_get(message->bytes + 2, 8);
    layout->size =
        compact ? psd_little_get(message->bytes + 2, 2) : psd_little_get(message->bytes + 10, 8);
    return PSD_OK;
}

psd_status psd_hdf5_layout_read(const struct psd_hdf5_file *file,
                                const struct psd_hdf5_message *message, struct psd_hdf5_layout *out)
{
    struct psd_hdf5_layout layout = {0};
    unsigned version = message->size > 1 ? message->bytes[0] : 0;

    if (message->shared || version < 3 || version > 4 || message->bytes[1] > PSD_HDF5_CHUNKED)
        return psd_hdf5_file_unknown(file, message->at, "a layout of this form is not read");
    layout.kind = (enum psd_hdf5_layout_kind)message->bytes[1];
    if (layout.kind != PSD_HDF5_CHUNKED)
        PSD_TRY(read_bytes(file, message, &layout));
    else if (version == 3)
        PSD_TRY(read_tree(file, message, &layout));
    else
        PSD_TRY(read_newer(file, message, &layout));
    *out = layout;
    return PSD_OK;
}
