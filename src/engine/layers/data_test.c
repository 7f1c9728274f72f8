#include "base/alloc.h"
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

    CHECK_OK(psd_net_seek(second.net, &(struct psd_net_position){0, 1, 2}));
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
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct lab lab;
        CHECK(lab_open(&lab, NULL, 1));
        lab.document = net_of(DATA("batch_size: 3 source: '" FOLDER "raw_lmdb' backend: LMDB"));
        psd_alloc_fail_at(n);
        psd_status status = lab_build(&lab, NULL);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        lab_close(&lab);
    }
}

int main(int argc, char **argv)
{
    RUN(batches_are_caffes)
    RUN(a_net_that_seeks_gets_the_same_batches)
    RUN(workers_take_turns)
    RUN(a_net_may_do_without_labels)
    RUN(impossible_parameters_are_refused)
    RUN(creating_survives_every_failed_allocation)
}
