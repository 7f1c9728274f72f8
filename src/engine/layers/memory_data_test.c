#include "engine/layers/memory_data.h"
#include "nets.h"

#define MEMORY                                                \
    "layer { name: 'd' type: 'MemoryData' top: 'x' top: 'l' " \
    "memory_data_param { batch_size: 2 channels: 1 height: 1 width: 3 } }"

/* Sample n has the values 10 n, 10 n + 1, 10 n + 2 and the label n. */
static float data[18], labels[6];

static struct lab ready(void)
{
    struct lab lab = lab_of(MEMORY);

    for (int n = 0; n < 6; n++) {
        labels[n] = (float)n;
        for (int i = 0; i < 3; i++)
            data[3 * n + i] = (float)(10 * n + i);
    }
    CHECK_OK(psd_memory_data_set(psd_net_layer(lab.net, "d"), data, labels, 6));
    return lab;
}

/* One more forward has the batch that starts with sample `first`. */
static void check_next(const struct lab *lab, float first)
{
    CHECK_OK(psd_net_forward(lab->net, NULL));
    CHECK_NEAR(lab_values(lab, "l")[0], first, 0);
    CHECK_NEAR(lab_values(lab, "l")[1], first + 1, 0);
    CHECK_NEAR(lab_values(lab, "x")[2], first * 10 + 2, 0);
    CHECK_NEAR(lab_values(lab, "x")[3], first * 10 + 10, 0);
}

static void batches_come_in_order_and_over_again(void)
{
    struct lab lab = ready();

    check_next(&lab, 0);
    check_next(&lab, 2);
    check_next(&lab, 4);
    check_next(&lab, 0);
    lab_close(&lab);
}

static void new_samples_start_at_their_first(void)
{
    struct lab lab = ready();

    check_next(&lab, 0);
    check_next(&lab, 2);
    CHECK_OK(psd_memory_data_set(psd_net_layer(lab.net, "d"), data, labels, 4));
    check_next(&lab, 0);
    check_next(&lab, 2);
    check_next(&lab, 0);
    lab_close(&lab);
}

static void the_net_can_seek(void)
{
    struct lab lab = ready();
    struct psd_net_position of_two = {.iteration = 1, .of = 2}; /* worker 0 */

    CHECK_OK(psd_net_seek(lab.net, &(struct psd_net_position){.iteration = 5}));
    check_next(&lab, 4);
    check_next(&lab, 0);
    CHECK_OK(psd_net_seek(lab.net, &of_two));
    check_next(&lab, 4);
    check_next(&lab, 2);
    lab_close(&lab);
}

static void mistakes_are_sentences(void)
{
    struct lab lab = lab_of(MEMORY "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'y' }");

    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("test.prototxt:1:1: layer d: has no samples yet; a program gives it some with "
               "psd_engine_feed, and the poseidon command has none to give: for eval --set take an "
               "Input layer",
               psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_memory_data_set(psd_net_layer(lab.net, "d"), data, labels, 5));
    CHECK_TEXT("layer d: 5 samples are no whole number of batches of 2", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_memory_data_set(psd_net_layer(lab.net, "r"), data, labels, 6));
    CHECK_TEXT("layer r is a ReLU layer; samples in memory are for MemoryData", psd_error());
    lab_close(&lab);
    CHECK_TEXT("test.prototxt:1:56: layer d: memory_data_param has batch_size, channels, height "
               "and width, and none of them is 0",
               lab_refuses("layer { name: 'd' type: 'MemoryData' top: 'x' top: 'l' "
                           "memory_data_param { batch_size: 2 } }"));
}

int main(int argc, char **argv)
{
    RUN(batches_come_in_order_and_over_again)
    RUN(new_samples_start_at_their_first)
    RUN(the_net_can_seek)
    RUN(mistakes_are_sentences)
}
