/* image_test.c - pictures written by libpng and libjpeg come back, and broken ones do not. */
#include "base/alloc.h"
#include "data/image.h"
#include "scratch.h"

#include <jpeglib.h>
#include <png.h>

enum { HEIGHT = 13, WIDTH = 17, AREA = HEIGHT * WIDTH, ROOM = 1 << 20 };

static uint8_t file[ROOM]; /* the picture under test, as a file */
static size_t file_size;

/* --- writing ---------------------------------------------------------------------------------- */

static void on_write(png_structp png, png_bytep bytes, size_t size)
{
    (void)png;
    CHECK(file_size + size <= ROOM);
    memcpy(file + file_size, bytes, size);
    file_size += size;
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* Writes rows of WIDTH pixels of this type, as libpng stores them. */
static void write_png(int type, int bits, int interlace, const uint8_t *rows, size_t row_size)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[4] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}, {100, 110, 120}};
    png_bytep row[HEIGHT];

    file_size = 0;
    png_set_write_fn(png, NULL, on_write, on_flush);
    png_set_IHDR(png, info, WIDTH, HEIGHT, bits, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    png_write_info(png, info);
    for (size_t y = 0; y < HEIGHT; y++)
        row[y] = (png_bytep)(uintptr_t)rows + y * row_size;
    png_write_image(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static unsigned jpeg_restarts; /* blocks between two of them; 0: there are none */

static void write_jpeg(J_COLOR_SPACE space, int channels, bool progressive, const uint8_t *rows)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long size = 0;

    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = channels;
    jpeg.in_color_space = space;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    for (int i = 0; i < jpeg.num_components; i++)
        jpeg.comp_info[i].h_samp_factor = jpeg.comp_info[i].v_samp_factor = 1;
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg.restart_interval = jpeg_restarts;
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < HEIGHT) {
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)rows + (size_t)jpeg.next_scanline * WIDTH * (size_t)channels;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    CHECK(size <= ROOM);
    memcpy(file, bytes, size);
    file_size = size;
    free(bytes);
}

/* Smooth, so that JPEG keeps it; each channel goes its own way. */
static uint8_t smooth(size_t channel, size_t i)
{
    size_t y = i / WIDTH, x = i % WIDTH;
    return (uint8_t)(channel == 0 ? 20 + 10 * x : channel == 1 ? 200 - 9 * y : 60 + 5 * (x + y));
}

static const uint8_t *smooth_rows(size_t channels)
{
    static uint8_t rows[4 * AREA];

    for (size_t i = 0; i < AREA; i++) {
        for (size_t c = 0; c < channels; c++)
            rows[i * channels + c] = smooth(c, i);
    }
    return rows;
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct psd_image image;

static void decode(enum psd_image_color color, size_t channels)
{
    CHECK_OK(psd_image_decode(file, file_size, color, &image));
    CHECK(image.channels == channels && image.height == HEIGHT && image.width == WIDTH);
}

/* Plane `plane` of the image holds channel `channel` of smooth_rows. */
static void check_plane(size_t plane, size_t channel, double tolerance)
{
    for (size_t i = 0; i < AREA; i++)
        CHECK_NEAR(image.pixels[plane * AREA + i], smooth(channel, i), tolerance);
}

static void check_gray(double tolerance)
{
    for (size_t i = 0; i < AREA; i++)
        CHECK_NEAR(image.pixels[i],
                   0.299 * smooth(0, i) + 0.587 * smooth(1, i) + 0.114 * smooth(2, i), tolerance);
}

static void a_color_png_has_planes_of_blue_green_red(void)
{
    for (int interlace = PNG_INTERLACE_NONE; interlace <= PNG_INTERLACE_ADAM7; interlace++) {
        write_png(PNG_COLOR_TYPE_RGB, 8, interlace, smooth_rows(3), 3ul * WIDTH);
        decode(PSD_IMAGE_NATIVE, 3);
        for (size_t c = 0; c < 3; c++)
            check_plane(c, 2 - c, 0);
        decode(PSD_IMAGE_COLOR, 3);
        check_plane(0, 2, 0);
        decode(PSD_IMAGE_GRAY, 1);
        check_gray(1.5); /* libpng does not round */
    }
    psd_image_fini(&image);
}

static void a_gray_png_has_one_plane_or_three_equal_ones(void)
{
    write_png(PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, smooth_rows(1), WIDTH);
    decode(PSD_IMAGE_NATIVE, 1);
    check_plane(0, 0, 0);
    decode(PSD_IMAGE_GRAY, 1);
    check_plane(0, 0, 0);
    decode(PSD_IMAGE_COLOR, 3);
    for (size_t c = 0; c < 3; c++)
        check_plane(c, 0, 0);
    psd_image_fini(&image);
}

static void transparency_is_a_fourth_plane_or_nothing(void)
{
    write_png(PNG_COLOR_TYPE_RGB_ALPHA, 8, PNG_INTERLACE_NONE, smooth_rows(4), 4ul * WIDTH);
    decode(PSD_IMAGE_NATIVE, 4);
    check_plane(0, 2, 0);
    check_plane(3, 3, 0);
    decode(PSD_IMAGE_COLOR, 3);
    check_plane(2, 0, 0);
    decode(PSD_IMAGE_GRAY, 1);
    write_png(PNG_COLOR_TYPE_GRAY_ALPHA, 8, PNG_INTERLACE_NONE, smooth_rows(2), 2ul * WIDTH);
    decode(PSD_IMAGE_NATIVE, 4);
    check_plane(1, 0, 0);
    check_plane(3, 1, 0);
    psd_image_fini(&image);
}

static void other_pngs_become_bytes(void)
{
    static const uint8_t indices[WIDTH * HEIGHT] = {1, 3};
    static uint8_t wide[2 * AREA], bits[3 * HEIGHT] = {0x80};

    write_png(PNG_COLOR_TYPE_PALETTE, 8, PNG_INTERLACE_NONE, indices, WIDTH);
    decode(PSD_IMAGE_NATIVE, 3);
    CHECK(image.pixels[0] == 60 && image.pixels[AREA] == 50 && image.pixels[2ul * AREA] == 40);
    CHECK(image.pixels[1] == 120);
    for (size_t i = 0; i < AREA; i++)
        wide[2 * i] = smooth(0, i);
    write_png(PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_NONE, wide, 2ul * WIDTH);
    decode(PSD_IMAGE_NATIVE, 1);
    check_plane(0, 0, 0);
    write_png(PNG_COLOR_TYPE_GRAY, 1, PNG_INTERLACE_NONE, bits, 3);
    decode(PSD_IMAGE_NATIVE, 1);
    CHECK(image.pixels[0] == 255 && image.pixels[1] == 0);
    psd_image_fini(&image);
}

static void jpegs_come_back_nearly_as_they_were(void)
{
    for (int progressive = 0; progressive < 2; progressive++) {
        write_jpeg(JCS_RGB, 3, progressive, smooth_rows(3));
        decode(PSD_IMAGE_NATIVE, 3);
        for (size_t c = 0; c < 3; c++)
            check_plane(c, 2 - c, 3);
        decode(PSD_IMAGE_GRAY, 1);
        check_gray(2);
        write_jpeg(JCS_GRAYSCALE, 1, progressive, smooth_rows(1));
        decode(PSD_IMAGE_NATIVE, 1);
        check_plane(0, 0, 2);
        decode(PSD_IMAGE_COLOR, 3);
        check_plane(2, 0, 2);
    }
    psd_image_fini(&image);
}

static void inks_become_light(void)
{
    static uint8_t inks[4 * AREA];

    memset(inks, 255, sizeof inks); /* no ink at all */
    write_jpeg(JCS_CMYK, 4, false, inks);
    decode(PSD_IMAGE_NATIVE, 3);
    CHECK_NEAR(image.pixels[5], 255, 2);
    decode(PSD_IMAGE_GRAY, 1);
    CHECK_NEAR(image.pixels[5], 255, 2);
    for (size_t i = 0; i < AREA; i++)
        inks[4 * i] = 0; /* all the cyan there is: no red is left */
    write_jpeg(JCS_CMYK, 4, false, inks);
    decode(PSD_IMAGE_COLOR, 3);
    CHECK_NEAR(image.pixels[0], 255, 3);
    CHECK_NEAR(image.pixels[2ul * AREA], 0, 3);
    psd_image_fini(&image);
}

/* Every shorter file is a sentence, and never the terminal's. */
static void cut_everywhere(const char *kind)
{
    for (size_t size = 0; size < file_size - 2; size++) {
        uint8_t *part = psd_alloc_copy(file, size); /* so that a sanitizer sees its end */
        psd_status status = psd_image_decode(part, size, PSD_IMAGE_NATIVE, &image);
        if (status == PSD_OK)
            TEST_FAIL("%zu bytes of %zu of a %s pass", size, file_size, kind);
        CHECK_STATUS(PSD_ECONFIG, status);
        CHECK(strncmp(psd_error(), "its image ", 10) == 0);
        psd_alloc_free(part);
    }
}

static void a_picture_that_breaks_off_is_refused(void)
{
    write_png(PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, smooth_rows(3), 3ul * WIDTH);
    cut_everywhere("PNG");
    write_jpeg(JCS_RGB, 3, false, smooth_rows(3));
    cut_everywhere("JPEG");
    write_jpeg(JCS_RGB, 3, true, smooth_rows(3));
    cut_everywhere("progressive JPEG");
    psd_image_fini(&image);
}

/* JPEG has no checksum, but some bits cannot be: 16 ones are no code, and restarts are counted. */
static void a_jpeg_of_impossible_bits_is_refused(void)
{
    static const uint8_t ones[] = {0xff, 0, 0xff, 0, 0xff, 0}; /* 0 behind ff is no data */

    write_jpeg(JCS_RGB, 3, false, smooth_rows(3));
    uint8_t *scan = memmem(file, file_size, "\xff\xda", 2);
    CHECK(scan);
    memcpy(scan + 14, ones, sizeof ones);
    CHECK_STATUS(PSD_ECONFIG, psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image));
    CHECK_TEXT("its image is a damaged JPEG: Corrupt JPEG data: bad Huffman code", psd_error());

    jpeg_restarts = 1;
    write_jpeg(JCS_RGB, 3, false, smooth_rows(3));
    decode(PSD_IMAGE_NATIVE, 3);
    uint8_t *restart = memmem(file, file_size, "\xff\xd1", 2);
    CHECK(restart);
    restart[1] = 0xd2;
    CHECK_STATUS(PSD_ECONFIG, psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image));
    CHECK(strstr(psd_error(), "its image is a damaged JPEG: Corrupt JPEG data: found marker"));
    psd_image_fini(&image);
}

static void any_damaged_byte_is_survived(void)
{
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            write_png(PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7, smooth_rows(3), 3ul * WIDTH);
        else
            write_jpeg(JCS_RGB, 3, kind == 2, smooth_rows(3));
        for (size_t at = 0; at < file_size; at++) {
            file[at] ^= 0xff;
            (void)psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image);
            file[at] ^= 0xff;
        }
    }
    psd_image_fini(&image);
}

static void a_picture_that_claims_to_be_huge_is_refused_unread(void)
{
    write_png(PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_NONE, smooth_rows(1), WIDTH);
    file[16] = 0x7f; /* the first byte of the width */
    CHECK_STATUS(PSD_ECONFIG, psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image));
    write_jpeg(JCS_GRAYSCALE, 1, false, smooth_rows(1));
    uint8_t *frame = memmem(file, file_size, "\xff\xc0", 2);
    CHECK(frame);
    frame[5] = frame[7] = 0xff; /* height and width */
    CHECK_STATUS(PSD_ECONFIG, psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image));
    CHECK(strstr(psd_error(), "pixels large"));
    CHECK(image.room == 0);
}

static void what_is_no_picture_is_refused(void)
{
    CHECK_STATUS(PSD_ECONFIG, psd_image_decode("", 0, PSD_IMAGE_NATIVE, &image));
    CHECK_STATUS(PSD_ECONFIG, psd_image_decode("GIF89a", 6, PSD_IMAGE_NATIVE, &image));
    CHECK_TEXT("its image is neither a JPEG nor a PNG file", psd_error());
}

static void used_again_it_allocates_nothing(void)
{
    write_png(PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, smooth_rows(3), 3ul * WIDTH);
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image));
    psd_alloc_fail_at(1);
    CHECK_STATUS(PSD_ENOMEM, psd_image_decode(file, file_size, PSD_IMAGE_NATIVE, &image));
    psd_alloc_fail_at(-1);
    decode(PSD_IMAGE_NATIVE, 3);
    psd_alloc_fail_at(0);
    decode(PSD_IMAGE_NATIVE, 3);
    CHECK(!psd_alloc_fail_at(-1));
    psd_image_fini(&image);
}

int main(int argc, char **argv)
{
    RUN(a_color_png_has_planes_of_blue_green_red)
    RUN(a_gray_png_has_one_plane_or_three_equal_ones)
    RUN(transparency_is_a_fourth_plane_or_nothing)
    RUN(other_pngs_become_bytes)
    RUN(jpegs_come_back_nearly_as_they_were)
    RUN(inks_become_light)
    RUN(a_picture_that_breaks_off_is_refused)
    RUN(a_jpeg_of_impossible_bits_is_refused)
    RUN(any_damaged_byte_is_survived)
    RUN(a_picture_that_claims_to_be_huge_is_refused_unread)
    RUN(what_is_no_picture_is_refused)
    RUN(used_again_it_allocates_nothing)
}
