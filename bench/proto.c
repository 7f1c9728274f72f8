/* proto.c - how fast are Caffe's files read, and what memory does it take?
 *
 * A model of VGG19's size (575 MB) is made, written, and read back while the file is in the page
 * cache: by us, by protobuf-c's own reader from the mapped file, and, as the bound, by plain read()
 * into new memory. Each reading is a process of its own; private memory is its RssAnon at the end.
 * Below that, GoogLeNet's prototxt. Medians of all runs, with the fastest and the slowest. */
#include "base/clock.h"
#include "base/file.h"
#include "proto/caffe.pb-c.h"
#include "proto/document.h"
#include "proto/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 7, TEXT_RUNS = 51 };

struct result {
    double seconds, private_mb;
};

static void die(const char *what)
{
    fprintf(stderr, "bench/proto: %s: %s\n", what, psd_error());
    _exit(1);
}

static double private_mb(void)
{
    char line[200];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "RssAnon: %lf", &kb) == 1)
            break;
    }
    if (file)
        fclose(file);
    return kb * 1.024 / 1000;
}

/* --- the model ------------------------------------------------------------------------------- */

static void add_blob(struct psd_document *model, ProtobufCMessage *layer, size_t rows, size_t cols)
{
    const ProtobufCMessageDescriptor *type = layer->descriptor;
    ProtobufCMessage *blob = NULL;

    if (psd_field_add_message(model->arena, layer, psd_field_named(type, "blobs"), &blob))
        die("blob");
    float *data = psd_field_extend(model->arena, blob, psd_field_named(blob->descriptor, "data"),
                                   rows * cols);
    if (!data)
        die("data");
    for (size_t i = 0; i < rows * cols; i++)
        data[i] = (float)(i % 1000) * 0.001f;
}

static void make_model(const char *path)
{
    static const size_t shapes[][2] = {
        {64, 27},    {64, 576},     {128, 576},   {128, 1152},  {256, 1152},
        {256, 2304}, {256, 2304},   {256, 2304},  {512, 2304},  {512, 4608},
        {512, 4608}, {512, 4608},   {512, 4608},  {512, 4608},  {512, 4608},
        {512, 4608}, {4096, 25088}, {4096, 4096}, {1000, 4096},
    };
    struct psd_document *model = NULL;

    if (psd_document_create(&caffe__net_parameter__descriptor, path, 1 << 28, &model))
        die("model");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        ProtobufCMessage *layer = NULL;
        if (psd_field_add_message(model->arena, model->root,
                                  psd_field_named(model->root->descriptor, "layer"), &layer))
            die("layer");
        add_blob(model, layer, shapes[i][0], shapes[i][1]);
        add_blob(model, layer, 1, shapes[i][0]);
    }
    if (psd_document_write(model, PSD_DOCUMENT_BINARY, NULL, path))
        die("write");
    psd_document_destroy(model);
}

/* --- three ways of reading it ----------------------------------------------------------------- */

static void read_ours(const char *path)
{
    struct psd_document *document = NULL;

    if (psd_document_read(path, PSD_DOCUMENT_AUTO, NULL, &document))
        die("read");
}

/* From a map, which is the fastest that it can be given; we map no file ourselves (base/file.c). */
static void read_protobuf_c(const char *path)
{
    uint64_t size;
    int fd;

    if (psd_file_descriptor(path, &fd, &size))
        die("open");
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED ||
        !protobuf_c_message_unpack(&caffe__net_parameter__descriptor, NULL, size, map))
        die("unpack");
}

static void read_plain(const char *path)
{
    uint64_t size;
    int fd;

    if (psd_file_descriptor(path, &fd, &size))
        die("open");
    void *data = malloc(size);
    if (!data || psd_file_read(fd, path, data, size))
        die("read");
}

/* Reads in a process that then ends with all its memory. */
static struct result run(void (*read_file)(const char *path), const char *path)
{
    struct result result = {0};
    int ends[2];

    if (pipe(ends))
        die("pipe");
    pid_t child = fork();
    if (child == 0) {
        uint64_t start = psd_clock_now();
        double before = private_mb();
        read_file(path);
        result.seconds = (double)(psd_clock_now() - start) / 1e9;
        result.private_mb = private_mb() - before;
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof result) != sizeof result)
        die("pipe");
    close(ends[0]);
    waitpid(child, NULL, 0);
    return result;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct result *)a)->seconds, y = ((const struct result *)b)->seconds;
    return (x > y) - (x < y);
}

static void row(const char *name, void (*read_file)(const char *path), const char *path, double mb)
{
    struct result results[RUNS];

    for (int i = 0; i < RUNS; i++)
        results[i] = run(read_file, path);
    qsort(results, RUNS, sizeof *results, by_time);
    struct result median = results[RUNS / 2];
    printf("%-28s %6.3f s  (%.3f to %.3f)  %5.2f GB/s  %6.0f MB private = %.2f of the file\n", name,
           median.seconds, results[0].seconds, results[RUNS - 1].seconds, mb / 1e3 / median.seconds,
           median.private_mb, median.private_mb / mb);
}

static void text_row(const char *path)
{
    struct result results[TEXT_RUNS];

    for (int i = 0; i < TEXT_RUNS; i++) {
        struct psd_document *document = NULL;
        uint64_t start = psd_clock_now();
        if (psd_document_read(path, PSD_DOCUMENT_AUTO, NULL, &document))
            die("read");
        results[i].seconds = (double)(psd_clock_now() - start) / 1e9;
        psd_document_destroy(document);
    }
    qsort(results, TEXT_RUNS, sizeof *results, by_time);
    printf("%-28s %6.3f ms (%.3f to %.3f)\n", "GoogLeNet's prototxt, ours",
           results[TEXT_RUNS / 2].seconds * 1e3, results[0].seconds * 1e3,
           results[TEXT_RUNS - 1].seconds * 1e3);
}

int main(void)
{
    char path[] = "/tmp/poseidon-bench-XXXXXX.caffemodel";
    uint64_t size = 0;
    int fd = mkstemps(path, 11);

    if (fd < 0)
        return 1;
    close(fd);
    make_model(path);
    if (psd_file_descriptor(path, &fd, &size))
        die("open");
    close(fd);
    double mb = (double)size / 1e6;
    printf("caffemodel of %.0f MB in the page cache, median of %d\n", mb, RUNS);
    row("ours", read_ours, path, mb);
    row("protobuf-c, mapped file", read_protobuf_c, path, mb);
    row("plain read(), the bound", read_plain, path, mb);
    unlink(path);
    text_row("models/googlenet/train_val.prototxt");
}
