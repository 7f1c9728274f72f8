/* kernels.c - the kernels that are compiled in; the only place that asks which. */
#include "math/product/kernel.h"

const struct psd_product_kernel *const psd_product_kernels[] = {
/* best first */
#if defined(__x86_64__)
    &psd_product_avx512,
    &psd_product_avx2,
#endif
    &psd_product_plain, /* runs anywhere */
    NULL,
};

const struct psd_product_kernel *psd_product_kernel_choose(void)
{
    for (size_t i = 0; psd_product_kernels[i]; i++) {
        if (psd_product_kernels[i]->usable())
            return psd_product_kernels[i];
    }
    return &psd_product_plain;
}
