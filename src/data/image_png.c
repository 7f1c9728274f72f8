/* image_png.c - PNG by libpng. Errors jump back to where the decoding began, as with libjpeg. */
#include "data/image_formats.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <png.h>

enum { CHUNK_MOST = 8 << 20, CHUNKS_MOST = 100 }; /* of what is no picture: texts, profiles */

struct decoder {
    png_structp png; /* owned */
    png_infop info;  /* owned */
    const uint8_t *at, *end;
    psd_status status; /* set before the jump */
};

_Noreturn static void give_up(struct decoder *decoder, psd_status status)
{
    decoder->status = status;
    png_longjmp(decoder->png, 1);
}

_Noreturn static void on_error(png_structp png, png_const_charp reason)
{
    give_up(png_get_error_ptr(png),
            psd_fail(PSD_ECONFIG, "its image is a damaged PNG: %s", reason));
}

static void on_warning(png_structp png, png_const_charp reason)
{
    (void)png, (void)reason;
}

static void on_read(png_structp png, png_bytep to, size_t size)
{
    struct decoder *decoder = png_get_io_ptr(png);

    if (size > (size_t)(decoder->end - decoder->at))
        give_up(decoder, psd_fail(PSD_ECONFIG, "its image is a PNG that breaks off in the middle"));
    memcpy(to, decoder->at, size);
    decoder->at += size;
}

/* How many channels OpenCV gives such a file. */
static size_t native_channels(const struct decoder *decoder)
{
    int type = png_get_color_type(decoder->png, decoder->info);

    if (type & PNG_COLOR_MASK_ALPHA)
        return 4;
    if (!(type & PNG_COLOR_MASK_COLOR))
        return 1;
    return png_get_valid(decoder->png, decoder->info, PNG_INFO_tRNS) ? 4 : 3;
}

/* Asks libpng for 8 bits a channel and the channels wanted, blue first. */
static void ask_for_channels(struct decoder *decoder, size_t channels)
{
    png_structp png = decoder->png;
    bool has_color = png_get_color_type(png, decoder->info) & PNG_COLOR_MASK_COLOR;

    png_set_expand(png); /* palettes, few bits and a transparent color become plain channels */
    png_set_strip_16(png);
    if (channels < 4)
        png_set_strip_alpha(png);
    if (channels == 1 && has_color)
        png_set_rgb_to_gray_fixed(png, PNG_ERROR_ACTION_NONE, 29900, 58700);
    if (channels > 1 && !has_color)
        png_set_gray_to_rgb(png);
    if (channels > 1)
        png_set_bgr(png);
}

static void read_rows(struct decoder *decoder, int passes, struct psd_image *image)
{
    size_t row = image->width * image->channels;

    if (png_get_rowbytes(decoder->png, decoder->info) != row)
        png_error(decoder->png, "its rows have an unexpected length");
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < image->height; y++)
            png_read_row(decoder->png, image->rows + y * row, NULL);
    }
    png_read_end(decoder->png, NULL);
}

static void decode(struct decoder *decoder, enum psd_image_color color, struct psd_image *image)
{
    png_structp png = decoder->png;

    png_set_read_fn(png, decoder, on_read);
    png_set_user_limits(png, PSD_IMAGE_SIDE, PSD_IMAGE_SIDE);
    png_set_chunk_malloc_max(png, CHUNK_MOST);
    png_set_chunk_cache_max(png, CHUNKS_MOST);
    png_read_info(png, decoder->info);
    size_t channels =
        color == PSD_IMAGE_NATIVE ? native_channels(decoder) : (color == PSD_IMAGE_COLOR ? 3 : 1);
    psd_status status = psd_image_resize(image, channels, png_get_image_height(png, decoder->info),
                                         png_get_image_width(png, decoder->info));
    if (status != PSD_OK)
        give_up(decoder, status);
    ask_for_channels(decoder, channels);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, decoder->info);
    read_rows(decoder, passes, image);
}

/* What changes between setjmp and the jump must not live here, so it is the caller's. */
static void try_decode(struct decoder *decoder, enum psd_image_color color, struct psd_image *image)
{
    if (setjmp(png_jmpbuf(decoder->png)) != 0)
        return;
    decoder->info = png_create_info_struct(decoder->png);
    if (!decoder->info)
        give_up(decoder, psd_fail(PSD_ENOMEM, "there is no memory to decode a PNG"));
    decode(decoder, color, image);
}

psd_status psd_image_png(const uint8_t *bytes, size_t size, enum psd_image_color color,
                         struct psd_image *image)
{
    struct decoder decoder = {.at = bytes, .end = bytes + size};

    decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_error, on_warning);
    if (!decoder.png)
        return psd_fail(PSD_ENOMEM, "there is no memory to decode a PNG");
    try_decode(&decoder, color, image);
    png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
    return decoder.status;
}
