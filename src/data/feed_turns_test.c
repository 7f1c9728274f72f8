/* feed_turns_test.c - which records are whose, and what is drawn for them; feed_test.c has the rest. */
#include "base/alloc.h"
#include "data/feed_turns.h"
#include "samples.h"

enum { BATCH = 4, VALUES = BATCH * SAMPLE_SIZE };

/* Two workers, and what their turns borrow. */
struct pair {
    struct psd_source *sources[2];
    struct psd_transform *transform;
    struct psd_feed_options options;
    struct psd_feed_turns *turns;
    float data[VALUES], label[BATCH];
    struct psd_batch batch;
};

static const size_t offsets[] = {0, BATCH};

static void start(struct pair *pair, const Caffe__TransformationParameter *param,
                  void (*first)(unsigned i, Caffe__Datum *datum),
                  void (*second)(unsigned i, Caffe__Datum *datum))
{
    *pair = (struct pair){.batch = {.data = pair->data, .label = pair->label}};
    CHECK_OK(psd_source_open("lmdb", samples_write("db_0", 10, first), &pair->sources[0]));
    CHECK_OK(psd_source_open("lmdb", samples_write("db_1", 7, second), &pair->sources[1]));
    CHECK_OK(psd_transform_create(param, CAFFE__PHASE__TRAIN, NULL, &pair->transform));
    pair->options = (struct psd_feed_options){
        .source = pair->sources[0],
        .transform = pair->transform,
        .batch = BATCH,
        .global_batch = (size_t)2 * BATCH,
        .turns = 2,
        .offsets = offsets,
        .seed = 7,
        .max_bad = {PSD_BAD_COUNT, 2, 0},
    };
}

static bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* Each worker reads its own. */
static void part(struct pair *pair)
{
    pair->options.sources = (const struct psd_source *const *)pair->sources;
}

static void finish(struct pair *pair)
{
    psd_feed_turns_destroy(pair->turns);
    psd_transform_destroy(pair->transform);
    psd_source_close(pair->sources[0]);
    psd_source_close(pair->sources[1]);
}

static void expect(struct pair *pair, uint64_t iteration, size_t turn, const int *records)
{
    CHECK_OK(psd_feed_turns_fill(pair->turns, iteration, turn, &pair->batch));
    CHECK(pair->batch.iteration == iteration && pair->batch.turn == turn);
    for (size_t k = 0; k < BATCH; k++)
        CHECK_NEAR(pair->label[k], records[k], 0);
}

static void workers_have_parts_of_one_source(void)
{
    struct pair pair;

    start(&pair, NULL, NULL, NULL);
    CHECK_OK(psd_feed_turns_create(&pair.options, &pair.turns));
    expect(&pair, 0, 0, (int[]){0, 1, 2, 3});
    expect(&pair, 0, 1, (int[]){4, 5, 6, 7});
    expect(&pair, 1, 0, (int[]){8, 9, 0, 1});
    expect(&pair, 3, 1, (int[]){8, 9, 0, 1});
    finish(&pair);
}

static void or_all_of_a_source_of_their_own(void)
{
    struct pair pair;

    start(&pair, NULL, NULL, NULL);
    part(&pair);
    CHECK_OK(psd_feed_turns_create(&pair.options, &pair.turns));
    expect(&pair, 0, 0, (int[]){0, 1, 2, 3});
    expect(&pair, 0, 1, (int[]){0, 1, 2, 3});
    expect(&pair, 2, 0, (int[]){8, 9, 0, 1});
    expect(&pair, 2, 1, (int[]){1, 2, 3, 4});
    finish(&pair);
}

static void spoil_first(unsigned i, Caffe__Datum *datum)
{
    if (i == 0)
        datum->data.len = 0;
}

static void bad_records_of_all_sources_are_counted(void)
{
    struct pair pair;

    start(&pair, NULL, spoil_first, spoil_first);
    part(&pair);
    CHECK_OK(psd_feed_turns_create(&pair.options, &pair.turns));
    expect(&pair, 0, 0, (int[]){1, 1, 2, 3});
    CHECK(pair.batch.bad == 2); /* both were seen when the shapes were asked for */
    expect(&pair, 0, 1, (int[]){1, 1, 2, 3});
    CHECK(pair.batch.bad == 2);
    finish(&pair);
}

static void turn_all(unsigned i, Caffe__Datum *datum)
{
    (void)i;
    datum->width = 2, datum->height = 3;
}

static void sources_of_other_shapes_are_refused(void)
{
    struct pair pair;

    start(&pair, NULL, NULL, turn_all);
    part(&pair);
    CHECK_STATUS(PSD_ECONFIG, psd_feed_turns_create(&pair.options, &pair.turns));
    CHECK(strstr(psd_error(), "db_1 has samples of 1 x 3 x 2; those of the workers before are "
                              "1 x 2 x 3"));
    finish(&pair);
}

/* Pixels that differ, so that crops and mirrors do. */
static void draw_pattern(unsigned i, Caffe__Datum *datum)
{
    for (size_t k = 0; k < SAMPLE_SIZE; k++)
        datum->data.data[k] = (uint8_t)(10 * k + i);
}

/* Workers that have the same records do not cut them in the same way. */
static void what_is_drawn_follows_the_place_in_the_global_batch(void)
{
    Caffe__TransformationParameter param = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    struct pair pair;
    float first[VALUES] = {0};

    param.crop_size = 2;
    param.mirror = 1;
    start(&pair, &param, draw_pattern, draw_pattern);
    part(&pair);
    CHECK_OK(psd_feed_turns_create(&pair.options, &pair.turns));
    CHECK_OK(psd_feed_turns_fill(pair.turns, 0, 0, &pair.batch));
    memcpy(first, pair.data, sizeof first);
    CHECK_OK(psd_feed_turns_fill(pair.turns, 0, 1, &pair.batch));
    CHECK(!same_bits(first, pair.data, sizeof first));
    finish(&pair);
}

static void creating_survives_every_failed_allocation(void)
{
    struct pair pair;
    bool failed = true;

    start(&pair, NULL, NULL, NULL);
    part(&pair);
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_feed_turns_create(&pair.options, &pair.turns);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (pair.turns == NULL));
    }
    finish(&pair);
}

int main(int argc, char **argv)
{
    RUN(workers_have_parts_of_one_source)
    RUN(or_all_of_a_source_of_their_own)
    RUN(bad_records_of_all_sources_are_counted)
    RUN(sources_of_other_shapes_are_refused)
    RUN(what_is_drawn_follows_the_place_in_the_global_batch)
    RUN(creating_survives_every_failed_allocation)
}
