/* hdf5_space.c - dataspace messages.
 *
 *     version 1   version 0  axes 1  flags 2  dims 8 ...  [largest dims]
 *     version 2   version 0  axes 1  flags 2  kind 3  dims 4 ...  [largest dims] */
#include "data/hdf5_space.h"
#include "base/little.h"

enum { HAS_MOST = 1, NOTHING = 2 };

static psd_status read_dims(const struct psd_hdf5_file *file,
                            const struct psd_hdf5_message *message, size_t at,
                            struct psd_hdf5_space *space)
{
    bool has_most = message->bytes[2] & HAS_MOST;
    const unsigned char *dims = message->bytes + at, *most = dims + 8 * space->axes;

    if (message->size < at + (has_most ? 16 : 8) * space->axes)
        return psd_hdf5_file_damaged(file, message->at, "a shape is too short");
    for (size_t i = 0; i < space->axes; i++) {
        space->dim[i] = psd_little_get(dims + 8 * i, 8);
        space->most[i] = has_most ? psd_little_get(most + 8 * i, 8) : space->dim[i];
        if (space->most[i] < space->dim[i] ||
            __builtin_mul_overflow(space->count, space->dim[i], &space->count) ||
            space->count >> 48)
            return psd_hdf5_file_damaged(file, message->at, "a shape is too large for any file");
    }
    return PSD_OK;
}

psd_status psd_hdf5_space_read(const struct psd_hdf5_file *file,
                               const struct psd_hdf5_message *message, struct psd_hdf5_space *out)
{
    struct psd_hdf5_space space = {.count = 1};

    if (message->shared || message->size < 4 || message->bytes[0] < 1 || message->bytes[0] > 2)
        return psd_hdf5_file_unknown(file, message->at, "a shape of this form is not read");
    bool newer = message->bytes[0] == 2;
    space.axes = message->bytes[1];
    if (space.axes > PSD_HDF5_AXES)
        return psd_hdf5_file_damaged(file, message->at, "a dataset has more than 32 axes");
    if (newer && message->bytes[3] == NOTHING)
        return psd_hdf5_file_unknown(file, message->at, "a dataset without values is not read");
    PSD_TRY(read_dims(file, message, newer ? 4 : 8, &space));
    *out = space;
    return PSD_OK;
}
