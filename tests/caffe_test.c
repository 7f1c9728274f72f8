/* caffe_test.c - layers compute what Caffe's do.
 *
 *     tests/fixtures/layers/<case>/   net.prototxt, weights.caffemodel and what Caffe made of them:
 *         in_x.bin       set before forward           out_y.bin     compared after it
 *         topdiff_y.bin  set before backward          grad_x.bin    compared after it
 *                                                     pgrad_l_0.bin the same, of a parameter
 *                                                     paramafter_l_0.bin  a statistic after forward
 *
 * Files hold floats, least significant byte first. Every case runs on every backend, with one and
 * two threads. */
#include "nets.h"

#include <dirent.h>

static const struct {
    const char *name;
    bool tests; /* in the phase TEST */
} cases[] = {
    {"accuracy_axis", true},
    {"accuracy_ignore", true},
    {"accuracy_top1", true},
    {"accuracy_top3", true},
    {"act_absval", false},
    {"act_bnll", false},
    {"act_clip", false},
    {"act_dropout_test", true},
    {"act_elu", false},
    {"act_exp_base2", false},
    {"act_exp_e", false},
    {"act_log_base10", false},
    {"act_log_e", false},
    {"act_power", false},
    {"act_power0", false},
    {"act_power2", false},
    {"act_power_lin", false},
    {"act_prelu", false},
    {"act_prelu_shared", false},
    {"act_relu", false},
    {"act_relu_neg", false},
    {"act_sigmoid", false},
    {"act_swish", false},
    {"act_tanh", false},
    {"act_threshold", false},
    {"argmax_axis", false},
    {"argmax_maxval", false},
    {"argmax_plain", false},
    {"argmax_topk", false},
    {"batch_reindex", false},
    {"bias_ch", false},
    {"bn_global_train", false},
    {"bn_scale_inplace", false},
    {"bn_test", true},
    {"bn_train", false},
    {"bn_train_2d", false},
    {"concat_axis0", false},
    {"concat_axis1", false},
    {"contrastive_legacy", false},
    {"contrastive_new", false},
    {"conv_11x11_s4", false},
    {"conv_1d", false},
    {"conv_1x1", false},
    {"conv_1x1_stride2", false},
    {"conv_3x3", false},
    {"conv_3x3_pad1", false},
    {"conv_7x7_s2_p3", false},
    {"conv_depthwise", false},
    {"conv_dilation2", false},
    {"conv_group2", false},
    {"conv_multi_bottom", false},
    {"conv_nd_forced", false},
    {"conv_nobias", false},
    {"crop_spatial", false},
    {"deconv_bilinear_up2", false},
    {"deconv_dilation2", false},
    {"deconv_k3s2p1", false},
    {"eltwise_max", false},
    {"eltwise_prod", false},
    {"eltwise_prod_unstable", false},
    {"eltwise_sum", false},
    {"eltwise_sum_coeff", false},
    {"embed", false},
    {"euclidean", false},
    {"filter", false},
    {"flatten", false},
    {"flatten_axes", false},
    {"hinge_l1", false},
    {"hinge_l2", false},
    {"im2col", false},
    {"infogain_bottom", false},
    {"ip_axis2", false},
    {"ip_axis_neg1_nobias", false},
    {"ip_basic", false},
    {"ip_big", false},
    {"ip_transpose", false},
    {"lrn_across", false},
    {"lrn_across_alexnet", false},
    {"lrn_across_k2_ls3", false},
    {"lrn_within", false},
    {"lstm_basic", false},
    {"lstm_expose_hidden", false},
    {"mini_cnn", false},
    {"multinomial_logistic", false},
    {"mvn", false},
    {"mvn_mean_only", false},
    {"parameter_layer", false},
    {"pool_ave_floor", false},
    {"pool_ave_global", false},
    {"pool_ave_k2s2_odd", false},
    {"pool_ave_k3s1p1", false},
    {"pool_ave_k3s2_even", false},
    {"pool_ave_k3s2p1", false},
    {"pool_ave_rect", false},
    {"pool_max_floor", false},
    {"pool_max_global", false},
    {"pool_max_k2s2_odd", false},
    {"pool_max_k3s1p1", false},
    {"pool_max_k3s2_even", false},
    {"pool_max_k3s2p1", false},
    {"pool_max_k5s3p2", false},
    {"pool_max_mask", false},
    {"pool_max_rect", false},
    {"reduction_asum_axis1", false},
    {"reduction_mean_axis1", false},
    {"reduction_sum_all", false},
    {"reduction_sum_axis1", false},
    {"reduction_sumsq_axis1", false},
    {"reshape_infer", false},
    {"rnn_basic", false},
    {"scale_axis0_all", false},
    {"scale_ch_bias", false},
    {"scale_scalar", false},
    {"scale_two_bottoms", false},
    {"shared_weights", false},
    {"sigmoidce_batch_size", false},
    {"sigmoidce_default", false},
    {"sigmoidce_none", false},
    {"sigmoidce_valid", false},
    {"silence", false},
    {"slice_even_axis0", false},
    {"slice_points", false},
    {"softmax", false},
    {"softmax_axis_last", false},
    {"softmax_spatial", false},
    {"softmaxloss_axis", false},
    {"softmaxloss_default", false},
    {"softmaxloss_full_ignore", false},
    {"softmaxloss_none_ignore", false},
    {"softmaxloss_normalize_false", false},
    {"softmaxloss_valid_ignore", false},
    {"softmaxloss_weight", false},
    {"split", false},
    {"split_implicit", false},
    {"spp_max", false},
    {"tile_axis1", false},
};

enum { LARGEST = 1 << 20 };

/* A case on its way: its net, and how many of its files have been of use. */
struct parity {
    struct lab lab;
    const char *name;
    size_t used;
};

static void path_of(const struct parity *p, const char *file, char *out, size_t room)
{
    snprintf(out, room, "tests/fixtures/layers/%s/%s", p->name, file);
}

/* Reads <prefix>_<name>.bin, if there is one, of `count` floats. */
static bool read_bin(struct parity *p, const char *prefix, const char *name, float *to,
                     size_t count)
{
    char path[1000], file[500];

    snprintf(file, sizeof file, "%s_%s.bin", prefix, name);
    path_of(p, file, path, sizeof path);
    FILE *from = fopen(path, "rb");
    if (!from)
        return false;
    CHECK(fread(to, sizeof *to, count, from) == count);
    CHECK(fgetc(from) == EOF);
    fclose(from);
    p->used++;
    return true;
}

/* Within 1e-5 of the tensor's largest magnitude. */
static void compare(struct parity *p, const char *prefix, const char *name, const float *ours,
                    size_t count)
{
    static float theirs[LARGEST];
    double most = 0, worst = 0;

    CHECK(count <= LARGEST);
    if (!read_bin(p, prefix, name, theirs, count))
        return;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)theirs[i]));
        worst = fmax(worst, fabs((double)ours[i] - (double)theirs[i]));
    }
    if (!(worst <= (most > 0 ? 1e-5 * most : 1e-6)))
        TEST_FAIL("%s_%s of %s: off by %g, and its largest value is %g", prefix, name, p->name,
                  worst, most);
}

static void build(struct parity *p, bool tests)
{
    struct psd_net_options options = {.phase = tests ? CAFFE__PHASE__TEST : CAFFE__PHASE__TRAIN};
    struct psd_document *weights = NULL;
    char path[1000];

    path_of(p, "net.prototxt", path, sizeof path);
    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_AUTO, NET, &p->lab.document));
    CHECK_OK(lab_build(&p->lab, &options));
    path_of(p, "weights.caffemodel", path, sizeof path);
    if (access(path, F_OK) != 0)
        return;
    CHECK_OK(psd_document_read(path, PSD_DOCUMENT_AUTO, NET, &weights));
    CHECK_OK(psd_net_load(p->lab.net, weights));
    psd_document_destroy(weights);
}

/* Where Caffe computes in place, our net may have several blobs of a name. What comes out is in the
 * last; the gradient that Caffe is left with belongs to the first. */
static bool is_last(const struct psd_net *net, size_t i)
{
    return psd_net_blob(net, net->blob_names[i]) == &net->blobs[i];
}

static bool is_first(const struct psd_net *net, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(net->blob_names[k], net->blob_names[i]) == 0)
            return false;
    }
    return true;
}

/* What is there of each parameter: its value after a forward that measures, its gradient. */
static void compare_params(struct parity *p, const char *prefix,
                           float *(*values)(const struct psd_blob *blob))
{
    const struct psd_net *net = p->lab.net;

    for (size_t i = 0; i < net->n_layers; i++) {
        const struct psd_layer *layer = &net->layers[i];
        for (size_t k = 0; k < layer->n_params; k++) {
            char name[200];
            snprintf(name, sizeof name, "%s_%zu", layer->name, k);
            compare(p, prefix, name, values(&layer->params[k]->blob), layer->params[k]->blob.count);
        }
    }
}

static void forward(struct parity *p)
{
    struct psd_net *net = p->lab.net;

    for (size_t i = 0; i < net->n_blobs; i++)
        read_bin(p, "in", net->blob_names[i], psd_blob_values(&net->blobs[i]), net->blobs[i].count);
    CHECK_OK(psd_net_forward(net, NULL));
    for (size_t i = 0; i < net->n_blobs; i++) {
        if (is_last(net, i))
            compare(p, "out", net->blob_names[i], psd_blob_values(&net->blobs[i]),
                    net->blobs[i].count);
    }
    compare_params(p, "paramafter", psd_blob_values);
}

static void compare_gradients(struct parity *p)
{
    const struct psd_net *net = p->lab.net;

    for (size_t i = 0; i < net->n_blobs; i++) {
        if (net->blobs[i].diff && is_first(net, i))
            compare(p, "grad", net->blob_names[i], psd_blob_gradient(&net->blobs[i]),
                    net->blobs[i].count);
    }
    compare_params(p, "pgrad", psd_blob_gradient);
}

static void backward(struct parity *p)
{
    struct psd_net *net = p->lab.net;

    for (size_t i = 0; i < net->n_blobs; i++) {
        if (net->blobs[i].diff && is_last(net, i) &&
            read_bin(p, "topdiff", net->blob_names[i], psd_blob_gradient(&net->blobs[i]),
                     net->blobs[i].count))
            psd_net_give_diff(net, &net->blobs[i]);
    }
    CHECK_OK(psd_net_backward(net, true));
    compare_gradients(p);
}

static size_t count_files(const struct parity *p)
{
    char path[1000];
    size_t count = 0;

    path_of(p, ".", path, sizeof path);
    DIR *folder = opendir(path);
    CHECK(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) /* NOLINT: one thread */
        count += strstr(entry->d_name, ".bin") != NULL;
    closedir(folder);
    return count;
}

static void run_case(const char *backend, unsigned threads, size_t i)
{
    struct parity p = {.name = cases[i].name};

    if (!lab_open(&p.lab, backend, threads))
        return;
    fprintf(stderr, "    %s on %s, %u threads\n", p.name, backend, threads);
    build(&p, cases[i].tests);
    forward(&p);
    backward(&p);
    if (p.used != count_files(&p))
        TEST_FAIL("%s: only %zu of %zu files were of use", p.name, p.used, count_files(&p));
    lab_close(&p.lab);
}

static void every_case_agrees_on_every_backend(void)
{
    const char *const *backends = psd_ops_backends();

    for (size_t b = 0; backends[b]; b++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            run_case(backends[b], 1, i);
            run_case(backends[b], 2, i);
        }
    }
}

/* --- dropout, whose mask is drawn ------------------------------------------------------------- */

/* A mask is read off an output, and then output and gradient must follow from it. */
static void check_mask(const float *x, const float *y, const float *dy, const float *dx,
                       size_t count, float ratio)
{
    size_t dropped = 0;

    for (size_t i = 0; i < count; i++) {
        float factor = y[i] == 0 ? 0 : 1 / (1 - ratio);
        CHECK_NEAR(y[i], x[i] * factor, 1e-5);
        CHECK_NEAR(dx[i], dy[i] * factor, 1e-5);
        dropped += y[i] == 0;
    }
    CHECK_NEAR((double)dropped / (double)count, ratio, 0.15);
}

static void dropout_drops_as_caffe_does(void)
{
    enum { COUNT = 120 };
    struct parity p = {.name = "act_dropout_train"};
    float x[COUNT], y[COUNT], dy[COUNT], dx[COUNT];

    CHECK(lab_open(&p.lab, NULL, 1));
    build(&p, false);
    CHECK(read_bin(&p, "in", "x", x, COUNT) && read_bin(&p, "out", "y", y, COUNT));
    CHECK(read_bin(&p, "topdiff", "y", dy, COUNT) && read_bin(&p, "grad", "x", dx, COUNT));
    check_mask(x, y, dy, dx, COUNT, 0.4f);

    memcpy(lab_values(&p.lab, "x"), x, sizeof x);
    CHECK_OK(psd_net_forward(p.lab.net, NULL));
    memcpy(lab_gradient(&p.lab, "y"), dy, sizeof dy);
    CHECK_OK(psd_net_backward(p.lab.net, true));
    check_mask(x, lab_values(&p.lab, "y"), dy, lab_gradient(&p.lab, "x"), COUNT, 0.4f);
    lab_close(&p.lab);
}

int main(int argc, char **argv)
{
    RUN(every_case_agrees_on_every_backend)
    RUN(dropout_drops_as_caffe_does)
}
