/* image.c - which format it is, and from rows of pixels to planes. */
#include "data/image.h"
#include "base/alloc.h"
#include "data/image_formats.h"

#include <string.h>

static psd_status reserve(struct psd_image *image, size_t size)
{
    if (size <= image->room)
        return PSD_OK;
    uint8_t *pixels = psd_alloc(size), *rows = psd_alloc(size);
    if (!pixels || !rows) {
        psd_alloc_free(pixels);
        psd_alloc_free(rows);
        return PSD_ENOMEM;
    }
    psd_alloc_free(image->pixels);
    psd_alloc_free(image->rows);
    image->pixels = pixels;
    image->rows = rows;
    image->room = size;
    return PSD_OK;
}

psd_status psd_image_resize(struct psd_image *image, size_t channels, size_t height, size_t width)
{
    if (height > PSD_IMAGE_SIDE || width > PSD_IMAGE_SIDE || height * width > PSD_IMAGE_AREA)
        return psd_fail(PSD_ECONFIG, "its image is %zu x %zu pixels large; at most %d x %d fit",
                        width, height, PSD_IMAGE_SIDE, PSD_IMAGE_AREA / PSD_IMAGE_SIDE);
    image->channels = channels;
    image->height = height;
    image->width = width;
    return reserve(image, channels * height * width);
}

/* Three channels, by far the most, have a loop of their own. */
static void split_color(struct psd_image *image)
{
    size_t area = image->height * image->width;
    uint8_t *blue = image->pixels, *green = blue + area, *red = green + area;
    const uint8_t *pixel = image->rows;

    for (size_t i = 0; i < area; i++, pixel += 3) {
        blue[i] = pixel[0];
        green[i] = pixel[1];
        red[i] = pixel[2];
    }
}

static void split_any(struct psd_image *image)
{
    size_t area = image->height * image->width, channels = image->channels;

    for (size_t c = 0; c < channels; c++) {
        for (size_t i = 0; i < area; i++)
            image->pixels[c * area + i] = image->rows[i * channels + c];
    }
}

psd_status psd_image_decode(const void *bytes, size_t size, enum psd_image_color color,
                            struct psd_image *image)
{
    static const uint8_t jpeg[] = {0xff, 0xd8, 0xff}, png[] = {0x89, 'P', 'N', 'G', '\r', '\n'};

    if (size >= sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0)
        PSD_TRY(psd_image_jpeg(bytes, size, color, image));
    else if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        PSD_TRY(psd_image_png(bytes, size, color, image));
    else
        return psd_fail(PSD_ECONFIG, "its image is neither a JPEG nor a PNG file");
    (image->channels == 3 ? split_color : split_any)(image);
    return PSD_OK;
}

void psd_image_fini(struct psd_image *image)
{
    psd_alloc_free(image->pixels);
    psd_alloc_free(image->rows);
    *image = (struct psd_image){0};
}
