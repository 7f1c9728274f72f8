/* links.h - Convolution and Deconvolution against the sum that defines them, on every backend.
 *
 *     image[q] --- weight ---> result[p]        q = p * stride - pad + tap * dilation, on each axis
 *
 * All values that one weight ties together are a link; a layer's result and each of its gradients is
 * the sum over all links of a product of the other two. Images have three spatial axes here; one with
 * fewer has sizes of 1 in front. */
#ifndef PSD_TESTS_LINKS_H
#define PSD_TESTS_LINKS_H

#include "nets.h"

/* A layer's bottom as the prototxt has it, and the same in numbers. */
struct links {
    const char *shape, *param;
    long samples, channels, outputs, group; /* channels of the bottom, outputs of the top */
    long size[3], kernel[3], stride[3], pad[3], dilation[3]; /* size of the bottom */
};

enum { LINKS_MOST = 20000 };

/* Everything of one layer: image and result, weights; values and the sums that are expected. */
struct links_sums {
    long image[3], result[3]; /* sizes */
    long channels, outputs;   /* of the image, and of the result */
    double to_image[LINKS_MOST], to_result[LINKS_MOST], to_weights[LINKS_MOST];
};

static inline void links_sizes(const struct links *l, bool back, struct links_sums *out)
{
    *out = (struct links_sums){.channels = back ? l->outputs : l->channels,
                               .outputs = back ? l->channels : l->outputs};
    for (int i = 0; i < 3; i++) {
        long reach = l->dilation[i] * (l->kernel[i] - 1) + 1, pads = 2 * l->pad[i];
        out->image[i] = back ? (l->size[i] - 1) * l->stride[i] + reach - pads : l->size[i];
        out->result[i] = back ? l->size[i] : (l->size[i] + pads - reach) / l->stride[i] + 1;
    }
}

static inline size_t links_count(const struct links *l, const long sizes[3])
{
    return (size_t)(l->samples * l->outputs * sizes[0] * sizes[1] * sizes[2]);
}

/* Taps and places of one pair of channel and output: `at` are the places of their first values. */
static inline void links_add(const struct links *l, struct links_sums *s, const long at[3],
                             const float *image, const float *weights, const float *result)
{
    long taps = l->kernel[0] * l->kernel[1] * l->kernel[2];
    long places = s->result[0] * s->result[1] * s->result[2];

    for (long i = 0; i < taps * places; i++) {
        long tap = i % taps, place = i / taps, q = 0, step = 1;
        long w = at[1] + tap, r = at[2] + place;
        for (int axis = 2; axis >= 0; axis--) {
            long here = place % s->result[axis] * l->stride[axis] - l->pad[axis] +
                        tap % l->kernel[axis] * l->dilation[axis];
            q = here < 0 || here >= s->image[axis] || q < 0 ? -1 : q + here * step;
            step *= s->image[axis];
            place /= s->result[axis];
            tap /= l->kernel[axis];
        }
        if (q < 0)
            continue;
        s->to_image[at[0] + q] += (double)weights[w] * (double)result[r];
        s->to_result[r] += (double)weights[w] * (double)image[at[0] + q];
        s->to_weights[w] += (double)image[at[0] + q] * (double)result[r];
    }
}

static inline void links_sum(const struct links *l, struct links_sums *s, const float *image,
                             const float *weights, const float *result)
{
    long taps = l->kernel[0] * l->kernel[1] * l->kernel[2];
    long pixels = s->image[0] * s->image[1] * s->image[2];
    long places = s->result[0] * s->result[1] * s->result[2];
    long share = s->channels / l->group;

    for (long n = 0; n < l->samples; n++) {
        for (long o = 0; o < s->outputs; o++) {
            for (long c = 0; c < share; c++) {
                long channel = o / (s->outputs / l->group) * share + c;
                long at[3] = {(n * s->channels + channel) * pixels, (o * share + c) * taps,
                              (n * s->outputs + o) * places};
                links_add(l, s, at, image, weights, result);
            }
        }
    }
}

static inline void links_compare(const char *what, const struct links *l, const float *got,
                                 const double *wanted, size_t count)
{
    double most = 1e-3;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(wanted[i]));
    for (size_t i = 0; i < count; i++) {
        if (!(fabs((double)got[i] - wanted[i]) <= 1e-5 * most))
            TEST_FAIL("%s of %s, value %zu of %zu: %g, not %g", what, l->param, i, count,
                      (double)got[i], wanted[i]);
    }
}

/* y with its bias, and the bias's gradient. */
static inline void links_bias(const struct links *l, const struct lab *lab, const double *sums,
                              double *wanted, double *db)
{
    const struct psd_blob *y = psd_net_blob(lab->net, "y");
    size_t inner = y->count / (size_t)(l->samples * l->outputs);

    for (size_t i = 0; i < y->count; i++) {
        size_t o = i / inner % (size_t)l->outputs;
        wanted[i] = sums[i] + (double)psd_blob_values(&lab->net->params[1]->blob)[o];
        db[o] += (double)psd_blob_gradient(y)[i];
    }
}

static inline void links_check_on(const struct links *l, bool back, struct lab *lab)
{
    static struct links_sums sums;
    static double y[LINKS_MOST], db[LINKS_MOST];
    struct psd_net *net = lab->net;
    const struct psd_blob *x = psd_net_blob(net, "x"), *top = psd_net_blob(net, "y");
    const struct psd_blob *w = &net->params[0]->blob, *bias = &net->params[1]->blob;
    const float *xs = psd_blob_values(x), *ws = psd_blob_values(w), *dy = psd_blob_gradient(top);

    CHECK(x->count < LINKS_MOST && w->count < LINKS_MOST && top->count < LINKS_MOST);
    lab_scatter(psd_blob_values(x), x->count, 1);
    lab_scatter(psd_blob_values(w), w->count, 2);
    lab_scatter(psd_blob_values(bias), bias->count, 3);
    CHECK_OK(psd_net_forward(net, NULL));
    lab_scatter(psd_blob_gradient(top), top->count, 4);
    links_sizes(l, back, &sums);
    CHECK(top->count == links_count(l, back ? sums.image : sums.result));
    links_sum(l, &sums, back ? dy : xs, ws, back ? xs : dy);
    memset(db, 0, sizeof db);
    links_bias(l, lab, back ? sums.to_image : sums.to_result, y, db);
    links_compare("y", l, psd_blob_values(top), y, top->count);
    CHECK_OK(psd_net_backward(net, true));
    links_compare("dx", l, psd_blob_gradient(x), back ? sums.to_result : sums.to_image, x->count);
    links_compare("dw", l, psd_blob_gradient(w), sums.to_weights, w->count);
    links_compare("db", l, psd_blob_gradient(bias), db, bias->count);
}

static inline void links_check(const struct links *l, const char *type, bool back)
{
    char net[1000];

    snprintf(net, sizeof net,
             "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { "
             "shape { %s } } } layer { name: 'l' type: '%s' bottom: 'x' top: 'y' "
             "convolution_param { %s } }",
             l->shape, type, l->param);
    for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
        struct lab lab;
        if (!lab_open(&lab, *backend, 2))
            continue;
        lab.document = net_of(net);
        CHECK_OK(lab_build(&lab, NULL));
        links_check_on(l, back, &lab);
        lab_close(&lab);
    }
}

#endif
