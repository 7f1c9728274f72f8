#include "nets.h"

#define DATA "layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }\n"
#define IP(name, bottom, top)                                                            \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" top "' " \
    "inner_product_param { num_output: 2 weight_filler { type: 'gaussian' } "            \
    "bias_filler { type: 'uniform' } } }\n"
#define NET_TEXT "name: 'two' " DATA IP("a", "x", "ha") IP("b", "ha", "hb")

static void saved_weights_load_into_another_net(void)
{
    struct lab from = lab_of(NET_TEXT);
    struct lab to = lab_with(NET_TEXT, &(struct psd_net_options){.seed = 2});
    struct psd_document *weights = NULL;

    CHECK_OK(psd_document_create(NET, "saved", 0, &weights));
    CHECK_OK(psd_net_save(from.net, NULL, weights));
    CHECK_TEXT("two", net_in(weights)->name);
    CHECK(net_in(weights)->n_layer == 3 && net_in(weights)->layer[1]->n_blobs == 2);
    CHECK(net_in(weights)->layer[1]->blobs[0]->n_diff == 0);
    CHECK_OK(psd_net_load(to.net, weights));
    for (size_t i = 0; i < 4; i++) {
        const struct psd_blob *a = &from.net->params[i]->blob, *b = &to.net->params[i]->blob;
        CHECK(same_bits(psd_blob_values(a), psd_blob_values(b), a->count * sizeof(float)));
    }
    psd_document_destroy(weights);
    lab_close(&to);
    lab_close(&from);
}

static void gradients_are_saved_on_request(void)
{
    struct lab lab = lab_of(NET_TEXT);
    struct psd_document *weights = NULL;
    float diff[] = {1, 2, 3, 4, 5, 6}, *diffs[] = {diff, diff + 1, diff + 2, diff + 4};

    CHECK_OK(psd_document_create(NET, "saved", 0, &weights));
    CHECK_OK(psd_net_save(lab.net, diffs, weights));
    CHECK(net_in(weights)->layer[1]->blobs[0]->n_diff == 6);
    CHECK(net_in(weights)->layer[2]->blobs[1]->n_diff == 2);
    CHECK(same_bits(net_in(weights)->layer[2]->blobs[1]->diff, diff + 4, 2 * sizeof *diff));
    psd_document_destroy(weights);
    lab_close(&lab);
}

/* Loads weights written as text; the first value of the first parameter is 7 where they fit. */
static psd_status load(struct lab *lab, const char *text)
{
    struct psd_document *weights = net_of(text);
    psd_status status = psd_net_load(lab->net, weights);

    psd_document_destroy(weights);
    return status;
}

#define SIX "data: 7 data: 1 data: 1 data: 1 data: 1 data: 1"
#define TWO "data: 1 data: 1"

static void old_files_have_four_axes_and_new_ones_a_shape(void)
{
    static const char *const texts[] = {
        "layer { name: 'a' blobs { shape { dim: 2 dim: 3 } " SIX " } blobs { shape { dim: 2 } " TWO
        " } }",
        "layer { name: 'a' blobs { num: 1 channels: 1 height: 2 width: 3 " SIX
        " } blobs { num: 1 channels: 1 height: 1 width: 2 " TWO " } }",
        "layer { name: 'a' blobs { shape { dim: 2 dim: 3 } double_data: 7 double_data: 1 "
        "double_data: 1 double_data: 1 double_data: 1 double_data: 1 } "
        "blobs { shape { dim: 2 } " TWO " } }",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lab lab = lab_of(NET_TEXT);
        CHECK_OK(load(&lab, texts[i]));
        CHECK_NEAR(psd_blob_values(&lab.net->params[0]->blob)[0], 7, 0);
        lab_close(&lab);
    }
}

static char lines[400];

static void keep_line(void *context, const char *text, size_t length)
{
    size_t used = strlen(lines);

    (void)context;
    snprintf(lines + used, sizeof lines - used, "%.*s", (int)length, text);
}

static void a_layer_that_the_net_lacks_is_told(void)
{
    struct psd_log log;
    psd_log_init(&log, PSD_LOG_INFO, PSD_LOG_NO_RANK, keep_line, NULL);
    struct lab lab = lab_with(NET_TEXT, &(struct psd_net_options){.log = &log});

    CHECK_OK(load(&lab, "layer { name: 'c' blobs { shape { dim: 1 } data: 1 } }"
                        "layer { name: 'a' blobs { shape { dim: 2 dim: 3 } " SIX
                        " } blobs { shape { dim: 2 } " TWO " } }"));
    CHECK_TEXT("Ignoring source layer c\n", lines);
    *lines = 0;
    CHECK_OK(load(&lab, "layer { name: 'c' blobs { shape { dim: 1 } data: 1 } }"));
    CHECK_TEXT("Ignoring source layer c\nwarning: test.prototxt has weights for no layer of this "
               "net, which keeps those it has; is it of another net?\n",
               lines);
    lab_close(&lab);
    psd_log_fini(&log);
}

static void weights_of_another_net_are_refused(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"layer { name: 'a' blobs { shape { dim: 3 dim: 2 } " SIX " } blobs { shape { dim: 2 } " TWO
         " } }",
         "test.prototxt: parameter 0 of layer a: the file has the shape 3 2 (6), the net has 2 3 "
         "(6)"},
        {"layer { name: 'a' blobs { shape { dim: 2 dim: 3 } " TWO " } blobs { } }",
         "test.prototxt: parameter 0 of layer a: the file has 2 values instead of 6"},
        {"layer { name: 'a' blobs { shape { dim: 2 dim: 3 } " SIX " } }",
         "test.prototxt: layer a has 1 blobs, the net's has 2"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = lab_of(NET_TEXT);
        CHECK_STATUS(PSD_ECONFIG, load(&lab, cases[i].text));
        CHECK_TEXT(cases[i].sentence, psd_error());
        lab_close(&lab);
    }
}

int main(int argc, char **argv)
{
    RUN(saved_weights_load_into_another_net)
    RUN(gradients_are_saved_on_request)
    RUN(old_files_have_four_axes_and_new_ones_a_shape)
    RUN(a_layer_that_the_net_lacks_is_told)
    RUN(weights_of_another_net_are_refused)
}
