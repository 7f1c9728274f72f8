#include "base/alloc.h"
#include "engine/share.h"
#include "nets.h"

#define FOLDER "tests/fixtures/data/"

/* The net of a fixture, whose database stands beside its folder. */
static struct lab lab_from(const char *name, Caffe__Phase phase)
{
    struct lab lab;
    char path[200];

    CHECK(lab_open(&lab, NULL, 1));
    snprintf(path, sizeof path, FOLDER "%s/net.prototxt", name);
    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_AUTO, NET, &lab.document));
    CHECK_OK(lab_build(&lab, &(struct psd_net_options){.phase = phase}));
    return lab;
}

static void compare(const struct lab *lab, const char *name, const char *blob)
{
    const struct psd_blob *ours = psd_net_blob(lab->net, blob);
    static float theirs[10000];
    char path[200];

    snprintf(path, sizeof path, FOLDER "%s/out_%s.bin", name, blob);
    FILE *file = fopen(path, "rb");
    CHECK(file && ours->count <= 10000);
    CHECK(fread(theirs, sizeof *theirs, ours->count, file) == ours->count && fgetc(file) == EOF);
    fclose(file);
    for (size_t i = 0; i < ours->count; i++)
        CHECK_NEAR(psd_blob_values(ours)[i], theirs[i], 1e-5 * 255);
}

static void batches_are_caffes(void)
{
    static const struct {
        const char *name;
        int batch; /* which one the fixture has, from 1 */
    } cases[] = {
        {"raw_test_scale", 3},
        {"raw_test_crop_meanfile", 1},
        {"raw_test_crop_meanval", 2},
        {"enc_test", 1},
        {"gray_test", 1},
        {"resized_test", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_from(cases[i].name, CAFFE__PHASE__TEST);
        fprintf(stderr, "    %s\n", cases[i].name);
        for (int batch = 0; batch < cases[i].batch; batch++)
            CHECK_OK(psd_net_forward(lab.net, NULL));
        compare(&lab, cases[i].name, "data");
        compare(&lab, cases[i].name, "label");
        lab_close(&lab);
    }
}

enum { BATCH = 6, VALUES = 882 }; /* 6 samples of 3 x 7 x 7 */

/* Fills `out` with the next batch and its labels. */
static void take(const struct lab *lab, float out[VALUES + BATCH])
{
    const struct psd_blob *data = psd_net_blob(lab->net, "data");

    CHECK_OK(psd_net_forward(lab->net, NULL));
    CHECK(data->count == VALUES);
    memcpy(out, psd_blob_values(data), data->count * sizeof(float));
    memcpy(out + data->count, lab_values(lab, "label"), BATCH * sizeof(float));
}

static void a_net_that_seeks_gets_the_same_batches(void)
{
    struct lab lab = lab_from("raw_train_crop_mirror", CAFFE__PHASE__TRAIN);
    static float batches[5][VALUES + BATCH], again[VALUES + BATCH];

    for (int i = 0; i < 5; i++)
        take(&lab, batches[i]);
    for (int i = 4; i >= 0; i--) {
        CHECK_OK(psd_net_seek(lab.net, &(struct psd_net_position){.iteration = (uint64_t)i}));
        take(&lab, again);
        CHECK(same_bits(again, batches[i], sizeof again));
    }
    lab_close(&lab);
}

/* Worker 1 of 2 gets the second half of each global batch: the odd batches of one worker. */
static void workers_take_turns(void)
{
    struct lab alone = lab_from("raw_test_scale", CAFFE__PHASE__TEST);
    struct lab second = lab_from("raw_test_scale", CAFFE__PHASE__TEST);
    size_t size = psd_net_blob(alone.net, "data")->count * sizeof(float);
    unsigned one = 1;
    struct psd_net_position position = {.workers = &one, .n_workers = 1, .of = 2};

    CHECK_OK(psd_net_seek(second.net, &position));
    for (int i = 0; i < 6; i++) {
        CHECK_OK(psd_net_forward(alone.net, NULL));
        if (i % 2 == 0)
            continue;
        CHECK_OK(psd_net_forward(second.net, NULL));
        CHECK(same_bits(lab_values(&alone, "data"), lab_values(&second, "data"), size));
    }
    lab_close(&second);
    lab_close(&alone);
}

/* --- several workers in one net ---------------------------------------------------------------- */

enum { RAW = 1440 }; /* values of a batch of raw_test_scale */

/* Batch `n` of a net that is the only worker. */
static const float *batch_alone(uint64_t n)
{
    static float values[RAW];
    struct lab lab = lab_from("raw_test_scale", CAFFE__PHASE__TEST);
    const struct psd_blob *data = psd_net_blob(lab.net, "data");

    CHECK(data->count == RAW);
    CHECK_OK(psd_net_seek(lab.net, &(struct psd_net_position){.iteration = n}));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    memcpy(values, psd_blob_values(data), data->count * sizeof *values);
    lab_close(&lab);
    return values;
}

static void expect_batch(const struct lab *lab, uint64_t n)
{
    size_t size = psd_net_blob(lab->net, "data")->count * sizeof(float);

    CHECK_OK(psd_net_forward(lab->net, NULL));
    CHECK(same_bits(lab_values(lab, "data"), batch_alone(n), size));
}

static void a_net_serves_its_workers_in_turn(void)
{
    static const unsigned workers[] = {0, 2};
    struct psd_net_position position = {.workers = workers, .n_workers = 2, .of = 3};
    struct lab lab = lab_from("raw_test_scale", CAFFE__PHASE__TEST);

    CHECK_OK(psd_net_seek(lab.net, &position));
    for (unsigned n = 0; n < 6; n++)
        expect_batch(&lab, n / 2 * 3 + workers[n % 2]);
    position.iteration = 1; /* back, in the middle of a round */
    position.turn = 1;
    CHECK_OK(psd_net_seek(lab.net, &position));
    expect_batch(&lab, 5);
    expect_batch(&lab, 6);
    lab_close(&lab);
}

static void seeking_to_where_the_net_is_costs_nothing(void)
{
    static const unsigned workers[] = {0, 2};
    unsigned copy[] = {0, 2};
    struct psd_net_position position = {.workers = workers, .n_workers = 2, .of = 3};
    struct lab lab = lab_from("raw_test_scale", CAFFE__PHASE__TEST);

    CHECK_OK(psd_net_seek(lab.net, &position));
    for (unsigned n = 0; n < 8; n++)
        CHECK_OK(psd_net_forward(lab.net, NULL));
    psd_alloc_fail_at(0);
    position.workers = copy;
    for (position.iteration = 4; position.iteration < 8; position.iteration++) {
        CHECK_OK(psd_net_seek(lab.net, &position));
        for (unsigned n = 0; n < 2; n++)
            CHECK_OK(psd_net_forward(lab.net, NULL));
    }
    CHECK(!psd_alloc_fail_at(-1));
    CHECK_OK(psd_net_seek(lab.net, &position));
    expect_batch(&lab, 24);
    lab_close(&lab);
}

static void twins_read_the_same_source_for_other_workers(void)
{
    static const unsigned workers[] = {0, 1, 2, 3};
    struct psd_net_position position = {.workers = workers, .n_workers = 2, .of = 4};
    struct lab lab = lab_from("raw_test_scale", CAFFE__PHASE__TEST), twin = lab;

    CHECK_OK(psd_net_seek(lab.net, &position));
    position.workers = workers + 2;
    CHECK_OK(lab_build(&twin, &(struct psd_net_options){.twin_of = lab.net, .position = position}));
    for (unsigned n = 0; n < 4; n++) {
        expect_batch(&lab, n / 2 * 4 + n % 2);
        expect_batch(&twin, n / 2 * 4 + 2 + n % 2);
    }
    psd_net_destroy(twin.net);
    lab_close(&lab);
}

static psd_status refuse_once(void *context, struct psd_param *param)
{
    bool *refused = context;

    if (*refused)
        return PSD_OK;
    *refused = true;
    return psd_fail(PSD_EPEER, "nobody knows %s", param->name);
}

static void a_pass_that_failed_gets_its_batch_again(void)
{
    bool refused = false;
    struct lab lab = lab_with(
        "layer { name: 'd' type: 'Data' top: 'x' top: 'label' data_param { source: '" FOLDER
        "raw_lmdb' batch_size: 3 backend: LMDB } }"
        "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'"
        "        inner_product_param { num_output: 1 } }",
        &(struct psd_net_options){.hooks = {.context = &refused, .need_value = refuse_once}});
    float first;

    CHECK_STATUS(PSD_EPEER, psd_net_forward(lab.net, NULL));
    first = lab_values(&lab, "x")[0];
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "x")[0] == first);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab_values(&lab, "x")[0] != first);
    lab_close(&lab);
}

/* --- shares of a global batch ------------------------------------------------------------------- */

/* What is cut, mirrored and dropped by chance. */
#define CHANCES                                                                                  \
    "layer { name: 'd' type: 'Data' top: 'x' top: 'label' data_param { source: '" FOLDER         \
    "raw_lmdb' batch_size: 10 backend: LMDB } transform_param { crop_size: 7 mirror: true } }\n" \
    "layer { name: 'drop' type: 'Dropout' bottom: 'x' top: 'y' }\n"

enum { GLOBAL = 10, SAMPLE = 147, ROUNDS = 3 };

/* What workers `first` to `first + count - 1` of `of` see, who have equal shares. */
static void check_shares(const struct lab *whole, unsigned first, unsigned count, unsigned of)
{
    static const unsigned all[GLOBAL] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct psd_net_position position = {
        .workers = all + first, .n_workers = count, .of = of, .global_batch = GLOBAL};
    size_t share = psd_share_size(GLOBAL, of, first);
    struct lab lab = lab_with(CHANCES, &(struct psd_net_options){.batch = share});

    CHECK(psd_net_blob(lab.net, "y")->count == share * SAMPLE);
    CHECK_OK(psd_net_seek(whole->net, &(struct psd_net_position){0}));
    CHECK_OK(psd_net_seek(lab.net, &position));
    for (unsigned n = 0; n < ROUNDS * count; n++) {
        size_t offset = psd_share_offset(GLOBAL, of, first + n % count);
        if (n % count == 0)
            CHECK_OK(psd_net_forward(whole->net, NULL));
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK(same_bits(lab_values(&lab, "y"), lab_values(whole, "y") + offset * SAMPLE,
                        share * SAMPLE * sizeof(float)));
        CHECK(same_bits(lab_values(&lab, "label"), lab_values(whole, "label") + offset,
                        share * sizeof(float)));
    }
    lab_close(&lab);
}

static void workers_see_together_what_one_with_the_global_batch_sees(void)
{
    struct lab whole = lab_of(CHANCES);

    for (unsigned of = 1; of <= GLOBAL; of++) {
        unsigned larger = GLOBAL % of ? GLOBAL % of : of;
        check_shares(&whole, 0, larger, of);
        if (larger < of)
            check_shares(&whole, larger, of - larger, of);
    }
    lab_close(&whole);
}

static void a_net_has_workers_of_one_share(void)
{
    static const unsigned workers[] = {1, 2};
    struct psd_net_position position = {
        .workers = workers, .n_workers = 2, .of = 4, .global_batch = GLOBAL};
    struct lab lab = lab_with(CHANCES, &(struct psd_net_options){.batch = 3}), twin = lab;

    CHECK_STATUS(PSD_EINVAL, psd_net_seek(lab.net, &position)); /* 3 and 2 samples */
    CHECK_TEXT("layer d: worker 2 of 4 has 2 of a global batch of 10 samples, but the net's batch "
               "is 3",
               psd_error());
    position.n_workers = 1;
    CHECK_OK(psd_net_seek(lab.net, &position));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(lab_build(&twin, &(struct psd_net_options){.twin_of = lab.net}));
    CHECK(psd_net_blob(twin.net, "x")->shape.dim[0] == 3);
    psd_net_destroy(twin.net);
    position = (struct psd_net_position){
        .workers = workers, .n_workers = 1, .of = 11, .global_batch = GLOBAL};
    CHECK_STATUS(PSD_ECONFIG, psd_net_seek(lab.net, &position));
    CHECK_TEXT("a global batch of 10 samples has none for some of 11 workers; each needs one",
               psd_error());
    lab_close(&lab);
}

/* --- what it says and refuses ------------------------------------------------------------------- */

static void a_net_may_do_without_labels(void)
{
    struct lab lab = lab_of("layer { name: 'd' type: 'Data' top: 'x' data_param { source: '" FOLDER
                            "raw_lmdb' batch_size: 3 backend: LMDB } }");

    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(lab.net->n_blobs == 1 && lab_values(&lab, "x")[0] >= 0);
    lab_close(&lab);
}

#define DATA(param) "layer { name: 'd' type: 'Data' top: 'x' data_param { " param " } }"

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {DATA("batch_size: 3"), "test.prototxt:1:41: layer d: has no source"},
        {DATA("source: 'x'"), "test.prototxt:1:41: layer d: has no batch_size; 1 is the least"},
        {DATA("batch_size: 3 source: 'nowhere' backend: LMDB"),
         "test.prototxt:1:68: layer d: test.prototxt names nowhere, but there is no such file"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
    CHECK(strstr(lab_refuses(DATA("batch_size: 3 source: '" FOLDER "raw_lmdb'")), "leveldb"));
    CHECK(strstr(lab_refuses("layer { name: 'd' type: 'Data' top: 'x' data_param { batch_size: 3 "
                             "source: '" FOLDER "raw_lmdb' backend: LMDB }\n"
                             "transform_param { crop_size: 700 } }"),
                 "layer d: "));
}

static void creating_survives_every_failed_allocation(void)
{
    CHECK(lab_survives(DATA("batch_size: 3 source: '" FOLDER "raw_lmdb' backend: LMDB"), NULL) > 1);
}

int main(int argc, char **argv)
{
    RUN(batches_are_caffes)
    RUN(a_net_that_seeks_gets_the_same_batches)
    RUN(workers_take_turns)
    RUN(a_net_serves_its_workers_in_turn)
    RUN(seeking_to_where_the_net_is_costs_nothing)
    RUN(twins_read_the_same_source_for_other_workers)
    RUN(a_pass_that_failed_gets_its_batch_again)
    RUN(workers_see_together_what_one_with_the_global_batch_sees)
    RUN(a_net_has_workers_of_one_share)
    RUN(a_net_may_do_without_labels)
    RUN(impossible_parameters_are_refused)
    RUN(creating_survives_every_failed_allocation)
}
