/* image_jpeg.c - JPEG by libjpeg-turbo.
 *
 * libjpeg reports an error by calling a function that must not return; ours jumps back to where
 * the decoding began, with the sentence already made. */
#include "data/image_formats.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h> /* jpeglib.h needs it */
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

/* A progressive file may come in many scans over the whole image, each of which costs time. */
enum { MOST_SCANS = 200 };

struct decoder {
    struct jpeg_decompress_struct jpeg; /* owned */
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    psd_status status; /* set before the jump */
    jmp_buf start;
};

_Noreturn static void give_up(struct decoder *decoder, psd_status status)
{
    decoder->status = status;
    longjmp(decoder->start, 1);
}

_Noreturn static void give_up_damaged(j_common_ptr common)
{
    char reason[JMSG_LENGTH_MAX];

    common->err->format_message(common, reason);
    give_up(common->client_data, psd_fail(PSD_ECONFIG, "its image is a damaged JPEG: %s", reason));
}

_Noreturn static void on_error(j_common_ptr common)
{
    if (common->err->msg_code == JERR_OUT_OF_MEMORY)
        give_up(common->client_data, psd_fail(PSD_ENOMEM, "there is no memory to decode a JPEG"));
    give_up_damaged(common);
}

/* Of the warnings, those that cost pixels count: data is missing, or bits are no picture's. Garbage
 * between parts, say, does no harm. */
static void on_message(j_common_ptr common, int level)
{
    int code = common->err->msg_code;

    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
        give_up(common->client_data,
                psd_fail(PSD_ECONFIG, "its image is a JPEG that breaks off in the middle"));
    if (level < 0 && (code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC))
        give_up_damaged(common);
}

static void on_progress(j_common_ptr common)
{
    struct decoder *decoder = common->client_data;

    if (decoder->jpeg.input_scan_number > MOST_SCANS)
        give_up(decoder,
                psd_fail(PSD_ECONFIG, "its image is a JPEG of more than %d scans", MOST_SCANS));
}

static void ask_for_color(struct jpeg_decompress_struct *jpeg, enum psd_image_color color)
{
    bool ink = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;

    if (ink)
        jpeg->out_color_space = JCS_CMYK; /* mixed below */
    else if (color == PSD_IMAGE_GRAY || (color == PSD_IMAGE_NATIVE && jpeg->num_components == 1))
        jpeg->out_color_space = JCS_GRAYSCALE;
    else
        jpeg->out_color_space = JCS_EXT_BGR;
}

/* Inks become light, in place; the values of such files are inverted, 255 meaning no ink. */
static void mix_inks(struct psd_image *image)
{
    size_t area = image->height * image->width;

    for (size_t i = 0; i < area; i++) {
        const uint8_t *ink = image->rows + 4 * i;
        int black = ink[3];
        uint8_t light[3];
        for (int c = 0; c < 3; c++)
            light[c] = (uint8_t)(black - ((255 - ink[2 - c]) * black >> 8));
        memcpy(image->rows + 3 * i, light, sizeof light);
    }
    image->channels = 3;
}

/* With the weights of Y in YCbCr, in 16 bits of fraction. */
static void make_gray(struct psd_image *image)
{
    size_t area = image->height * image->width;

    for (size_t i = 0; i < area; i++) {
        const uint8_t *pixel = image->rows + 3 * i;
        unsigned sum = 7471u * pixel[0] + 38470u * pixel[1] + 19595u * pixel[2];
        image->rows[i] = (uint8_t)((sum + 32768u) >> 16);
    }
    image->channels = 1;
}

static void decode(struct decoder *decoder, const uint8_t *bytes, size_t size,
                   enum psd_image_color color, struct psd_image *image)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;

    jpeg_mem_src(jpeg, bytes, size);
    jpeg_read_header(jpeg, TRUE);
    ask_for_color(jpeg, color);
    jpeg_calc_output_dimensions(jpeg);
    psd_status status = psd_image_resize(image, (size_t)jpeg->out_color_components,
                                         jpeg->output_height, jpeg->output_width);
    if (status != PSD_OK)
        give_up(decoder, status);
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = image->rows + jpeg->output_scanline * image->width * image->channels;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
}

/* What changes between setjmp and the jump must not live here, so it is the caller's. */
static void try_decode(struct decoder *decoder, const uint8_t *bytes, size_t size,
                       enum psd_image_color color, struct psd_image *image)
{
    if (setjmp(decoder->start) != 0)
        return;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->jpeg.progress = &decoder->progress;
    decode(decoder, bytes, size, color, image);
}

psd_status psd_image_jpeg(const uint8_t *bytes, size_t size, enum psd_image_color color,
                          struct psd_image *image)
{
    struct decoder decoder = {.progress.progress_monitor = on_progress};

    decoder.jpeg.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = on_error;
    decoder.errors.emit_message = on_message;
    decoder.jpeg.client_data = &decoder;
    try_decode(&decoder, bytes, size, color, image);
    jpeg_destroy_decompress(&decoder.jpeg);
    if (decoder.status != PSD_OK)
        return decoder.status;
    if (image->channels == 4)
        mix_inks(image);
    if (image->channels == 3 && color == PSD_IMAGE_GRAY)
        make_gray(image);
    return PSD_OK;
}
