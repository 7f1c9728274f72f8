/* datum_fuzz.c - any bytes as a Datum: what is accepted lies inside them. */
#include "data/datum.h"
#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_datum datum;

    if (size == 0 || psd_datum_parse(data, size, &datum) != PSD_OK)
        return 0;
    if (datum.data_size > 0 && (datum.data < data || datum.data + datum.data_size > data + size))
        abort();
    float *floats = malloc((datum.float_count + 1) * sizeof *floats);
    if (!floats)
        return 0;
    floats[datum.float_count] = 7;
    psd_datum_floats(&datum, floats);
    if (floats[datum.float_count] != 7)
        abort();
    free(floats);
    if (psd_datum_check(&datum) == PSD_OK && datum.data_size + datum.float_count == 0)
        abort();
    return 0;
}
