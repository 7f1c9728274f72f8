/* engine_test.c - the engine as a program sees it: files in, arrays out. */
#include "base/alloc.h"
#include "poseidon/engine.h"
#include "test.h"

#define NET                                                                                \
    "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 3 } } }\n" \
    "layer { name: 'fc' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param {"   \
    " num_output: 2 weight_filler { type: 'constant' value: 2 } } }\n"                     \
    "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'y' }\n"

#define TRAINED                                                                          \
    "layer { name: 'data' type: 'MemoryData' top: 'x' top: 'label' memory_data_param {"  \
    " batch_size: 2 channels: 1 height: 1 width: 1 } }\n"                                \
    "layer { name: 'fc' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param {" \
    " num_output: 1 } }\n"                                                               \
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'label' top: 'loss' }\n"

static const char *file_of(const char *name, const char *text)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static struct psd_engine *engine_of(const struct psd_engine_options *options)
{
    struct psd_engine *engine = NULL;

    CHECK_OK(psd_engine_open(options, &engine));
    return engine;
}

static struct psd_engine_array find(const struct psd_engine *engine, const char *name)
{
    struct psd_engine_array array;

    CHECK_OK(psd_engine_find(engine, name, &array));
    return array;
}

/* A solver of TRAINED, whose engine learns y = 2x. */
static struct psd_engine *learner(const char *more)
{
    static const float x[] = {1, 2, 3, 4}, labels[] = {2, 4, 6, 8};
    char text[1000];

    file_of("train.prototxt", TRAINED);
    snprintf(text, sizeof text,
             "net: '%s' base_lr: 0.05 lr_policy: 'fixed' max_iter: 9 random_seed: 1 "
             "snapshot_prefix: '%s' %s",
             test_path("train.prototxt"), test_path("ours"), more);
    struct psd_engine *engine =
        engine_of(&(struct psd_engine_options){.solver = file_of("solver.prototxt", text)});
    CHECK_OK(psd_engine_feed(engine, "data", x, labels, 4));
    return engine;
}

/* --- nets --------------------------------------------------------------------------------------- */

static void a_net_runs_both_ways(void)
{
    struct psd_engine *engine = engine_of(&(struct psd_engine_options){
        .model = file_of("net.prototxt", NET), .all_gradients = true, .threads = 1});
    struct psd_engine_array x = find(engine, "x"), y = find(engine, "y");

    memcpy(x.values, (float[]){1, 2, 3}, 3 * sizeof *x.values);
    CHECK_OK(psd_engine_forward(engine, NULL));
    CHECK_NEAR(y.values[0], 12, 1e-6);
    y.gradient[1] = 5;
    CHECK_OK(psd_engine_backward(engine));
    CHECK_NEAR(x.gradient[0], 10, 1e-6);
    CHECK_NEAR(find(engine, "fc[0]").gradient[5], 15, 1e-6);
    psd_engine_close(engine);
}

static void everything_in_it_can_be_listed(void)
{
    struct psd_engine *engine =
        engine_of(&(struct psd_engine_options){.model = file_of("net.prototxt", NET)});
    struct psd_engine_array array;

    CHECK(psd_engine_layers(engine) == 3 && psd_engine_params(engine) == 2);
    CHECK_TEXT("relu", psd_engine_layer_name(engine, 2));
    CHECK_TEXT("InnerProduct", psd_engine_layer_type(engine, 1));
    CHECK(!psd_engine_layer_name(engine, 3) && !psd_engine_layer_type(engine, 3));
    CHECK_OK(psd_engine_blob_at(engine, 0, &array));
    CHECK_TEXT("x", array.name);
    CHECK(array.axes == 2 && array.dim[1] == 3 && array.count == 3);
    CHECK_OK(psd_engine_param_at(engine, 1, &array));
    CHECK_TEXT("fc[1]", array.name);
    CHECK_STATUS(PSD_EINVAL, psd_engine_param_at(engine, 2, &array));
    CHECK_TEXT("there is no parameter 2: the net has 2 of them", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_engine_blob_at(engine, psd_engine_blobs(engine), &array));
    CHECK_STATUS(PSD_ECONFIG, psd_engine_find(engine, "fc[2]", &array));
    psd_engine_close(engine);
}

static void an_input_takes_another_shape(void)
{
    struct psd_engine *engine =
        engine_of(&(struct psd_engine_options){.model = file_of("net.prototxt", NET)});

    CHECK_OK(psd_engine_reshape(engine, "x", (size_t[]){4, 3}, 2));
    CHECK(find(engine, "x").count == 12 && find(engine, "y").dim[0] == 4);
    CHECK_OK(psd_engine_forward(engine, NULL));
    CHECK_STATUS(PSD_ECONFIG, psd_engine_reshape(engine, "x", (size_t[]){4, 5}, 2));
    CHECK_STATUS(PSD_EINVAL, psd_engine_reshape(engine, "y", (size_t[]){4, 5}, 2));
    CHECK_STATUS(PSD_EINVAL, psd_engine_reshape(engine, "x", NULL, 33));
    psd_engine_close(engine);
}

static void weights_are_saved_and_loaded(void)
{
    const char *saved = test_path("w.caffemodel");
    struct psd_engine *engine =
        engine_of(&(struct psd_engine_options){.model = file_of("net.prototxt", NET)});

    find(engine, "fc[1]").values[1] = 7;
    CHECK_OK(psd_engine_save(engine, saved));
    psd_engine_close(engine);
    engine = engine_of(
        &(struct psd_engine_options){.model = test_path("net.prototxt"), .weights = saved});
    CHECK(find(engine, "fc[1]").values[1] == 7);
    psd_engine_close(engine);
}

/* --- solvers ------------------------------------------------------------------------------------ */

static void a_solver_steps(void)
{
    struct psd_engine *engine = learner("");
    float loss = 0;

    CHECK_OK(psd_engine_step(engine, 300, &loss));
    CHECK(psd_engine_iteration(engine) == 300 && loss < 0.01f);
    CHECK_NEAR(find(engine, "fc[0]").values[0], 2, 0.1);
    CHECK_OK(psd_engine_test(engine)); /* there are no test nets */
    psd_engine_close(engine);
}

static void training_goes_on_from_a_snapshot(void)
{
    struct psd_engine *engine = learner("momentum: 0.5");
    float once = 0, again = 1;

    CHECK_OK(psd_engine_step(engine, 4, NULL));
    CHECK_OK(psd_engine_snapshot(engine));
    CHECK_OK(psd_engine_step(engine, 4, &once));
    CHECK_STATUS(PSD_EINVAL, psd_engine_restore(engine, test_path("ours_iter_4.solverstate")));
    CHECK_TEXT("a snapshot is restored before the first step", psd_error());
    psd_engine_close(engine);
    engine = learner("momentum: 0.5");
    CHECK_OK(psd_engine_restore(engine, test_path("ours_iter_4.solverstate")));
    CHECK_OK(psd_engine_step(engine, 4, &again));
    CHECK(once == again && psd_engine_iteration(engine) == 8);
    psd_engine_close(engine);
}

/* --- mistakes ----------------------------------------------------------------------------------- */

static void mistakes_have_a_sentence(void)
{
    struct psd_engine *engine = NULL;

    CHECK_STATUS(PSD_EINVAL, psd_engine_open(&(struct psd_engine_options){0}, &engine));
    CHECK_TEXT("an engine is opened with a model or a solver, one of the two", psd_error());
    CHECK_STATUS(PSD_ECONFIG,
                 psd_engine_open(&(struct psd_engine_options){.model = "no"}, &engine));
    CHECK_STATUS(PSD_ECONFIG,
                 psd_engine_open(&(struct psd_engine_options){.model = file_of("net.prototxt", NET),
                                                              .backend = "no"},
                                 &engine));
    engine = engine_of(&(struct psd_engine_options){.model = test_path("net.prototxt")});
    CHECK_STATUS(PSD_EINVAL, psd_engine_step(engine, 1, NULL));
    CHECK_STATUS(PSD_EINVAL, psd_engine_feed(engine, "fc", NULL, NULL, 1));
    CHECK_STATUS(PSD_EINVAL, psd_engine_feed(engine, "no", NULL, NULL, 1));
    CHECK(psd_engine_iteration(engine) == 0);
    psd_engine_close(engine);
    psd_engine_close(NULL);
}

static void keep_line(void *context, const char *line)
{
    char *kept = context;

    if (strstr(line, "Ignoring source layer"))
        snprintf(kept, 100, "%s", line);
}

static void what_caffe_would_log_is_told(void)
{
    char kept[100] = "";
    struct psd_engine *engine =
        engine_of(&(struct psd_engine_options){.model = file_of("net.prototxt", NET)});

    CHECK_OK(psd_engine_save(engine, test_path("w.caffemodel")));
    psd_engine_close(engine);
    engine = engine_of(&(struct psd_engine_options){
        .model = file_of("other.prototxt",
                         "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 } "
                         "} }"),
        .weights = test_path("w.caffemodel"),
        .tell = keep_line,
        .context = kept});
    CHECK_TEXT("Ignoring source layer relu", kept);
    psd_engine_close(engine);
}

static void open_survives_every_failed_allocation(void)
{
    const char *model = file_of("net.prototxt", NET);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_engine *engine = NULL;
        psd_alloc_fail_at(n);
        psd_status status =
            psd_engine_open(&(struct psd_engine_options){.model = model, .threads = 1}, &engine);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_engine_close(engine);
    }
}

int main(int argc, char **argv)
{
    RUN(a_net_runs_both_ways)
    RUN(everything_in_it_can_be_listed)
    RUN(an_input_takes_another_shape)
    RUN(weights_are_saved_and_loaded)
    RUN(a_solver_steps)
    RUN(training_goes_on_from_a_snapshot)
    RUN(mistakes_have_a_sentence)
    RUN(what_caffe_would_log_is_told)
    RUN(open_survives_every_failed_allocation)
}
