/* data.c - can a feed keep up with the training?
 *
 * A database of 60,000 records in the shape of MNIST is made in $TMPDIR, and read while it is in
 * the page cache. "open" walks the tree; "read" reads every record by its index; "feed" makes
 * batches of 64 on the feed's own thread while this one only takes and gives them back. Encoded
 * samples are JPEG files of 256 x 256, cropped to 227 x 227. Records a second, median of all runs,
 * with the slowest and the fastest; CPU is microseconds of processor time a record. */
#include "base/clock.h"
#include "data/convert_writer.h"
#include "data/feed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jpeglib.h>

enum { RUNS = 5, RAW = 60000, ENCODED = 200, SIDE = 28, IMAGE_SIDE = 256, BATCH = 64 };

static void die(const char *what)
{
    fprintf(stderr, "bench/data: %s: %s\n", what, psd_error());
    _exit(1);
}

static void check(psd_status status, const char *what)
{
    if (status != PSD_OK)
        die(what);
}

static double cpu_seconds(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* --- what is measured ------------------------------------------------------------------------- */

/* One line of the table; `run` does it once and returns how many records that were. */
struct row {
    const char *name, *path;
    const Caffe__TransformationParameter *transform;
    uint64_t (*run)(const struct row *row);
};

static uint64_t run_open(const struct row *row)
{
    struct psd_source *source = NULL;

    check(psd_source_open("lmdb", row->path, &source), row->path);
    uint64_t count = psd_source_count(source);
    psd_source_close(source);
    return count;
}

static struct psd_source *opened; /* for the rows below, so that opening is not measured again */

static uint64_t run_read(const struct row *row)
{
    struct psd_record record = {0};
    uint64_t count = psd_source_count(opened);

    for (uint64_t i = 0; i < count; i++)
        check(psd_source_read(opened, i, &record), row->path);
    psd_record_fini(&record);
    return count;
}

static uint64_t run_feed(const struct row *row)
{
    struct psd_transform *transform = NULL;
    struct psd_feed *feed = NULL;
    struct psd_batch *batch = NULL;
    uint64_t batches = psd_source_count(opened) / BATCH;

    check(psd_transform_create(row->transform, CAFFE__PHASE__TRAIN, NULL, &transform), row->name);
    struct psd_feed_options options = {.source = opened, .transform = transform, .batch = BATCH};
    check(psd_feed_open(&options, &feed), row->name);
    check(psd_feed_start(feed, 0, 0), row->name);
    for (uint64_t i = 0; i < batches; i++) {
        check(psd_feed_take(feed, &batch), row->name);
        psd_feed_give(feed, batch);
    }
    psd_feed_close(feed);
    psd_transform_destroy(transform);
    return batches * BATCH;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct row *row)
{
    double speeds[RUNS], cpu = cpu_seconds();
    uint64_t records = 0;

    check(psd_source_open("lmdb", row->path, &opened), row->path);
    for (int i = 0; i < RUNS; i++) {
        uint64_t start = psd_clock_now();
        uint64_t count = row->run(row);
        speeds[i] = (double)count / ((double)(psd_clock_now() - start) / 1e9);
        records += count;
    }
    psd_source_close(opened);
    cpu = (cpu_seconds() - cpu) / (double)records * 1e6;
    qsort(speeds, RUNS, sizeof *speeds, compare);
    printf("%-32s %11.0f %11.0f %11.0f %9.2f\n", row->name, speeds[RUNS / 2], speeds[0],
           speeds[RUNS - 1], cpu);
}

/* --- the databases ---------------------------------------------------------------------------- */

static void write_raw(const char *path)
{
    struct psd_convert_writer writer;
    uint8_t pixels[SIDE * SIDE];

    check(psd_convert_writer_open(path, (struct psd_sample_shape){1, SIDE, SIDE}, 8, &writer),
          path);
    for (int i = 0; i < RAW; i++) {
        memset(pixels, i, sizeof pixels);
        check(psd_convert_writer_put(&writer, pixels, i % 10), path);
    }
    check(psd_convert_writer_close(&writer, PSD_OK), path);
}

/* A JPEG of soft waves; the caller frees *out. */
static size_t make_jpeg(int phase, unsigned char **out)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    uint8_t row[3 * IMAGE_SIDE];
    JSAMPROW rows[] = {row};
    unsigned long size = 0;

    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, out, &size);
    jpeg.image_width = jpeg.image_height = IMAGE_SIDE;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < IMAGE_SIDE) {
        for (int i = 0; i < 3 * IMAGE_SIDE; i++)
            row[i] = (uint8_t)(i * (i % 3 + 1) / 3 ^ ((int)jpeg.next_scanline + phase));
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return size;
}

static void put_jpeg(struct psd_lmdb_writer *writer, int i, uint8_t *room)
{
    Caffe__Datum datum = CAFFE__DATUM__INIT;
    unsigned char *bytes = NULL;
    char key[16];

    datum.data.len = make_jpeg(i, &bytes);
    datum.data.data = bytes;
    datum.encoded = datum.has_encoded = datum.has_data = 1;
    int length = snprintf(key, sizeof key, "%08d", i);
    check(psd_lmdb_writer_put(writer, key, (size_t)length, room, caffe__datum__pack(&datum, room)),
          key);
    free(bytes);
}

static void write_encoded(const char *path)
{
    struct psd_lmdb_writer *writer = NULL;
    uint8_t *room = malloc(1 << 20);

    check(psd_lmdb_writer_open(path, &writer), path);
    for (int i = 0; room && i < ENCODED; i++)
        put_jpeg(writer, i, room);
    check(psd_lmdb_writer_commit(writer), path);
    free(room);
}

static void clean(const char *path)
{
    char file[PATH_MAX + 16];

    snprintf(file, sizeof file, "%s/data.mdb", path);
    unlink(file);
    rmdir(path);
}

int main(void)
{
    const char *place = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread yet */
    char folder[PATH_MAX - 32], raw[PATH_MAX], encoded[PATH_MAX];
    Caffe__TransformationParameter scale = CAFFE__TRANSFORMATION_PARAMETER__INIT;

    scale.scale = 0.00390625f;
    Caffe__TransformationParameter crop = scale, image = scale;
    crop.crop_size = 24;
    crop.mirror = image.mirror = 1;
    image.crop_size = 227;

    snprintf(folder, sizeof folder, "%s/psd-bench.XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder))
        die(folder);
    snprintf(raw, sizeof raw, "%s/raw", folder);
    snprintf(encoded, sizeof encoded, "%s/encoded", folder);
    write_raw(raw);
    write_encoded(encoded);

    printf("%-32s %11s %11s %11s %9s\n", "records a second", "median", "slowest", "fastest", "CPU");
    measure(&(struct row){"open", raw, NULL, run_open});
    measure(&(struct row){"read", raw, NULL, run_read});
    measure(&(struct row){"feed, scale", raw, &scale, run_feed});
    measure(&(struct row){"feed, crop, mirror and scale", raw, &crop, run_feed});
    measure(&(struct row){"feed, JPEG, crop and mirror", encoded, &image, run_feed});
    clean(raw);
    clean(encoded);
    rmdir(folder);
}
