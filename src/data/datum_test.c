/* datum_test.c - samples as protobuf-c writes them, and as nobody should. */
#include "data/datum.h"
#include "proto/caffe.pb-c.h"
#include "test.h"

#define PARSE(text, out) psd_datum_parse(text, sizeof(text) - 1, out)

static void a_datum_is_seen_in_place(void)
{
    uint8_t pixels[] = {1, 2, 3, 4, 5, 6}, bytes[100];
    Caffe__Datum written = CAFFE__DATUM__INIT;
    struct psd_datum datum;

    written.has_channels = written.has_height = written.has_width = 1;
    written.has_data = written.has_label = 1;
    written.channels = 1, written.height = 2, written.width = 3, written.label = -7;
    written.data = (ProtobufCBinaryData){sizeof pixels, pixels};
    size_t size = caffe__datum__pack(&written, bytes);

    CHECK_OK(psd_datum_parse(bytes, size, &datum));
    CHECK(datum.channels == 1 && datum.height == 2 && datum.width == 3 && datum.label == -7);
    CHECK(!datum.encoded && datum.float_count == 0);
    CHECK(datum.data > bytes && datum.data < bytes + size && datum.data_size == sizeof pixels);
    CHECK(memcmp(datum.data, pixels, sizeof pixels) == 0);
    CHECK_OK(psd_datum_check(&datum));
}

static void float_values_come_in_order_packed_or_not(void)
{
    /* 1 with a tag of its own; a label; 2 and 3 packed; 4 with a tag of its own */
    static const char text[] = "\x35\0\0\x80\x3f"
                               "\x28\x09"
                               "\x32\x08\0\0\0\x40\0\0\x40\x40"
                               "\x35\0\0\x80\x40";
    struct psd_datum datum;
    float values[4] = {0};

    CHECK_OK(PARSE(text, &datum));
    CHECK(datum.float_count == 4 && datum.label == 9);
    psd_datum_floats(&datum, values);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(values[i], i + 1, 0);
}

static void unknown_fields_are_skipped_and_the_last_of_two_counts(void)
{
    static const char text[] = "\x28\x01"               /* label: 1 */
                               "\x52\x03xyz"            /* field 10 */
                               "\x59\1\2\3\4\5\6\7\x08" /* field 11, 8 bytes */
                               "\x65\1\2\3\4"           /* field 12, 4 bytes */
                               "\x0d\1\2\3\4"           /* channels, in another shape */
                               "\x38\x01"               /* encoded: true */
                               "\x28\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"; /* label: -2 */
    struct psd_datum datum;

    CHECK_OK(PARSE(text, &datum));
    CHECK(datum.label == -2 && datum.encoded && datum.channels == 0);
    CHECK_OK(psd_datum_parse("", 0, &datum));
    CHECK(datum.label == 0 && datum.data_size == 0);
}

static void damaged_bytes_are_refused(void)
{
    static const struct {
        const char *why, *bytes;
        size_t size;
    } cases[] = {
        {"a tag that does not end", "\x80\x80", 2},
        {"field 0", "\x00\x01", 2},
        {"a number that does not end", "\x08\xff", 2},
        {"a number of eleven bytes", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12},
        {"a length that does not end", "\x22\x80", 2},
        {"bytes that are not there",
         "\x22\x05"
         "abc",
         5},
        {"a length of nearly 2^64", "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
        {"a group", "\x0b\x0c", 2},
        {"half a float", "\x35\0\0", 3},
        {"packed floats of odd length",
         "\x32\x03"
         "abc",
         5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_datum datum = {.label = 42};
        fprintf(stderr, "    %s\n", cases[i].why);
        CHECK_STATUS(PSD_ECONFIG, psd_datum_parse(cases[i].bytes, cases[i].size, &datum));
        CHECK(strncmp(psd_error(), "its Datum ", 10) == 0);
        CHECK(datum.label == 42);
    }
}

static void values_must_fill_the_shape(void)
{
    static const struct {
        const char *why;
        struct psd_datum datum;
    } cases[] = {
        {"no shape", {.data_size = 4}},
        {"a negative axis", {.channels = -1, .height = 2, .width = -2, .data_size = 4}},
        {"too few bytes", {.channels = 1, .height = 2, .width = 3, .data_size = 5}},
        {"too many floats", {.channels = 1, .height = 2, .width = 3, .float_count = 7}},
        {"a shape beyond 2^64",
         {.channels = INT32_MAX, .height = INT32_MAX, .width = INT32_MAX, .data_size = 1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].why);
        CHECK_STATUS(PSD_ECONFIG, psd_datum_check(&cases[i].datum));
    }
}

int main(int argc, char **argv)
{
    RUN(a_datum_is_seen_in_place)
    RUN(float_values_come_in_order_packed_or_not)
    RUN(unknown_fields_are_skipped_and_the_last_of_two_counts)
    RUN(damaged_bytes_are_refused)
    RUN(values_must_fill_the_shape)
}
