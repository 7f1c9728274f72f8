/* npy_test.c - what NumPy writes is read, what we write it could read, and nonsense is refused. */
#include "base/alloc.h"
#include "base/npy.h"
#include "scratch.h"

#include <stdint.h>

/* A file of version `version` with this dictionary and these numbers, as psd_npy_parse takes it. */
static psd_status parse(int version, const char *dictionary, const void *numbers, size_t size,
                        struct psd_npy *out)
{
    static unsigned char bytes[4096];
    size_t length = strlen(dictionary), begin = version == 1 ? 10 : 12;

    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[7] = 0;
    for (size_t i = 0; i < begin - 8; i++)
        bytes[8 + i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + begin, dictionary, length);
    memcpy(bytes + begin + length, numbers, size);

    unsigned char *exact = psd_alloc_copy(bytes, begin + length + size); /* for the sanitizer */
    psd_status status = psd_npy_parse("x.npy", exact, begin + length + size, out);
    psd_alloc_free(exact);
    return status;
}

static void what_is_written_is_read_again(void)
{
    static const float values[] = {1, -2, 0.5f, 1e30f, 0, 7};
    const char *path = scratch("x.npy");
    struct psd_npy npy;

    CHECK_OK(psd_npy_write(path, (size_t[]){2, 1, 3}, 3, values));
    CHECK_OK(psd_npy_read(path, &npy));
    CHECK(npy.axes == 3 && npy.dim[0] == 2 && npy.dim[1] == 1 && npy.dim[2] == 3);
    CHECK(npy.count == 6);
    for (size_t i = 0; i < npy.count; i++)
        CHECK_NEAR(npy.values[i], values[i], 0);
    psd_npy_fini(&npy);
}

static void a_file_has_the_bytes_that_numpy_writes(void)
{
    static const char header[] =
        "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    const char *path = scratch("x.npy");
    char bytes[200];

    CHECK_OK(psd_npy_write(path, (size_t[]){2}, 1, (float[]){1, 2}));
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(bytes, 1, sizeof bytes, file) == 136);
    fclose(file);
    CHECK(memcmp(bytes, header, sizeof header - 1) == 0);
    CHECK(bytes[sizeof header] == ' ' && bytes[127] == '\n');
    CHECK(memcmp(bytes + 128, "\0\0\x80\x3f\0\0\0\x40", 8) == 0);
}

static void every_kind_of_number_becomes_a_float(void)
{
    const struct {
        const char *kind;
        size_t width;
        const void *numbers;
    } cases[] = {
        {"<f4", 4, (float[]){-3, 4}},   {"<f8", 8, (double[]){-3, 4}},
        {"|i1", 1, (int8_t[]){-3, 4}},  {"<i2", 2, (int16_t[]){-3, 4}},
        {"<i4", 4, (int32_t[]){-3, 4}}, {"<i8", 8, (int64_t[]){-3, 4}},
        {"|u1", 1, (uint8_t[]){3, 4}},  {"<u2", 2, (uint16_t[]){3, 4}},
        {"<u4", 4, (uint32_t[]){3, 4}}, {"<u8", 8, (uint64_t[]){3, 4}},
        {"|b1", 1, (uint8_t[]){1, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_bool = cases[i].kind[1] == 'b', is_unsigned = cases[i].kind[1] == 'u';
        char dictionary[100];
        struct psd_npy npy;
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n", cases[i].kind);
        CHECK_OK(parse(1 + (int)i % 3, dictionary, cases[i].numbers, 2 * cases[i].width, &npy));
        CHECK_NEAR(npy.values[0], is_bool ? 1 : is_unsigned ? 3 : -3, 0);
        CHECK_NEAR(npy.values[1], is_bool ? 0 : 4, 0);
        psd_npy_fini(&npy);
    }
}

static void fortran_order_is_turned(void)
{
    struct psd_npy npy;

    CHECK_OK(parse(1, "{\"shape\":(2L,3),\"fortran_order\":True,\"descr\":\"|u1\"}",
                   (uint8_t[]){1, 4, 2, 5, 3, 6}, 6, &npy));
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(npy.values[i], i + 1, 0);
    psd_npy_fini(&npy);
}

static void a_single_number_and_no_number_are_arrays(void)
{
    struct psd_npy npy;

    CHECK_OK(parse(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "\5", 1, &npy));
    CHECK(npy.axes == 0 && npy.count == 1);
    CHECK_NEAR(npy.values[0], 5, 0);
    psd_npy_fini(&npy);
    CHECK_OK(parse(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }", "", 0, &npy));
    CHECK(npy.axes == 2 && npy.count == 0);
    psd_npy_fini(&npy);
}

static void nonsense_is_refused_with_a_reason(void)
{
    static const struct {
        const char *dictionary, *sentence;
    } cases[] = {
        {"[1]", "x.npy: its header is no dictionary"},
        {"{'descr': '<f4'", "x.npy: its header is no dictionary"},
        {"{'descr': '<f4', 'shape': (1,)}",
         "x.npy: its header lacks descr, fortran_order or shape"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "of the type \">f4\""},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "of the type \"|O\""},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
         "its numbers have names"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "its shape makes no sense"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
         "it has 4 bytes of numbers where its shape asks for 2 times 4"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "its shape is too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999,)}",
         "asks for 999999999999999999 times 4"},
        {"{'descr': '<f4', 'weight': 3}", "an unknown key \"weight\""},
    };
    struct psd_npy npy;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(PSD_ECONFIG, parse(1, cases[i].dictionary, "abcd", 4, &npy));
        if (!strstr(psd_error(), cases[i].sentence))
            TEST_FAIL("%s: %s", cases[i].dictionary, psd_error());
    }
    CHECK_STATUS(PSD_ECONFIG, parse(9, "{}", "", 0, &npy));
    CHECK_STATUS(PSD_ECONFIG, psd_npy_parse("x.npy", "hello", 5, &npy));
    CHECK_TEXT("x.npy: it is no file of NumPy's (.npy)", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_npy_parse("x.npy", "\x93NUMPY\1\0\xff\xff{}", 12, &npy));
    CHECK_TEXT("x.npy: it ends within its header", psd_error());
}

int main(int argc, char **argv)
{
    RUN(what_is_written_is_read_again)
    RUN(a_file_has_the_bytes_that_numpy_writes)
    RUN(every_kind_of_number_becomes_a_float)
    RUN(fortran_order_is_turned)
    RUN(a_single_number_and_no_number_are_arrays)
    RUN(nonsense_is_refused_with_a_reason)
}
