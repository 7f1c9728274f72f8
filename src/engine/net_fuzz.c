/* net_fuzz.c - any text as a net: it is refused with a sentence, or it computes forward and backward
 * without a crash.
 *
 * Data layers are left out, since they read files that the text names. The device has a small budget,
 * so that a large net is one that does not fit. */
#include "documents.h"
#include "engine/net.h"
#include "fuzz.h"

enum { BUDGET = 1 << 20, MOST_LAYERS = 30 };

struct stage {
    struct psd_device *device;
    struct psd_ops *ops;
};

static struct stage make_stage(void)
{
    struct psd_ops_options options = {.threads = 1, .backend = "plain"};
    struct stage stage;

    CHECK_OK(psd_device_open("host", BUDGET, &stage.device));
    options.device = stage.device;
    CHECK_OK(psd_ops_open(&options, &stage.ops));
    return stage;
}

static bool is_wanted(const Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        if (net->layer[i]->type && strcmp(net->layer[i]->type, "Data") == 0)
            return false;
    }
    return net->n_layer <= MOST_LAYERS;
}

static void run(const struct stage *stage, struct psd_document *document)
{
    struct psd_net_options options = {
        .document = document, .device = stage->device, .ops = stage->ops, .seed = 1};
    struct psd_net *net = NULL;
    float loss;

    psd_status status = psd_net_create(&options, &net);
    if (status == PSD_OK)
        status = psd_net_forward(net, &loss);
    if (status == PSD_OK)
        status = psd_net_backward(net, true);
    if (status != PSD_OK && !*psd_error())
        abort(); /* a mistake without a sentence */
    psd_net_destroy(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stage stage; /* made once, for speed; ends with the process */
    struct psd_document *document = NULL;

    if (!stage.ops)
        stage = make_stage();
    if (read_text(NET, "fuzz", (const char *)data, size, &document) != PSD_OK)
        return 0;
    if (is_wanted(net_in(document)))
        run(&stage, document);
    psd_document_destroy(document);
    return 0;
}
