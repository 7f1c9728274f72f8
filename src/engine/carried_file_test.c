#include "engine/carried_file.h"
#include "nets.h"

#define NET_OF(name, streams)                                                                      \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'c' input_param { shape { dim: 2 dim: " streams \
    " dim: 3 } shape { dim: 2 dim: " streams " } } }"                                              \
    "layer { name: 'b' type: 'BatchNorm' bottom: 'x' top: 'n' }"                                   \
    "layer { name: '" name "' type: 'LSTM' bottom: 'n' bottom: 'c' top: 'y' "                      \
    "recurrent_param { num_output: 2 } }"

static float *own_state(const struct lab *lab)
{
    return psd_blob_values(psd_net_layer(lab->net, "l")->carried[0].blob);
}

/* What a net with a state of its own saves, given to a net of that text. */
static psd_status hand_over(const char *text, float *out)
{
    struct lab from = lab_of(NET_OF("l", "4")), to = lab_of(text);
    struct psd_document *document = NULL;

    lab_scatter(own_state(&from), 16, 3);
    CHECK_OK(psd_document_create(&psd__state__descriptor, "state", 0, &document));
    CHECK_OK(psd_carried_save(from.net, document));
    CHECK(((Psd__State *)document->root)->n_carried == 1); /* what is averaged is a parameter */
    psd_status status = psd_carried_load(to.net, (Psd__State *)document->root, "s");
    if (out)
        memcpy(out, own_state(&to), 16 * sizeof *out);
    psd_document_destroy(document);
    lab_close(&from);
    lab_close(&to);
    return status;
}

static void a_state_is_saved_and_loaded(void)
{
    float got[16], wanted[16];

    lab_scatter(wanted, 16, 3);
    CHECK_OK(hand_over(NET_OF("l", "4"), got));
    CHECK(same_bits(got, wanted, sizeof got));
}

static void a_state_of_another_net_is_refused(void)
{
    const char *sentence =
        "s: the net has no layer l that carries 16 values; is the file of another "
        "net?";

    CHECK_STATUS(PSD_ECONFIG, hand_over(NET_OF("other", "4"), NULL));
    CHECK_TEXT(sentence, psd_error());
    CHECK_STATUS(PSD_ECONFIG, hand_over(NET_OF("l", "3"), NULL));
    CHECK_TEXT(sentence, psd_error());
    CHECK_STATUS(PSD_ECONFIG, hand_over("layer { name: 'l' type: 'Input' top: 'x' input_param { "
                                        "shape { dim: 2 } } }",
                                        NULL));
    CHECK_TEXT(sentence, psd_error());
}

int main(int argc, char **argv)
{
    RUN(a_state_is_saved_and_loaded)
    RUN(a_state_of_another_net_is_refused)
}
