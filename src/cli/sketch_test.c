/* sketch_test.c - nets of shapes out of files, and what is counted in them. */
#include "base/alloc.h"
#include "cli/sketch.h"
#include "test.h"

#include <string.h>

#define DATA(phase, batch)                                                    \
    "layer { name: 'data' type: 'Data' top: 'data' top: 'label' include { "   \
    "phase: " phase " } transform_param { crop_size: 6 } data_param { source" \
    ": 'nowhere' batch_size: " batch " } }"
#define CONV(name, bottom, more)                                                                  \
    "layer { name: '" name "' type: 'Convolution' bottom: '" bottom "' top: '" name "' " more     \
    "  convolution_param { num_output: 3 kernel_size: 3 pad: 1 weight_filler { type: 'xavier' } " \
    "} }"

static struct psd_cli cli;

static psd_status open_net(const char *text, struct psd_sketch_options *options,
                           struct psd_sketch *out)
{
    FILE *file = fopen(test_path("net.prototxt"), "w");

    CHECK(file);
    fputs(text, file);
    CHECK(fclose(file) == 0);
    cli = (struct psd_cli){.out = stdout, .err = stderr, .program = "poseidon"};
    char *path = psd_alloc_text("%s", test_path("net.prototxt"));
    options->model = path;
    psd_status status = psd_sketch_open(&cli, options, out);
    psd_alloc_free(path);
    return status;
}

static void shapes_are_read(void)
{
    static const char *const bad[] = {"", "x3", "3x", "3x0", "-3", "3 x 4", "3y4", "3x99999999999"};
    struct psd_shape shape;

    CHECK(psd_sketch_read_shape("3x227x227", &shape));
    CHECK(shape.axes == 3 && shape.dim[0] == 3 && shape.dim[1] == 227 && shape.dim[2] == 227);
    CHECK(psd_sketch_read_shape("5,7", &shape));
    CHECK(shape.axes == 2 && shape.dim[0] == 5 && shape.dim[1] == 7);
    CHECK(psd_sketch_read_shape("9", &shape));
    CHECK(shape.axes == 1 && shape.dim[0] == 9);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!psd_sketch_read_shape(bad[i], &shape));
    char many[2 * PSD_BLOB_AXES] = "1";
    for (size_t i = 1; i + 1 < sizeof many; i++)
        many[i] = i % 2 ? 'x' : '1';
    CHECK(!psd_sketch_read_shape(many, &shape));
}

static void phase_batch_and_shape_are_the_options(void)
{
    const char *text = DATA("TRAIN", "4") DATA("TEST", "2");
    struct psd_sketch_options options = {.phase = CAFFE__PHASE__TEST};
    struct psd_sketch sketch;
    char shape[] = "1x2x9";

    CHECK_OK(open_net(text, &options, &sketch));
    CHECK(psd_net_samples(sketch.net) == 2 && sketch.net->blobs[0].count == 216);
    psd_sketch_close(&sketch);
    options =
        (struct psd_sketch_options){.phase = CAFFE__PHASE__TRAIN, .batch = 5, .input_shape = shape};
    CHECK_OK(open_net(text, &options, &sketch));
    CHECK(psd_net_samples(sketch.net) == 5 && sketch.net->blobs[0].count == 90);
    psd_sketch_close(&sketch);
}

/* A shared parameter counts where it is first used, what is measured nowhere. */
static void what_learns_is_counted_once(void)
{
    const char *text = DATA("TRAIN", "4") CONV("a", "data", "param { name: 'w' }") CONV(
        "b", "data",
        "param { name: 'w' } param { lr_mult: 0 }") "layer { name: 'bn' type: 'BatchNorm' bottom: "
                                                    "'a' top: 'bn' }"
                                                    "layer { name: 's' type: 'Scale' bottom: 'bn' "
                                                    "top: 'bn' scale_param { bias_term: true } }";
    static const struct {
        const char *name;
        size_t params;
    } expected[] = {{"data", 0}, {"a", 3 * 3 * 9 + 3}, {"b", 3}, {"bn", 0}, {"s", 6}};
    struct psd_sketch_options options = {.phase = CAFFE__PHASE__TRAIN};
    struct psd_sketch sketch;
    size_t splits = 0;

    CHECK_OK(open_net(text, &options, &sketch));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK(psd_sketch_params(psd_net_layer(sketch.net, expected[i].name)) == expected[i].params);
    for (size_t i = 0; i < sketch.net->n_layers; i++)
        splits += psd_sketch_is_split(&sketch.net->layers[i]);
    CHECK(splits == 1 && sketch.net->n_layers == 6);
    psd_sketch_close(&sketch);
}

static void mistakes_are_told(void)
{
    struct psd_sketch_options options = {.phase = CAFFE__PHASE__TRAIN};
    struct psd_sketch sketch;
    char shape[] = "3by4";

    cli = (struct psd_cli){.out = stdout, .err = stderr, .program = "poseidon"};
    CHECK_STATUS(PSD_EINVAL, psd_sketch_open(&cli, &options, &sketch));
    CHECK(cli.misused && strstr(psd_error(), "a net is needed: --model FILE"));
    options.input_shape = shape;
    CHECK_STATUS(PSD_EINVAL, open_net(DATA("TRAIN", "4"), &options, &sketch));
    CHECK(strstr(psd_error(), "--input-shape: \"3by4\" is no shape such as 3x227x227"));
    options.input_shape = NULL;
    CHECK_STATUS(PSD_ECONFIG, open_net("layer {", &options, &sketch));
}

int main(int argc, char **argv)
{
    RUN(shapes_are_read)
    RUN(phase_batch_and_shape_are_the_options)
    RUN(what_learns_is_counted_once)
    RUN(mistakes_are_told)
}
