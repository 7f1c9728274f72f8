/* feed_test.c - which record goes where, ahead of time, and what happens to bad ones. */
#include "base/alloc.h"
#include "data/feed.h"
#include "samples.h"

#include <sys/stat.h>

/* A feed and what it borrows. */
struct bench {
    struct psd_source *source;
    struct psd_transform *transform;
    struct psd_log log;
    struct psd_feed_options options;
    struct psd_feed *feed;
};

static bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static char logged[10000];
static unsigned lines;

static void keep_line(void *context, const char *line, size_t length)
{
    (void)context;
    strncat(logged, line, length);
    lines++;
}

static struct bench prepare(const char *path, const Caffe__TransformationParameter *param)
{
    struct bench bench = {0};

    CHECK_OK(psd_source_open("lmdb", path, &bench.source));
    CHECK_OK(psd_transform_create(param, CAFFE__PHASE__TRAIN, NULL, &bench.transform));
    bench.options = (struct psd_feed_options){
        .source = bench.source, .transform = bench.transform, .batch = 4, .seed = 7, .layer = 3};
    return bench;
}

static void open_bench(struct bench *bench)
{
    psd_log_init(&bench->log, PSD_LOG_INFO, PSD_LOG_NO_RANK, keep_line, NULL);
    bench->options.log = &bench->log;
    CHECK_OK(psd_feed_open(&bench->options, &bench->feed));
}

static void clear(struct bench *bench)
{
    psd_feed_close(bench->feed);
    psd_transform_destroy(bench->transform);
    psd_source_close(bench->source);
}

/* Takes a batch and sees that its samples are these records. */
static void expect(struct psd_feed *feed, size_t count, const int *records)
{
    struct psd_batch *batch = NULL;

    CHECK_OK(psd_feed_take(feed, &batch));
    for (size_t k = 0; k < count; k++) {
        CHECK_NEAR(batch->label[k], records[k], 0);
        for (size_t i = 0; i < SAMPLE_SIZE; i++)
            CHECK_NEAR(batch->data[k * SAMPLE_SIZE + i], records[k], 0);
    }
    psd_feed_give(feed, batch);
}

static void records_come_in_the_order_of_their_keys_over_and_over(void)
{
    struct bench bench = prepare(samples_write("db", 10, NULL), NULL);

    open_bench(&bench);
    struct psd_sample_shape shape = psd_feed_shape(bench.feed);
    CHECK(shape.channels == 1 && shape.height == 2 && shape.width == 3);
    CHECK_OK(psd_feed_start(bench.feed, 0, 0));
    for (int t = 0; t < 50; t++)
        expect(bench.feed, 4,
               (int[]){4 * t % 10, (4 * t + 1) % 10, (4 * t + 2) % 10, (4 * t + 3) % 10});
    clear(&bench);
}

static void workers_share_out_each_global_batch(void)
{
    struct bench bench = prepare(samples_write("db", 100, NULL), NULL);

    bench.options.global_batch = 7;
    for (int worker = 0; worker < 3; worker++) { /* of 2, 3 and 2 samples */
        size_t offset = (size_t[]){0, 2, 5}[worker];
        bench.options.offsets = &offset;
        bench.options.batch = worker == 1 ? 3 : 2;
        open_bench(&bench);
        CHECK_OK(psd_feed_start(bench.feed, 0, 0));
        for (int t = 0; t < 30; t++) {
            int first = 7 * t + (int)offset;
            expect(bench.feed, bench.options.batch,
                   (int[]){first % 100, (first + 1) % 100, (first + 2) % 100});
        }
        psd_feed_close(bench.feed);
    }
    bench.feed = NULL;
    clear(&bench);
}

/* Workers 0, 1 and 3 of five with two samples each. */
static void several_workers_are_served_in_turn(void)
{
    static const size_t offsets[] = {0, 2, 6};
    struct bench bench = prepare(samples_write("db", 100, NULL), NULL);
    struct psd_batch *batch = NULL;

    bench.options.batch = 2;
    bench.options.global_batch = 10;
    bench.options.turns = 3;
    bench.options.offsets = offsets;
    open_bench(&bench);
    for (size_t from = 0; from < 3; from++) { /* a round may be entered anywhere */
        CHECK_OK(psd_feed_start(bench.feed, 4, from));
        for (size_t n = from; n < 40; n++) {
            size_t t = 4 + n / 3, first = 10 * t + offsets[n % 3];
            CHECK_OK(psd_feed_take(bench.feed, &batch));
            CHECK(batch->iteration == t && batch->turn == n % 3);
            CHECK_NEAR(batch->label[0], first % 100, 0);
            CHECK_NEAR(batch->label[1], (first + 1) % 100, 0);
            psd_feed_give(bench.feed, batch);
        }
    }
    clear(&bench);
}

static void crop_and_mirror(Caffe__TransformationParameter *param)
{
    *param = (Caffe__TransformationParameter)CAFFE__TRANSFORMATION_PARAMETER__INIT;
    param->crop_size = 2;
    param->mirror = 1;
}

/* Pixels that differ, so that crops and mirrors do. */
static void draw_pattern(unsigned i, Caffe__Datum *datum)
{
    for (size_t k = 0; k < SAMPLE_SIZE; k++)
        datum->data.data[k] = (uint8_t)(10 * k + i);
}

/* Workers 1 and 2 of three with two samples each; the second's source is shorter. */
static void each_worker_may_have_a_source(void)
{
    struct bench bench = prepare(samples_write("db_1", 9, NULL), NULL);
    struct psd_source *second = NULL;

    CHECK_OK(psd_source_open("lmdb", samples_write("db_2", 5, NULL), &second));
    bench.options.source = NULL;
    bench.options.sources = (const struct psd_source *[]){bench.source, second};
    bench.options.batch = 2;
    bench.options.global_batch = 6;
    bench.options.turns = 2;
    bench.options.offsets = (size_t[]){2, 4};
    open_bench(&bench);
    for (int from = 0; from < 7; from += 3) {
        CHECK_OK(psd_feed_start(bench.feed, (uint64_t)from, 0));
        for (int t = from; t < 30; t++) {
            expect(bench.feed, 2, (int[]){2 * t % 9, (2 * t + 1) % 9});
            expect(bench.feed, 2, (int[]){2 * t % 5, (2 * t + 1) % 5});
        }
    }
    clear(&bench);
    psd_source_close(second);
}

static void test_batches_are_dealt_out_by_strides(void)
{
    struct bench bench = prepare(samples_write("db", 100, NULL), NULL);

    bench.options.stride = 3;
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 2, 0));
    expect(bench.feed, 4, (int[]){8, 9, 10, 11});
    expect(bench.feed, 4, (int[]){20, 21, 22, 23});
    psd_feed_close(bench.feed);

    bench.options.turns = 2; /* rounds of eight, of which every third is ours */
    bench.options.global_batch = 8;
    bench.options.offsets = (size_t[]){0, 4};
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 2, 1));
    expect(bench.feed, 4, (int[]){20, 21, 22, 23});
    expect(bench.feed, 4, (int[]){40, 41, 42, 43});
    expect(bench.feed, 4, (int[]){44, 45, 46, 47});
    clear(&bench);
}

static void it_starts_at_any_iteration_with_the_same_bits(void)
{
    Caffe__TransformationParameter param;
    float kept[20][16];
    struct psd_batch *batch = NULL;

    crop_and_mirror(&param);
    struct bench bench = prepare(samples_write("db", 10, draw_pattern), &param);
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 0, 0));
    for (int t = 0; t < 20; t++) {
        CHECK_OK(psd_feed_take(bench.feed, &batch));
        memcpy(kept[t], batch->data, sizeof kept[t]);
        psd_feed_give(bench.feed, batch);
    }
    CHECK(!same_bits(kept[0], kept[5], sizeof kept[0])); /* the same records, cut otherwise */
    for (unsigned start = 0; start < 20; start += 7) {
        CHECK_OK(psd_feed_start(bench.feed, start, 0));
        for (unsigned t = start; t < 20; t++) {
            CHECK_OK(psd_feed_take(bench.feed, &batch));
            CHECK(batch->iteration == t && same_bits(kept[t], batch->data, sizeof kept[t]));
            psd_feed_give(bench.feed, batch);
        }
    }
    clear(&bench);
}

static void samples_of_a_worker_are_cut_as_one_big_batch_would_be(void)
{
    Caffe__TransformationParameter param;
    struct psd_batch *batch = NULL;
    float whole[32];

    crop_and_mirror(&param);
    struct bench bench = prepare(samples_write("db", 30, draw_pattern), &param);
    bench.options.batch = 8;
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 5, 0));
    CHECK_OK(psd_feed_take(bench.feed, &batch));
    memcpy(whole, batch->data, sizeof whole);
    psd_feed_close(bench.feed);

    bench.options.batch = 3;
    bench.options.global_batch = 8;
    bench.options.turns = 2;
    bench.options.offsets = (size_t[]){1, 5};
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 5, 0));
    for (size_t turn = 0; turn < 2; turn++) {
        CHECK_OK(psd_feed_take(bench.feed, &batch));
        CHECK(same_bits(batch->data, whole + (turn ? 20 : 4), 12 * sizeof *whole));
        psd_feed_give(bench.feed, batch);
    }
    clear(&bench);
}

static void rand_skip_is_a_function_of_the_seed(void)
{
    struct bench bench = prepare(samples_write("db", 100, NULL), NULL);
    struct psd_batch *batch = NULL;
    float firsts[30];
    int others = 0;

    bench.options.rand_skip = 50;
    for (int i = 0; i < 30; i++) {
        bench.options.seed = (uint64_t)i / 2;
        open_bench(&bench);
        CHECK_OK(psd_feed_start(bench.feed, 0, 0));
        CHECK_OK(psd_feed_take(bench.feed, &batch));
        firsts[i] = batch->label[0];
        CHECK(firsts[i] < 50);
        psd_feed_close(bench.feed);
        if (i % 2)
            CHECK_NEAR(firsts[i], firsts[i - 1], 0);
        else if (i > 0)
            others += firsts[i] != firsts[i - 1];
    }
    CHECK(others > 10);
    bench.feed = NULL;
    clear(&bench);
}

static void spoil_some(unsigned i, Caffe__Datum *datum)
{
    if (i == 0)
        datum->encoded = 1; /* no image */
    if (i == 3)
        datum->width = 2; /* fewer values than bytes */
    if (i == 4)
        datum->width = 2, datum->height = 3; /* whole, but of another shape */
    if (i == 9)
        datum->data.len = 0;
}

static void a_bad_record_is_replaced_by_the_next_good_one(void)
{
    struct bench bench = prepare(samples_write("db", 10, spoil_some), NULL);
    struct psd_batch *batch = NULL;

    bench.options.max_bad = (struct psd_bad_limit){PSD_BAD_COUNT, 4, 0};
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 0, 0));
    for (int epochs = 0; epochs < 3; epochs++) {
        expect(bench.feed, 4, (int[]){1, 1, 2, 5});
        expect(bench.feed, 4, (int[]){5, 5, 6, 7});
        expect(bench.feed, 4, (int[]){8, 1, 1, 1});
        expect(bench.feed, 4, (int[]){2, 5, 5, 5});
        expect(bench.feed, 4, (int[]){6, 7, 8, 1});
    }
    CHECK_OK(psd_feed_take(bench.feed, &batch));
    CHECK(batch->bad == 4);
    psd_feed_stop(bench.feed);
    CHECK(lines == 4); /* each is told of once */
    CHECK(strstr(logged, "record 0, key \"00000000\" is left out: its image is neither"));
    CHECK(strstr(logged, "record 3, key \"00000003\" is left out: its Datum has 6 values for"));
    CHECK(strstr(logged, "record 4, key \"00000004\" is left out: its shape is 1 x 3 x 2, not"));
    CHECK(strstr(logged, "record 9, key \"00000009\" is left out: its Datum has 0 values"));
    clear(&bench);
}

static void one_bad_record_too_many_is_an_error_for_the_taker(void)
{
    struct bench bench = prepare(samples_write("db", 10, spoil_some), NULL);
    struct psd_batch *batch = NULL;

    bench.options.max_bad = (struct psd_bad_limit){PSD_BAD_SHARE, 0, 0.35};
    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 0, 0));
    expect(bench.feed, 4, (int[]){1, 1, 2, 5});
    expect(bench.feed, 4, (int[]){5, 5, 6, 7});
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(PSD_ECONFIG, psd_feed_take(bench.feed, &batch));
        CHECK(strstr(psd_error(),
                     "4 of its 10 records cannot be used, and at most 3 may be so; "
                     "the latest is record 9, key \"00000009\": its Datum has 0 values"));
    }
    psd_feed_stop(bench.feed);
    clear(&bench);
}

static void spoil_all(unsigned i, Caffe__Datum *datum)
{
    (void)i;
    datum->width = 4;
}

static void without_a_good_record_there_is_no_feed(void)
{
    struct bench bench = prepare(samples_write("db", 10, spoil_all), NULL);

    CHECK_STATUS(PSD_ECONFIG, psd_feed_open(&bench.options, &bench.feed));
    bench.options.max_bad = (struct psd_bad_limit){PSD_BAD_SHARE, 0, 1};
    CHECK_STATUS(PSD_ECONFIG, psd_feed_open(&bench.options, &bench.feed));
    CHECK(strstr(psd_error(), "none of its 10 records can be used"));
    bench.options.batch = 0;
    CHECK_STATUS(PSD_ECONFIG, psd_feed_open(&bench.options, &bench.feed));
    clear(&bench);
    bench = prepare(samples_write("empty", 0, NULL), NULL);
    CHECK_STATUS(PSD_ECONFIG, psd_feed_open(&bench.options, &bench.feed));
    CHECK(strstr(psd_error(), "empty has no records"));
    clear(&bench);
}

static void expect_misfit(const Caffe__TransformationParameter *param, const char *says)
{
    struct bench bench = prepare(samples_write("db", 10, spoil_some), param);

    psd_log_init(&bench.log, PSD_LOG_INFO, PSD_LOG_NO_RANK, keep_line, NULL);
    bench.options.log = &bench.log;
    bench.options.max_bad = (struct psd_bad_limit){PSD_BAD_SHARE, 0, 1};
    lines = 0;
    CHECK_STATUS(PSD_ECONFIG, psd_feed_open(&bench.options, &bench.feed));
    if (!strstr(psd_error(), says))
        TEST_FAIL("%s", psd_error());
    CHECK(lines == 1); /* only record 0 is bad */
    clear(&bench);
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -r %s", scratch("db"));
    CHECK(system(command) == 0); /* NOLINT(concurrency-mt-unsafe,cert-env33-c) */
}

/* Nothing is wrong with the records then: they are not left out one by one. */
static void a_transform_that_fits_no_record_is_one_sentence(void)
{
    Caffe__TransformationParameter param = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    float means[] = {1, 2};

    param.crop_size = 4;
    expect_misfit(&param, "db: record 1, key \"00000001\": its 2 x 3 values are fewer than "
                          "crop_size: 4 asks for");
    param.crop_size = 0;
    param.mean_value = means;
    param.n_mean_value = 2;
    expect_misfit(&param,
                  "db: record 1, key \"00000001\": its 1 channels do not fit the 2 numbers");
    param.n_mean_value = 0;
    param.mean_file = (char[]){"tests/fixtures/data/mean.binaryproto"};
    expect_misfit(&param, "db: record 1, key \"00000001\": its shape 1 x 2 x 3 is not 3 x 10 x 12, "
                          "that of tests/fixtures/data/mean.binaryproto");
}

static void a_batch_stays_while_others_are_read(void)
{
    struct bench bench = prepare(samples_write("db", 10, NULL), NULL);
    struct psd_batch *held = NULL;

    for (unsigned prefetch = 1; prefetch < 6; prefetch++) {
        bench.options.prefetch = prefetch;
        open_bench(&bench);
        CHECK_OK(psd_feed_start(bench.feed, 0, 0));
        CHECK_OK(psd_feed_take(bench.feed, &held));
        for (int i = 0; i < 20; i++) {
            struct psd_batch *other = NULL;
            CHECK_OK(psd_feed_take(bench.feed, &other));
            CHECK_NEAR(held->label[0], 0, 0);
            psd_feed_give(bench.feed, other);
        }
        psd_feed_give(bench.feed, held);
        psd_feed_close(bench.feed); /* with batches that nobody took */
    }
    bench.feed = NULL;
    clear(&bench);
}

static void it_runs_only_between_start_and_stop(void)
{
    struct bench bench = prepare(samples_write("db", 10, NULL), NULL);
    struct psd_batch *batch = NULL;

    open_bench(&bench);
    CHECK_STATUS(PSD_EINVAL, psd_feed_take(bench.feed, &batch));
    psd_feed_stop(bench.feed);
    CHECK_OK(psd_feed_start(bench.feed, 3, 0));
    expect(bench.feed, 4, (int[]){2, 3, 4, 5});
    psd_feed_stop(bench.feed);
    psd_feed_stop(bench.feed);
    CHECK_STATUS(PSD_EINVAL, psd_feed_take(bench.feed, &batch));
    clear(&bench);
    psd_feed_close(NULL);
}

static void a_database_that_shrinks_is_an_error_for_the_taker(void)
{
    const char *path = samples_write("db", 200, NULL);
    char file[PATH_MAX + 10];
    struct bench bench = prepare(path, NULL);
    struct psd_batch *batch = NULL;
    psd_status status = PSD_OK;

    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 0, 0));
    snprintf(file, sizeof file, "%s/data.mdb", path);
    CHECK(truncate(file, 5000) == 0);
    for (int i = 0; i < 50 && status == PSD_OK; i++) {
        status = psd_feed_take(bench.feed, &batch);
        if (status == PSD_OK)
            psd_feed_give(bench.feed, batch);
    }
    CHECK_STATUS(PSD_ECONFIG, status);
    CHECK(strstr(psd_error(), "ends before byte "));
    clear(&bench);
}

static void once_warm_it_allocates_nothing(void)
{
    struct bench bench = prepare(samples_write("db", 50, NULL), NULL);
    struct psd_batch *batch = NULL;

    open_bench(&bench);
    CHECK_OK(psd_feed_start(bench.feed, 0, 0));
    for (int t = 0; t < 200; t++) {
        if (t == 5)
            psd_alloc_fail_at(0);
        CHECK_OK(psd_feed_take(bench.feed, &batch));
        psd_feed_give(bench.feed, batch);
    }
    CHECK(!psd_alloc_fail_at(-1));
    clear(&bench);
}

static void it_survives_every_failed_allocation(void)
{
    const char *path = samples_write("db", 10, NULL);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct bench bench = prepare(path, NULL);
        const struct psd_source *sources[] = {bench.source, bench.source};
        struct psd_batch *batch = NULL;
        bench.options.turns = 2;
        bench.options.sources = sources;
        psd_alloc_fail_at(n);
        psd_status status = psd_feed_open(&bench.options, &bench.feed);
        if (status == PSD_OK)
            status = psd_feed_start(bench.feed, 0, 0);
        if (status == PSD_OK)
            status = psd_feed_take(bench.feed, &batch);
        if (status == PSD_OK)
            psd_feed_give(bench.feed, batch);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        clear(&bench);
    }
}

int main(int argc, char **argv)
{
    RUN(records_come_in_the_order_of_their_keys_over_and_over)
    RUN(workers_share_out_each_global_batch)
    RUN(several_workers_are_served_in_turn)
    RUN(each_worker_may_have_a_source)
    RUN(test_batches_are_dealt_out_by_strides)
    RUN(it_starts_at_any_iteration_with_the_same_bits)
    RUN(samples_of_a_worker_are_cut_as_one_big_batch_would_be)
    RUN(rand_skip_is_a_function_of_the_seed)
    RUN(a_bad_record_is_replaced_by_the_next_good_one)
    RUN(one_bad_record_too_many_is_an_error_for_the_taker)
    RUN(without_a_good_record_there_is_no_feed)
    RUN(a_transform_that_fits_no_record_is_one_sentence)
    RUN(a_batch_stays_while_others_are_read)
    RUN(it_runs_only_between_start_and_stop)
    RUN(a_database_that_shrinks_is_an_error_for_the_taker)
    RUN(once_warm_it_allocates_nothing)
    RUN(it_survives_every_failed_allocation)
}
