#include "engine/carried_file.h"
#include "nets.h"

#define NET_OF(name, streams)                                                                      \
    "layer { name: 'd' type: 'Input' top: 'x' top: 'c' input_param { shape { dim: 2 dim: " streams \
    " dim: 3 } shape { dim: 2 dim: " streams " } } }"                                              \
    "layer { name: 'b' type: 'BatchNorm' bottom: 'x' top: 'n' }"                                   \
    "layer { name: '" name "' type: 'LSTM' bottom: 'n' bottom: 'c' top: 'y' "                      \
    "recurrent_param { num_output: 2 } }"

enum { WIDTH = 16 }; /* of what the LSTM of four streams carries */

/* What two workers of a net carry, saved and given to `workers` of a net of that text. */
static psd_status hand_over(const char *text, float *out, unsigned workers)
{
    struct lab from = lab_of(NET_OF("l", "4")), to = lab_of(text);
    struct psd_document *document = NULL;
    float rows[2 * WIDTH];

    lab_scatter(rows, sizeof rows / sizeof *rows, 3);
    CHECK(psd_carried_count(from.net) == WIDTH); /* what is averaged is a parameter */
    CHECK_OK(psd_document_create(&psd__state__descriptor, "state", 0, &document));
    CHECK_OK(psd_carried_save(from.net, rows, 2, document));
    psd_status status = psd_carried_load(to.net, out, workers, (Psd__State *)document->root, "s");
    psd_document_destroy(document);
    lab_close(&from);
    lab_close(&to);
    return status;
}

static void a_state_is_saved_and_loaded(void)
{
    float got[3 * WIDTH] = {0}, wanted[3 * WIDTH] = {0};

    lab_scatter(wanted, (size_t)2 * WIDTH, 3);
    for (unsigned workers = 1; workers <= 3; workers++) {
        CHECK_OK(hand_over(NET_OF("l", "4"), got, workers));
        CHECK(same_bits(got, wanted, (size_t)workers * WIDTH * sizeof *got));
    }
}

static void a_net_gives_and_takes_what_it_carries(void)
{
    struct lab lab = lab_of(NET_OF("l", "4"));
    float put[WIDTH], taken[WIDTH];

    lab_scatter(put, WIDTH, 5);
    psd_carried_put(lab.net, put);
    CHECK(
        same_bits(put, psd_blob_values(psd_net_layer(lab.net, "l")->carried[0].blob), sizeof put));
    psd_carried_take(lab.net, taken);
    CHECK(same_bits(put, taken, sizeof put));
    lab_close(&lab);
}

static void a_state_of_another_net_is_refused(void)
{
    float rows[2 * WIDTH];
    const char *sentence =
        "s: the net has no layer l that carries 16 values; is the file of another "
        "net?";

    CHECK_STATUS(PSD_ECONFIG, hand_over(NET_OF("other", "4"), rows, 2));
    CHECK_TEXT(sentence, psd_error());
    CHECK_STATUS(PSD_ECONFIG, hand_over(NET_OF("l", "3"), rows, 2));
    CHECK_TEXT(sentence, psd_error());
    CHECK_STATUS(PSD_ECONFIG, hand_over("layer { name: 'l' type: 'Input' top: 'x' input_param { "
                                        "shape { dim: 2 } } }",
                                        rows, 2));
    CHECK_TEXT(sentence, psd_error());
}

int main(int argc, char **argv)
{
    RUN(a_state_is_saved_and_loaded)
    RUN(a_net_gives_and_takes_what_it_carries)
    RUN(a_state_of_another_net_is_refused)
}
