/* sample_test.c - one sample, stored in each of the three ways. */
#include "base/alloc.h"
#include "data/sample.h"
#include "test.h"

#include <png.h>

static struct psd_sample_room room;
static struct psd_sample sample;

static void bytes_stay_where_they_are(void)
{
    static const uint8_t pixels[] = {1, 2, 3, 4, 5, 6};
    struct psd_datum datum = {
        .channels = 1, .height = 2, .width = 3, .data = pixels, .data_size = sizeof pixels};

    CHECK_OK(psd_sample_read(&datum, PSD_IMAGE_COLOR, &room, &sample));
    CHECK(sample.bytes == pixels && !sample.floats);
    CHECK(sample.shape.channels == 1 && sample.shape.height == 2 && sample.shape.width == 3);
    datum.data_size = 5;
    CHECK_STATUS(PSD_ECONFIG, psd_sample_read(&datum, PSD_IMAGE_NATIVE, &room, &sample));
}

static void floats_are_gathered_once_there_is_room(void)
{
    static const char text[] = "\x08\x01\x10\x01\x18\x02\x32\x08\0\0\x80\x3f\0\0\0\x40";
    struct psd_datum datum;

    CHECK_OK(psd_datum_parse(text, sizeof text - 1, &datum));
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_sample_read(&datum, PSD_IMAGE_NATIVE, &room, &sample));
    psd_alloc_fail_at(-1);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(psd_sample_read(&datum, PSD_IMAGE_NATIVE, &room, &sample));
        CHECK(!sample.bytes && sample.shape.width == 2);
        CHECK_NEAR(sample.floats[0], 1, 0);
        CHECK_NEAR(sample.floats[1], 2, 0);
        psd_alloc_fail_at(0);
    }
    CHECK(!psd_alloc_fail_at(-1));
    psd_sample_room_fini(&room);
}

static void images_are_decoded_as_asked(void)
{
    static const uint8_t rows[] = {10, 20, 30, 40, 50, 60}; /* two pixels: R G B each */
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 2, .height = 1, .format = PNG_FORMAT_RGB};
    uint8_t file[1000];
    size_t size = sizeof file;

    CHECK(png_image_write_to_memory(&image, file, &size, 0, rows, 0, NULL));
    struct psd_datum datum = {.encoded = true, .data = file, .data_size = size};
    CHECK_OK(psd_sample_read(&datum, PSD_IMAGE_NATIVE, &room, &sample));
    CHECK(sample.shape.channels == 3 && sample.shape.height == 1 && sample.shape.width == 2);
    CHECK(memcmp(sample.bytes, "\x1e\x3c\x14\x32\x0a\x28", 6) == 0);
    CHECK_OK(psd_sample_read(&datum, PSD_IMAGE_GRAY, &room, &sample));
    CHECK(sample.shape.channels == 1);
    datum.data_size = 20;
    CHECK_STATUS(PSD_ECONFIG, psd_sample_read(&datum, PSD_IMAGE_NATIVE, &room, &sample));
    psd_sample_room_fini(&room);
}

int main(int argc, char **argv)
{
    RUN(bytes_stay_where_they_are)
    RUN(floats_are_gathered_once_there_is_room)
    RUN(images_are_decoded_as_asked)
}
