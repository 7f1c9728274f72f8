/* image_fuzz.c - any bytes as a JPEG or PNG file, decoded in each of the three ways. */
#include "data/image.h"
#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct psd_image image = {0};

    if (size == 0)
        return 0;
    for (int color = PSD_IMAGE_NATIVE; color <= PSD_IMAGE_GRAY; color++) {
        if (psd_image_decode(data, size, (enum psd_image_color)color, &image) != PSD_OK)
            break;
        if (image.channels == 0 || image.channels * image.height * image.width > image.room)
            abort();
    }
    psd_image_fini(&image);
    return 0;
}
