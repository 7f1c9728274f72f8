/* hdf5_test.c - files made by h5py (tests/fixtures/hdf5/make.py), whole and damaged. */
#include "base/alloc.h"
#include "data/hdf5.h"
#include "test.h"

#include <sys/mman.h>
#include <unistd.h>

#define FOLDER "tests/fixtures/hdf5/"

enum { ROOM = 2000 };

static struct psd_hdf5 *open_file(const char *name)
{
    struct psd_hdf5 *file = NULL;
    char path[200];

    snprintf(path, sizeof path, FOLDER "%s.h5", name);
    CHECK_OK(psd_hdf5_open(path, &file));
    return file;
}

static struct psd_hdf5_dataset *open_in(const struct psd_hdf5 *file, const char *name)
{
    struct psd_hdf5_dataset *dataset = NULL;

    CHECK_OK(psd_hdf5_dataset_open(file, name, &dataset));
    return dataset;
}

/* Value i is first + i * step, whichever rows are asked for. */
static void expect_values(struct psd_hdf5_dataset *dataset, double first, double step)
{
    uint64_t rows = psd_hdf5_dataset_rows(dataset), row = psd_hdf5_dataset_row(dataset);
    float values[ROOM];

    CHECK(rows * row <= ROOM);
    for (uint64_t from = 0; from < rows; from += rows / 10 + 1) {
        for (uint64_t count = 0; count <= rows - from; count += rows / 10 + 1) {
            CHECK_OK(psd_hdf5_dataset_read(dataset, from, count, values));
            for (uint64_t i = 0; i < count * row; i++)
                CHECK_NEAR(values[i], first + (double)(from * row + i) * step, 0);
        }
    }
}

static void any_rows_of_any_layout_are_read(void)
{
    static const struct {
        const char *file, *dataset;
        size_t axes;
        uint64_t rows, row;
        double first, step;
    } cases[] = {
        {"plain", "data", 3, 7, 6, -3, .5},
        {"plain", "label", 1, 7, 1, -3, .5},
        {"plain", "/deep//er/down", 1, 2, 1, -3, .5},
        {"plain", "below", 0, 1, 1, -7, 0},
        {"plain", "late", 2, 3, 2, 0, 0},
        {"plain", "empty", 2, 0, 0, 0, 0},
        {"plain", "compact", 2, 2, 3, -3, .5},
        {"plain", "eight", 8, 2, 24, -3, .5},
        {"chunked", "plain", 3, 10, 15, -3, .5},
        {"chunked", "gzip", 3, 10, 15, -3, .5},
        {"chunked", "shuffle", 3, 10, 15, -3, .5},
        {"chunked", "all", 3, 10, 15, -3, .5},
        {"chunked", "sum", 3, 10, 15, -3, .5},
        {"chunked", "grows", 3, 10, 15, -3, .5},
        {"chunked", "big", 3, 10, 15, -3, .5},
        {"chunked", "shrunk", 3, 3, 15, -3, .5},
        {"latest", "data", 3, 7, 6, -3, .5},
        {"latest", "in/side", 1, 2, 1, -3, .5},
        {"latest", "single", 2, 4, 3, -3, .5},
        {"latest", "single_gzip", 2, 4, 3, -3, .5},
        {"latest", "fixed", 3, 10, 15, -3, .5},
        {"latest", "fixed_gzip", 3, 10, 15, -3, .5},
        {"latest_paged", "paged", 1, 1500, 1, -3, 1},
        {"latest_paged", "implicit", 2, 5, 4, -3, .5},
        {"userblock", "data", 2, 4, 2, -3, .5},
        {"ordered", "a", 1, 3, 1, -3, .5},
        {"many", "name139", 1, 1, 1, 139, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_hdf5 *file = open_file(cases[i].file);
        struct psd_hdf5_dataset *dataset = open_in(file, cases[i].dataset);
        fprintf(stderr, "    %s %s\n", cases[i].file, cases[i].dataset);
        CHECK(psd_hdf5_dataset_space(dataset)->axes == cases[i].axes);
        CHECK(psd_hdf5_dataset_rows(dataset) == cases[i].rows);
        CHECK(psd_hdf5_dataset_row(dataset) == cases[i].row);
        expect_values(dataset, cases[i].first, cases[i].step);
        psd_hdf5_dataset_close(dataset);
        psd_hdf5_close(file);
    }
}

static void numbers_of_every_type_become_floats(void)
{
    struct psd_hdf5 *file = open_file("types");
    struct psd_hdf5_names names;

    CHECK_OK(psd_hdf5_names(file, "", &names));
    CHECK(names.count == 22);
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.all[i].text, *kind = strchr(name, '_') + 1;
        struct psd_hdf5_dataset *dataset = open_in(file, name);
        fprintf(stderr, "    %s\n", name);
        expect_values(dataset, *kind == 'u' ? 0 : -3, *kind == 'f' ? .5 : 1);
        psd_hdf5_dataset_close(dataset);
    }
    psd_hdf5_names_fini(&names);
    psd_hdf5_close(file);
}

static void what_was_never_written_has_the_fill_value(void)
{
    struct psd_hdf5 *file = open_file("chunked");
    struct psd_hdf5_dataset *dataset = open_in(file, "sparse");
    float values[18];

    CHECK_OK(psd_hdf5_dataset_read(dataset, 0, 9, values));
    for (size_t i = 0; i < 18; i++)
        CHECK_NEAR(values[i], i / 2 == 4 || i / 2 == 5 ? 1 : 7, 0);
    psd_hdf5_dataset_close(dataset);
    psd_hdf5_close(file);
}

static void single_values_are_exact(void)
{
    struct psd_hdf5 *file = open_file("plain");
    struct psd_hdf5_dataset *iter = open_in(file, "iter"), *below = open_in(file, "below");
    struct psd_hdf5_dataset *text = open_in(file, "text"), *label = open_in(file, "label");
    int64_t integer = 0;
    char *string = NULL;
    float value;

    CHECK_OK(psd_hdf5_dataset_integer(iter, &integer));
    CHECK(integer == 12345678901);
    CHECK_OK(psd_hdf5_dataset_integer(below, &integer));
    CHECK(integer == -7);
    CHECK_OK(psd_hdf5_dataset_text(text, &string));
    CHECK_TEXT("hello", string);
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_dataset_integer(text, &integer));
    CHECK_TEXT(FOLDER "plain.h5: \"text\" is not one integer", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_dataset_integer(label, &integer));
    CHECK_STATUS(PSD_ENOSUP, psd_hdf5_dataset_read(text, 0, 1, &value));
    CHECK_STATUS(PSD_EINVAL, psd_hdf5_dataset_read(label, 7, 1, &value));
    psd_alloc_free(string);
    psd_hdf5_dataset_close(iter);
    psd_hdf5_dataset_close(below);
    psd_hdf5_dataset_close(text);
    psd_hdf5_dataset_close(label);
    psd_hdf5_close(file);
}

static void groups_tell_their_names(void)
{
    struct psd_hdf5 *file = open_file("many");
    struct psd_hdf5_names names;
    bool has = false;

    CHECK_OK(psd_hdf5_names(file, "/", &names));
    CHECK(names.count == 140 && !names.all[139].is_group);
    CHECK_TEXT("name139", names.all[139].text);
    psd_hdf5_names_fini(&names);
    psd_hdf5_close(file);
    file = open_file("plain");
    CHECK_OK(psd_hdf5_names(file, "deep", &names));
    CHECK(names.count == 1 && names.all[0].is_group);
    psd_hdf5_names_fini(&names);
    CHECK_OK(psd_hdf5_has(file, "deep/er", &has));
    CHECK(has);
    CHECK_OK(psd_hdf5_has(file, "data/er", &has));
    CHECK(!has);
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_names(file, "nobody", &names));
    CHECK_TEXT(FOLDER "plain.h5: there is no \"nobody\" in it", psd_error());
    psd_hdf5_close(file);
}

static void what_is_not_read_is_named(void)
{
    static const struct {
        const char *file, *dataset, *sentence; /* a part of it */
    } cases[] = {
        {"refused", "bool", "byte 856: values are of another type than floats"},
        {"refused", "long", "values are of another type than floats"},
        {"refused", "complex", "values are of another type than floats"},
        {"refused", "varying", "values are of another type than floats"},
        {"refused", "outside", "values in other files are not read"},
        {"refused", "null", "a dataset without values is not read"},
        {"refused", "named", "a type that has a name is not read"},
        {"plain", "soft", "soft is a link to another name, which is not followed"},
        {"chunked", "lzf", "filter 32000 (lzf) is not undone here"},
        {"latest_refused", "one_grows", "chunks of a dataset that may grow"},
        {"latest_refused", "two_grow", "chunks of a dataset that may grow"},
        {"latest_refused", "dense/0", "a group of many names in HDF5's newest form"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_hdf5 *file = open_file(cases[i].file);
        struct psd_hdf5_dataset *dataset = NULL;
        fprintf(stderr, "    %s\n", cases[i].dataset);
        CHECK_STATUS(PSD_ENOSUP, psd_hdf5_dataset_open(file, cases[i].dataset, &dataset));
        CHECK(strstr(psd_error(), cases[i].sentence) && strstr(psd_error(), cases[i].file));
        psd_hdf5_close(file);
    }
}

static void what_is_no_file_of_hdf5_is_refused(void)
{
    struct psd_hdf5 *file = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_open(FOLDER "make.py", &file));
    CHECK_TEXT(FOLDER "make.py is no HDF5 file", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_open(FOLDER "none.h5", &file));
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_open(FOLDER, &file));
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_open("/dev/null", &file));
    CHECK(psd_hdf5_is(FOLDER "plain.h5") && !psd_hdf5_is(FOLDER "make.py"));
}

/* --- damage ------------------------------------------------------------------------------------- */

/* All that can be read of a file, as a sum over bits; what is refused has a sentence. */
static void read_group(const struct psd_hdf5 *file, const char *path, int depth)
{
    struct psd_hdf5_names names = {0};
    float values[ROOM];

    if (psd_hdf5_names(file, path, &names) != PSD_OK)
        CHECK(*psd_error());
    for (size_t i = 0; i < names.count; i++) {
        struct psd_hdf5_dataset *dataset = NULL;
        char below[300];
        snprintf(below, sizeof below, "%s/%.100s", path, names.all[i].text);
        if (names.all[i].is_group && depth < 3)
            read_group(file, below, depth + 1);
        else if (psd_hdf5_dataset_open(file, below, &dataset) != PSD_OK)
            CHECK(*psd_error());
        else if (psd_hdf5_dataset_space(dataset)->count <= ROOM &&
                 psd_hdf5_dataset_read(dataset, 0, psd_hdf5_dataset_rows(dataset), values) !=
                     PSD_OK)
            CHECK(*psd_error());
        psd_hdf5_dataset_close(dataset);
    }
    psd_hdf5_names_fini(&names);
}

static void read_bytes(int fd, const unsigned char *bytes, size_t size)
{
    struct psd_hdf5 *file = NULL;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(ftruncate(fd, (off_t)size) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
    if (psd_hdf5_open(path, &file) != PSD_OK)
        CHECK(*psd_error());
    else
        read_group(file, "", 0);
    psd_hdf5_close(file);
}

static size_t load(const char *name, unsigned char *bytes, size_t room)
{
    char path[200];

    snprintf(path, sizeof path, FOLDER "%s.h5", name);
    FILE *in = fopen(path, "rb");
    CHECK(in);
    size_t size = fread(bytes, 1, room, in);
    CHECK(size < room && fclose(in) == 0);
    return size;
}

static void damage_is_a_sentence_wherever_it_is(void)
{
    static const char *const files[] = {"plain", "latest", "userblock", "ordered"};
    static unsigned char bytes[64 << 10];
    int fd = memfd_create("damaged.h5", MFD_CLOEXEC);

    CHECK(fd >= 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size = load(files[i], bytes, sizeof bytes);
        fprintf(stderr, "    %s\n", files[i]);
        for (size_t at = 0; at < size; at += 3) {
            unsigned char was = bytes[at];
            bytes[at] = (unsigned char)(at % 2 ? was ^ 0xff : was + 1);
            read_bytes(fd, bytes, size);
            bytes[at] = was;
        }
        for (size_t cut = 0; cut < size; cut += 97)
            read_bytes(fd, bytes, cut);
    }
    close(fd);
}

static void a_copy_that_broke_off_is_told(void)
{
    static unsigned char bytes[64 << 10];
    struct psd_hdf5 *file = NULL;
    size_t size = load("plain", bytes, sizeof bytes);
    char sentence[500];
    const char *path = test_path("cut.h5");

    FILE *out = fopen(path, "wb");
    CHECK(out && fwrite(bytes, 1, size - 100, out) == size - 100 && fclose(out) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_open(path, &file));
    snprintf(sentence, sizeof sentence,
             "%s has %zu bytes and should have %zu; perhaps a copy that broke off", path,
             size - 100, size);
    CHECK_TEXT(sentence, psd_error());
}

/* Bytes that say how large something is, with so much that no memory could hold it. */
static void shapes_that_no_file_could_hold_are_refused(void)
{
    static unsigned char bytes[64 << 10];
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *dataset = NULL;
    size_t size = load("userblock", bytes, sizeof bytes), found = 0;
    const char *path = test_path("huge.h5");

    for (size_t at = 0; at + 16 < size; at++) { /* the shape: 4, 2 */
        if (bytes[at] == 4 && bytes[at + 8] == 2 && bytes[at - 8] == 1 && bytes[at - 7] == 2) {
            bytes[at + 4] = 1;
            found++;
        }
    }
    CHECK(found == 1);
    FILE *out = fopen(path, "wb");
    CHECK(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
    CHECK_OK(psd_hdf5_open(path, &file));
    CHECK_STATUS(PSD_ECONFIG, psd_hdf5_dataset_open(file, "data", &dataset));
    CHECK(strstr(psd_error(), "a shape is too large for any file") ||
          strstr(psd_error(), "a dataset is larger than the file could hold"));
    psd_hdf5_close(file);
}

/* --- memory ------------------------------------------------------------------------------------- */

static psd_status read_one(const char *path, const char *name)
{
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *dataset = NULL;
    struct psd_hdf5_names names = {0};
    float values[ROOM];

    PSD_TRY(psd_hdf5_open(path, &file));
    psd_status status = psd_hdf5_names(file, "", &names);
    psd_hdf5_names_fini(&names);
    if (status == PSD_OK)
        status = psd_hdf5_dataset_open(file, name, &dataset);
    if (status == PSD_OK)
        status = psd_hdf5_dataset_read(dataset, 0, psd_hdf5_dataset_rows(dataset), values);
    psd_hdf5_dataset_close(dataset);
    psd_hdf5_close(file);
    return status;
}

static void reading_survives_every_failed_allocation(void)
{
    static const char *const cases[][2] = {{FOLDER "chunked.h5", "all"},
                                           {FOLDER "latest_paged.h5", "paged"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool failed = true;
        for (long n = 0; failed; n++) {
            psd_alloc_fail_at(n);
            psd_status status = read_one(cases[i][0], cases[i][1]);
            failed = psd_alloc_fail_at(-1);
            CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(any_rows_of_any_layout_are_read)
    RUN(numbers_of_every_type_become_floats)
    RUN(what_was_never_written_has_the_fill_value)
    RUN(single_values_are_exact)
    RUN(groups_tell_their_names)
    RUN(what_is_not_read_is_named)
    RUN(what_is_no_file_of_hdf5_is_refused)
    RUN(damage_is_a_sentence_wherever_it_is)
    RUN(a_copy_that_broke_off_is_told)
    RUN(shapes_that_no_file_could_hold_are_refused)
    RUN(reading_survives_every_failed_allocation)
}
