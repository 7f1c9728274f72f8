#include "base/alloc.h"
#include "data/hdf5.h"
#include "engine/net_hdf5.h"
#include "nets.h"

#define DATA "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }\n"
#define IP(name, bottom, top, param)                                                     \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "' " \
    "inner_product_param { num_output: 3 weight_filler { type: 'gaussian' } "            \
    "bias_filler { type: 'uniform' } } " param " }\n"

/* Names with slashes, one of them that of another layer and more; b has a's weights. */
#define NET_TEXT                                                \
    "name: 'n' " DATA IP("a", "x", "ha", "param { name: 'w' }") \
        IP("in/a", "ha", "hb", "param { name: 'w' }")           \
            IP("in/a/1x1", "hb", "hc",                          \
               "") "layer { name: 'relu' type: 'ReLU' bottom: 'hc' top: 'hc' }"

/* Writes what is planned. */
static void write_plan(struct psd_hdf5_plan *plan, const char *path)
{
    uint64_t size = 0;

    CHECK_OK(psd_hdf5_plan_lay_out(plan, &size));
    unsigned char *bytes = psd_alloc((size_t)size);
    CHECK(bytes);
    psd_hdf5_plan_write(plan, bytes);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, (size_t)size, file) == size && fclose(file) == 0);
    psd_alloc_free(bytes);
    psd_hdf5_plan_destroy(plan);
}

static struct psd_hdf5_plan *new_plan(void)
{
    struct psd_hdf5_plan *plan = NULL;

    CHECK_OK(psd_hdf5_plan_create(&plan));
    return plan;
}

/* What is saved as gradients: of each parameter the same. */
static float nines[] = {9, 9, 9, 9, 9, 9, 9, 9, 9};
static float *const diffs[] = {nines, nines, nines, nines, nines};

static void saved_weights_load_into_another_net(void)
{
    struct lab from = lab_of(NET_TEXT);
    struct lab to = lab_with(NET_TEXT, &(struct psd_net_options){.seed = 2});
    struct psd_hdf5_plan *plan = new_plan();

    CHECK_OK(psd_net_plan_hdf5(from.net, NULL, plan));
    write_plan(plan, test_path("any")); /* the first bytes tell what it is */
    CHECK_OK(psd_net_load_file(to.net, test_path("any")));
    CHECK(from.net->n_params == 5);
    for (size_t i = 0; i < from.net->n_params; i++) {
        const struct psd_blob *a = &from.net->params[i]->blob, *b = &to.net->params[i]->blob;
        CHECK(same_bits(psd_blob_values(a), psd_blob_values(b), a->count * sizeof(float)));
    }
    lab_close(&to);
    lab_close(&from);
}

/* Those of shared weights too, with each layer: as Caffe's files have them. */
static void gradients_are_saved_on_request(void)
{
    static const char *const names[] = {"diff/a/0", "diff/a/1", "diff/in/a/0", "diff/in/a/1x1/1"};
    struct lab lab = lab_of(NET_TEXT);
    struct psd_hdf5_plan *plan = new_plan();
    struct psd_hdf5 *file = NULL;
    float read[9] = {0};

    CHECK_OK(psd_net_plan_hdf5(lab.net, diffs, plan));
    write_plan(plan, test_path("diffs.h5"));
    CHECK_OK(psd_hdf5_open(test_path("diffs.h5"), &file));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct psd_hdf5_dataset *dataset = NULL;
        CHECK_OK(psd_hdf5_dataset_open(file, names[i], &dataset));
        CHECK_OK(psd_hdf5_dataset_read(dataset, 0, psd_hdf5_dataset_rows(dataset), read));
        CHECK(read[0] == 9 && read[2] == 9);
        psd_hdf5_dataset_close(dataset);
    }
    psd_hdf5_close(file);
    lab_close(&lab);
}

static const float values[12] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void files_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char
            *names[4]; /* of datasets of 3 values, or of 3 x 3 where there is a 0 at the end */
        const char *sentence;
    } cases[] = {
        {{"other/a/0"}, ": there is no \"data\" in it"},
        {{"data/a/0"}, ": layer a has no parameter 1, the net's has 2"},
        {{"data/a/0", "data/a/1", "data/a/2"}, ": layer a has 3 blobs, the net's has 2"},
        {{"data/a/0", "data/a/x"}, ": layer a has no parameter 1, the net's has 2"},
        {{"data/in/a/1"}, NULL}, /* its weights are another's */
        {{"data/a/0", "data/a/1"}, NULL},
        {{"data/nobody/0"}, NULL},
        {{"data/in/a/1", "data/in/a/1x1/1", "data/in/a/1x1/0/deep"},
         ": parameter 0 of layer in/a/1x1: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_of(NET_TEXT);
        struct psd_hdf5_plan *plan = new_plan();
        for (size_t k = 0; k < 4 && cases[i].names[k]; k++) {
            const char *name = cases[i].names[k];
            bool matrix = name[strlen(name) - 1] == '0';
            CHECK_OK(psd_hdf5_plan_floats(plan, name, matrix ? 2 : 1, (size_t[]){3, 3}, values));
        }
        write_plan(plan, test_path("w.h5"));
        fprintf(stderr, "    %s\n", cases[i].names[0]);
        psd_status status = psd_net_load_file(lab.net, test_path("w.h5"));
        CHECK_STATUS(cases[i].sentence ? PSD_ECONFIG : PSD_OK, status);
        if (cases[i].sentence && !strstr(psd_error(), cases[i].sentence))
            TEST_FAIL("%s", psd_error());
        lab_close(&lab);
    }
}

static void another_shape_is_told(void)
{
    struct lab lab = lab_of(NET_TEXT);
    struct psd_hdf5_plan *plan = new_plan();
    char sentence[500];

    CHECK_OK(psd_hdf5_plan_floats(plan, "data/a/0", 2, (size_t[]){2, 6}, values));
    CHECK_OK(psd_hdf5_plan_floats(plan, "data/a/1", 2, (size_t[]){1, 3}, values));
    write_plan(plan, test_path("w.h5"));
    CHECK_STATUS(PSD_ECONFIG, psd_net_load_file(lab.net, test_path("w.h5")));
    snprintf(sentence, sizeof sentence,
             "%s: parameter 0 of layer a: the file has the shape 2 6 (12), the net has 3 3 (9)",
             test_path("w.h5"));
    CHECK_TEXT(sentence, psd_error());
    lab_close(&lab);
}

static psd_status save_and_load(struct psd_net *net)
{
    struct psd_hdf5_plan *plan = NULL;

    PSD_TRY(psd_hdf5_plan_create(&plan));
    psd_status status = psd_net_plan_hdf5(net, diffs, plan);
    psd_hdf5_plan_destroy(plan);
    return status == PSD_OK ? psd_net_load_file(net, test_path("good.h5")) : status;
}

static void both_ways_survive_every_failed_allocation(void)
{
    struct lab lab = lab_of(NET_TEXT);
    struct psd_hdf5_plan *plan = new_plan();
    bool failed = true;

    CHECK_OK(psd_net_plan_hdf5(lab.net, NULL, plan));
    write_plan(plan, test_path("good.h5"));
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = save_and_load(lab.net);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(saved_weights_load_into_another_net)
    RUN(gradients_are_saved_on_request)
    RUN(files_that_do_not_fit_are_refused)
    RUN(another_shape_is_told)
    RUN(both_ways_survive_every_failed_allocation)
}
