/* plain.c - the kernel that runs anywhere. */
#include "math/product/norm.h"
#include "math/product/tile.h"

static bool usable(void)
{
    return true;
}

const struct psd_product_kernel psd_product_plain = {.name = "plain",
                                                     .usable = usable,
                                                     .width = WIDTH,
                                                     .pack = PACK,
                                                     .multiply = MULTIPLY,
                                                     .dots = dots,
                                                     .weigh = weigh};
