/* npy_fuzz.c - any bytes as a file of NumPy's: no crash, and what is read fits its shape. */
#include "base/npy.h"
#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_npy npy;
    size_t count = 1;

    if (psd_npy_parse("fuzz.npy", data, size, &npy) != PSD_OK)
        return 0;
    for (size_t i = 0; i < npy.axes; i++)
        count *= npy.dim[i];
    if (count != npy.count || npy.count > size)
        abort();
    psd_npy_fini(&npy);
    return 0;
}
