/* exact_test.c - a job has the same bits on any number of processes, and nearly those of other forms.
 *
 *                      1 process   2   3   4   8         eight workers, 200 iterations
 *     all dense           A        A   A   A   A         the same files, byte for byte
 *     all factored        B        B   B   B   B
 *     mixed               C        C   C   C   C
 *
 *     A, B and C differ by rounding alone.
 *
 * LeNet and CIFAR-10 quick are the files of models/, and find databases of made-up pictures where they
 * look for the real ones. The other two nets stand here. */
#include "base/random.h"
#include "data/convert_writer.h"
#include "proto/caffe.pb-c.h"
#include "proto/upgrade.h"
#include "run.h"

/* A sanitizer is after other mistakes, for which fewer iterations do. */
enum { ITERATIONS = TEST_IS_SANITIZED ? 20 : 200, LOSSES = 40, PICTURES = 200, CLASSES = 10 };

static const char resnet[] =
    "name: 'resnet'\n"
    "layer { name: 'data' type: 'Data' top: 'data' top: 'label'\n"
    "  transform_param { crop_size: 10 mirror: true mean_value: 128 scale: 0.0078125 }\n"
    "  data_param { source: 'build/cifar10/cifar10_train_lmdb' batch_size: 2 backend: LMDB } }\n"
    "layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'a'\n"
    "  convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: 'msra' } } }\n"
    "layer { name: 'bn1' type: 'BatchNorm' bottom: 'a' top: 'a' }\n"
    "layer { name: 'scale1' type: 'Scale' bottom: 'a' top: 'a' scale_param { bias_term: true } }\n"
    "layer { name: 'relu1' type: 'ReLU' bottom: 'a' top: 'a' }\n"
    "layer { name: 'conv2' type: 'Convolution' bottom: 'a' top: 'b'\n"
    "  convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: 'msra' } } }\n"
    "layer { name: 'bn2' type: 'BatchNorm' bottom: 'b' top: 'b' }\n"
    "layer { name: 'scale2' type: 'Scale' bottom: 'b' top: 'b' scale_param { bias_term: true } }\n"
    "layer { name: 'sum' type: 'Eltwise' bottom: 'a' bottom: 'b' top: 'c' }\n"
    "layer { name: 'relu2' type: 'ReLU' bottom: 'c' top: 'c' }\n"
    "layer { name: 'ip1' type: 'InnerProduct' bottom: 'c' top: 'ip1'\n"
    "  inner_product_param { num_output: 32 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'drop' type: 'Dropout' bottom: 'ip1' top: 'ip1' }\n"
    "layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1' top: 'ip2'\n"
    "  inner_product_param { num_output: 10 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }\n";

/* Three steps of two streams; what is known of a stream as a whole goes through ip1 and ip2, which
 * have one row for each sample and so can be factored. */
static const char lstm[] =
    "name: 'lstm'\n"
    "layer { name: 'data' type: 'DummyData' top: 'whole' top: 'x' top: 'cont' top: 'wanted'\n"
    "  dummy_data_param { shape { dim: 2 dim: 20 } shape { dim: 3 dim: 2 dim: 6 }\n"
    "    shape { dim: 3 dim: 2 } shape { dim: 3 dim: 2 dim: 4 }\n"
    "    data_filler { type: 'gaussian' } data_filler { type: 'gaussian' }\n"
    "    data_filler { type: 'constant' value: 1 } data_filler { type: 'gaussian' } } }\n"
    "layer { name: 'ip1' type: 'InnerProduct' bottom: 'whole' top: 'h' inner_product_param {\n"
    "  num_output: 24 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'relu' type: 'ReLU' bottom: 'h' top: 'h' }\n"
    "layer { name: 'ip2' type: 'InnerProduct' bottom: 'h' top: 'given' inner_product_param {\n"
    "  num_output: 12 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'lstm' type: 'LSTM' bottom: 'x' bottom: 'cont' bottom: 'given' top: 'y'\n"
    "  recurrent_param { num_output: 8 weight_filler { type: 'uniform' min: -0.2 max: 0.2 } } }\n"
    "layer { name: 'out' type: 'InnerProduct' bottom: 'y' top: 'out' inner_product_param {\n"
    "  num_output: 4 axis: 2 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'out' bottom: 'wanted' top: 'loss' }\n";

/* Both have inner products ip1 and ip2. */
static const struct net {
    const char *name;
    const char *text;  /* NULL: models/NAME has the net and its solver */
    const char *batch; /* an option where the file's own batch is larger than a test needs */
    bool slowly;       /* at a tenth of the file's rate */
} nets[] = {
    {"lenet", NULL, "--global-batch 16", false},
    {"cifar10-quick", NULL, "--global-batch 16", true},
    {"resnet", resnet, "", false},
    {"lstm", lstm, "", false},
};
enum { LENET, CIFAR10_QUICK, RESNET, LSTM, NETS };

static const struct forms {
    const char *option, *ip1, *ip2;
} forms[] = {
    {"--form ip1=dense,ip2=dense", "dense", "dense"},
    {"--form ip1=factored,ip2=factored", "factored", "factored"},
    {"--form ip2=dense", "factored", "dense"}, /* the plan chooses for ip1 */
};
enum { DENSE, FACTORED, MIXED, FORMS };

/* --- a folder with all that a net needs ----------------------------------------------------------- */

/* Soft waves, whose direction and length are those of the class. As in photographs neighbours are alike. */
static uint8_t pixel_of(size_t picture, size_t label, size_t x, size_t y)
{
    size_t steep = label / 3, flat = 1 + label % 3;
    float across = (float)(x * flat + y * steep) / 28;
    float phase = psd_random_uniform(1, 2, picture);

    return (uint8_t)(128 + 60 * sinf(6.28318f * (across + phase)));
}

static void write_pictures(const char *path, struct psd_sample_shape shape)
{
    enum { MOST = 3 * 32 * 32 };
    size_t size = (size_t)shape.channels * shape.height * shape.width;
    struct psd_convert_writer writer;
    uint8_t pixels[MOST];

    CHECK(size <= MOST);
    CHECK_OK(psd_convert_writer_open(path, shape, 8, &writer));
    for (size_t i = 0; i < PICTURES; i++) {
        size_t label = psd_random_below(1, 1, i, CLASSES);
        for (size_t k = 0; k < size; k++)
            pixels[k] = pixel_of(i, label, k % shape.width, k / shape.width);
        CHECK_OK(psd_convert_writer_put(&writer, pixels, (int)label));
    }
    CHECK_OK(psd_convert_writer_close(&writer, PSD_OK));
}

/* The solver of models/, without what it says of tests and files, and of CIFAR-10 quick with a tenth of its
 * rate: with all of it that makes more than 1e-4 of a last bit within 40 iterations (docs/numerics.md). */
static void take_solver(const char *here, const struct net *net)
{
    const char *slower = net->slowly ? "-e 's/^base_lr: 0/&.0/' -e 's/0[.]0[.]/0.0/'" : "";

    CHECK(run("sed -E -e '/^(net|test_|display|max_iter|snapshot)/d' %s "
              "%s/models/%s/solver.prototxt >common && grep -q base_lr common "
              "&& echo 'net: \"%s/models/%s/train_val.prototxt\"' >>common",
              slower, here, net->name, here, net->name) == 0);
}

static void start(const struct net *net)
{
    char here[PATH_MAX];

    CHECK(getcwd(here, sizeof here));
    run_start();
    CHECK(run("rm -rf build && mkdir -p build/fashion-mnist build/cifar10") == 0);
    write_pictures("build/fashion-mnist/train_lmdb", (struct psd_sample_shape){1, 28, 28});
    write_pictures("build/cifar10/cifar10_train_lmdb", (struct psd_sample_shape){3, 32, 32});
    if (!net->text) {
        take_solver(here, net);
        return;
    }
    run_write("net.prototxt", net->text);
    run_write("common", "net: \"net.prototxt\"\nbase_lr: 0.01\nlr_policy: \"inv\"\ngamma: 0.001\n"
                        "power: 0.75\nmomentum: 0.9\nweight_decay: 0.0005\nrandom_seed: 3\n");
}

static bool has_form(const char *parameter, const char *form)
{
    const char *row = strstr(run_err, parameter);
    char line[200] = "";

    if (row)
        snprintf(line, sizeof line, "%.*s", (int)strcspn(row + 1, "\n"), row + 1);
    return strstr(line, form);
}

/* Trains eight workers; the model is then `model`. Each training may take as long as other tests do. */
static void train(const struct net *net, const struct forms *how, int iterations, int processes,
                  const char *model)
{
    alarm(TEST_SECONDS);
    if (run("{ cat common; echo 'max_iter: %d display: %d snapshot_prefix: \"s\"'; } >solver && "
            "$POSEIDON train --solver solver --log-prefix none --logical-workers 8 -n %d "
            "--verify 50 %s %s && mv s_iter_%d.caffemodel %s",
            iterations, iterations > LOSSES ? 50 : 1, processes, net->batch, how->option,
            iterations, model) != 0)
        TEST_FAIL("%s with %s on %d processes: %s", net->name, how->option, processes, run_err);
    if (processes > 1) /* one alone shows no plan */
        CHECK(has_form("\nip1[0]", how->ip1) && has_form("\nip2[0]", how->ip2));
}

/* --- the same bits -------------------------------------------------------------------------------- */

static void compare_processes(const struct net *net)
{
    static const int counts[] = {2, 3, 4, 8};

    start(net);
    for (size_t i = 0; i < FORMS; i++) {
        train(net, &forms[i], ITERATIONS, 1, "one");
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            train(net, &forms[i], ITERATIONS, counts[k], "many");
            if (run("cmp one many") != 0)
                TEST_FAIL("%s with %s is another on %d processes: %s", net->name, forms[i].option,
                          counts[k], run_out);
        }
    }
}

static void lenet_is_the_same_on_any_number_of_processes(void)
{
    compare_processes(&nets[LENET]);
}

static void cifar10_quick_is_the_same_on_any_number_of_processes(void)
{
    compare_processes(&nets[CIFAR10_QUICK]);
}

static void a_net_with_statistics_is_the_same_on_any_number_of_processes(void)
{
    compare_processes(&nets[RESNET]);
}

static void a_net_that_carries_state_is_the_same_on_any_number_of_processes(void)
{
    compare_processes(&nets[LSTM]);
}

/* Five workers have three samples, and three have two. */
static void shares_of_a_batch_that_differ_are_the_same_on_any_number_of_processes(void)
{
    static const int counts[] = {2, 3, 5};
    struct net uneven = nets[LENET];

    uneven.batch = "--global-batch 21";
    start(&uneven);
    for (size_t i = DENSE; i <= FACTORED; i++) {
        train(&uneven, &forms[i], 20, 1, "one");
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            train(&uneven, &forms[i], 20, counts[k], "many");
            if (run("cmp one many") != 0)
                TEST_FAIL("%s is another on %d processes: %s", forms[i].option, counts[k], run_out);
        }
    }
}

/* --- nearly the same numbers ---------------------------------------------------------------------- */

static struct psd_document *read_model(const char *path)
{
    struct psd_document *document = NULL;

    CHECK_OK(psd_upgrade_read(path, &caffe__net_parameter__descriptor, NULL, &document));
    return document;
}

/* No value differs by more than 1e-5 of the tensor's largest. */
static void check_blob(const Caffe__BlobProto *ours, const Caffe__BlobProto *theirs,
                       const char *layer)
{
    float largest = 0, worst = 0;

    CHECK(ours->n_data == theirs->n_data);
    for (size_t i = 0; i < ours->n_data; i++) {
        largest = fmaxf(largest, fabsf(theirs->data[i]));
        worst = fmaxf(worst, fabsf(theirs->data[i] - ours->data[i]));
    }
    if (!(worst <= 1e-5f * largest))
        TEST_FAIL("%s: differs by %g, the largest is %g", layer, (double)worst, (double)largest);
}

static size_t check_models(const char *ours, const char *theirs)
{
    struct psd_document *documents[] = {read_model(ours), read_model(theirs)};
    const Caffe__NetParameter *a = (const Caffe__NetParameter *)documents[0]->root;
    const Caffe__NetParameter *b = (const Caffe__NetParameter *)documents[1]->root;
    size_t blobs = 0;

    CHECK(a->n_layer == b->n_layer);
    for (size_t i = 0; i < a->n_layer; i++) {
        CHECK(a->layer[i]->n_blobs == b->layer[i]->n_blobs);
        for (size_t k = 0; k < a->layer[i]->n_blobs; k++, blobs++)
            check_blob(a->layer[i]->blobs[k], b->layer[i]->blobs[k], a->layer[i]->name);
    }
    psd_document_destroy(documents[0]);
    psd_document_destroy(documents[1]);
    return blobs;
}

/* What the latest run has said of its first losses. */
static void read_losses(double losses[LOSSES])
{
    const char *line = run_err;

    for (int i = 0; i < LOSSES; i++) {
        char begin[40];
        snprintf(begin, sizeof begin, "\nIteration %d (", i);
        line = strstr(line, begin);
        CHECK(line);
        losses[i] = atof(strstr(line, "loss = ") + strlen("loss = "));
    }
}

static void compare_forms(const struct net *net)
{
    double losses[FORMS][LOSSES];

    start(net);
    for (size_t i = 0; i < FORMS; i++) {
        train(net, &forms[i], 1, 2, i == DENSE ? "dense" : "other");
        if (i != DENSE)
            CHECK(check_models("other", "dense") > 4);
        train(net, &forms[i], LOSSES, 2, "learned");
        read_losses(losses[i]);
        for (int k = 0; k < LOSSES; k++)
            CHECK_NEAR(losses[i][k], losses[DENSE][k], 1e-4);
    }
}

static void lenet_differs_between_forms_by_rounding_alone(void)
{
    compare_forms(&nets[LENET]);
}

static void cifar10_quick_differs_between_forms_by_rounding_alone(void)
{
    compare_forms(&nets[CIFAR10_QUICK]);
}

static void a_net_with_statistics_differs_between_forms_by_rounding_alone(void)
{
    compare_forms(&nets[RESNET]);
}

static void a_net_that_carries_state_differs_between_forms_by_rounding_alone(void)
{
    compare_forms(&nets[LSTM]);
}

int main(int argc, char **argv)
{
    RUN(lenet_is_the_same_on_any_number_of_processes)
    RUN(cifar10_quick_is_the_same_on_any_number_of_processes)
    RUN(a_net_with_statistics_is_the_same_on_any_number_of_processes)
    RUN(a_net_that_carries_state_is_the_same_on_any_number_of_processes)
    RUN(shares_of_a_batch_that_differ_are_the_same_on_any_number_of_processes)
    RUN(lenet_differs_between_forms_by_rounding_alone)
    RUN(cifar10_quick_differs_between_forms_by_rounding_alone)
    RUN(a_net_with_statistics_differs_between_forms_by_rounding_alone)
    RUN(a_net_that_carries_state_differs_between_forms_by_rounding_alone)
}
