/* net_debug_test.c - debug_info says what Caffe's says. */
#include "nets.h"

static void keep(void *context, const char *line, size_t length)
{
    char *text = context;

    snprintf(text + strlen(text), 2000 - strlen(text), "%.*s", (int)length, line);
}

static void every_pass_is_told(void)
{
    char text[2000] = "";
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_INFO, PSD_LOG_NO_RANK, keep, text);
    struct lab lab = lab_with(
        "debug_info: true layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 "
        "dim: 2 } } } layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'y' param { name: "
        "'w' } inner_product_param { num_output: 1 weight_filler { value: 3 } bias_filler { value: "
        "-1 } } } layer { name: 'b' type: 'Power' bottom: 'y' top: 'z' loss_weight: 1 power_param "
        "{ scale: -2 } }",
        &(struct psd_net_options){.log = &log});
    memcpy(lab_values(&lab, "x"), (float[]){1, -5}, 2 * sizeof(float));
    text[0] = '\0';
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_OK(psd_net_backward(lab.net, true));
    CHECK_TEXT("    [Forward] Layer x, top blob x data: 3\n"
               "    [Forward] Layer a, top blob y data: 13\n"
               "    [Forward] Layer a, param blob w data: 3\n"
               "    [Forward] Layer a, param blob 1 data: 1\n"
               "    [Forward] Layer b, top blob z data: 26\n"
               "    [Backward] Layer b, bottom blob y diff: 2\n"
               "    [Backward] Layer a, param blob 0 diff: 6\n"
               "    [Backward] Layer a, param blob 1 diff: 2\n"
               "    [Backward] All net params (data, diff): L1 norm = (7, 14); "
               "L2 norm = (4.3589, 10.3923)\n",
               text);
    lab_close(&lab);
    psd_log_fini(&log);
}

int main(int argc, char **argv)
{
    RUN(every_pass_is_told)
}
