#include "data/hdf5_type.h"
#include "base/little.h"

#include <string.h>

/* Properties of an IEEE number: offset 2, precision 2, exponent's place and size, mantissa's place and
 * size, bias 4. */
static bool is_ieee(const struct psd_hdf5_type *type, const unsigned char *bytes)
{
    static const unsigned char known[][12] = {
        {0, 0, 16, 0, 10, 5, 0, 10, 15, 0, 0, 0},
        {0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0},
        {0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0},
    };

    if ((bytes[1] & 0x70) != 0x20 || bytes[2] != 8 * type->size - 1) /* mantissa, sign */
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (type->size == (size_t)2 << i)
            return memcmp(bytes + 8, known[i], sizeof known[i]) == 0;
    }
    return false;
}

static bool is_whole(const struct psd_hdf5_type *type, const unsigned char *bytes)
{
    bool power = type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8;

    return power && psd_little_get(bytes + 8, 2) == 0 &&
           psd_little_get(bytes + 10, 2) == 8 * type->size;
}

psd_status psd_hdf5_type_read(const struct psd_hdf5_file *file,
                              const struct psd_hdf5_message *message, struct psd_hdf5_type *out)
{
    const unsigned char *bytes = message->bytes;

    if (message->shared)
        return psd_hdf5_file_unknown(file, message->at, "a type that has a name is not read");
    if (message->size < 8)
        return psd_hdf5_file_damaged(file, message->at, "a type is too short");
    unsigned class = bytes[0] & 15;
    struct psd_hdf5_type type = {
        .class = (enum psd_hdf5_class) class,
        .size = (size_t)psd_little_get(bytes + 4, 4),
        .big_endian = class != PSD_HDF5_TEXT && bytes[1] & 1,
        .is_signed = bytes[1] & 8,
    };
    bool known = (class == PSD_HDF5_TEXT && type.size) ||
                 (class == PSD_HDF5_FLOAT && message->size >= 20 && is_ieee(&type, bytes)) ||
                 (class == PSD_HDF5_INTEGER && message->size >= 12 && is_whole(&type, bytes));
    if (!known)
        return psd_hdf5_file_unknown(file, message->at,
                                     "values are of another type than floats of 2, 4 or 8 bytes, "
                                     "integers of 1, 2, 4 or 8, or texts of fixed length");
    *out = type;
    return PSD_OK;
}

bool psd_hdf5_type_is_plain(const struct psd_hdf5_type *type)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && type->class == PSD_HDF5_FLOAT &&
           type->size == 4 && !type->big_endian;
}

/* The bits of a number, whichever byte comes first. */
static uint64_t bits_of(const struct psd_hdf5_type *type, const unsigned char *from)
{
    uint64_t bits = 0;

    if (!type->big_endian)
        return psd_little_get(from, type->size);
    for (size_t i = 0; i < type->size; i++)
        bits = bits << 8 | from[i];
    return bits;
}

int64_t psd_hdf5_type_integer(const struct psd_hdf5_type *type, const unsigned char *from)
{
    uint64_t bits = bits_of(type, from);
    unsigned shift = (unsigned)(64 - 8 * type->size) & 63; /* the sign to the top, and back */

    return type->is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

/* A sign, 5 bits of exponent, 10 of mantissa; a float has every such number. */
static float convert_half(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023, sign = bits >> 15 << 31;
    uint32_t wide = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    float value;

    if (exponent == 0)
        return (sign ? -1.0f : 1.0f) * (float)mantissa * 0x1p-24f;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static float convert_float(uint64_t bits, size_t size)
{
    uint32_t lower = (uint32_t)bits;
    double twice;
    float single;

    if (size == 2)
        return convert_half(lower);
    memcpy(&twice, &bits, sizeof twice);
    memcpy(&single, &lower, sizeof single);
    return size == 4 ? single : (float)twice;
}

static float convert_one(const struct psd_hdf5_type *type, const unsigned char *from)
{
    uint64_t bits = bits_of(type, from);

    if (type->class == PSD_HDF5_FLOAT)
        return convert_float(bits, type->size);
    return type->is_signed ? (float)psd_hdf5_type_integer(type, from) : (float)bits;
}

void psd_hdf5_type_convert(const struct psd_hdf5_type *type, const unsigned char *from,
                           size_t count, float *out)
{
    if (psd_hdf5_type_is_plain(type)) {
        memcpy(out, from, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = convert_one(type, from + i * type->size);
}
