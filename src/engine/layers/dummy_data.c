/* dummy_data.c - DummyData: tops that a filler fills, for timing and for tests.
 *
 * A constant is filled in once; whatever is drawn is drawn anew for each forward, as a function of
 * seed, iteration, layer, top and place among the samples of all workers. */
#include "engine/filler.h"
#include "engine/layer.h"
#include "engine/net.h"

#include <assert.h>
#include <string.h>

static const Caffe__DummyDataParameter *param_of(const struct psd_layer *layer)
{
    static const Caffe__DummyDataParameter none = CAFFE__DUMMY_DATA_PARAMETER__INIT;
    return layer->param->dummy_data_param ? layer->param->dummy_data_param : &none;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* What a prototxt may give once for all tops or once for each. */
static psd_status check_count(const struct psd_layer *layer, const char *what, unsigned field,
                              size_t count)
{
    if (count == 1 || count == layer->n_top)
        return PSD_OK;
    return psd_layer_fail(layer, &param_of(layer)->base, field,
                          "has %zu %s for %zu tops; give one for all, or one for each", count, what,
                          layer->n_top);
}

static bool has_old_shape(const Caffe__DummyDataParameter *p)
{
    return p->n_num || p->n_channels || p->n_height || p->n_width;
}

static psd_status check_shapes(const struct psd_layer *layer)
{
    const Caffe__DummyDataParameter *p = param_of(layer);

    if (!has_old_shape(p))
        return check_count(layer, "shapes", 6, p->n_shape);
    if (p->n_shape)
        return psd_layer_fail(layer, &p->base, 6,
                              "has shape and num, channels, height or width; give one kind");
    PSD_TRY(check_count(layer, "num", 2, p->n_num));
    PSD_TRY(check_count(layer, "channels", 3, p->n_channels));
    PSD_TRY(check_count(layer, "height", 4, p->n_height));
    return check_count(layer, "width", 5, p->n_width);
}

static size_t pick(size_t n, size_t i)
{
    return n == 1 ? 0 : i;
}

static psd_status read_shape(const struct psd_layer *layer, size_t i, struct psd_shape *out)
{
    const Caffe__DummyDataParameter *p = param_of(layer);

    assert(p->shape || has_old_shape(p)); /* check_shapes has seen it */
    if (!has_old_shape(p))
        return psd_layer_read_shape(layer, p->shape[pick(p->n_shape, i)], out);
    *out = psd_shape_of(4, p->num[pick(p->n_num, i)], p->channels[pick(p->n_channels, i)],
                        p->height[pick(p->n_height, i)], p->width[pick(p->n_width, i)]);
    if (!psd_shape_count(out, 0, 4))
        return psd_layer_fail(layer, &p->base, 2, "num, channels, height or width is 0");
    return PSD_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The filler of top i; NULL: constant 0. */
static const Caffe__FillerParameter *filler_of(const struct psd_layer *layer, size_t i)
{
    const Caffe__DummyDataParameter *p = param_of(layer);

    return p->n_data_filler ? p->data_filler[pick(p->n_data_filler, i)] : NULL;
}

static bool is_constant(const Caffe__FillerParameter *filler)
{
    return !filler || strcmp(filler->type, "constant") == 0;
}

static psd_status fill(struct psd_layer *layer, size_t i)
{
    const Caffe__FillerParameter *filler = filler_of(layer, i);
    const struct psd_net *net = layer->net;
    struct psd_blob *top = layer->top[i];
    size_t rows = top->shape.axes ? top->shape.dim[0] : 1;
    uint64_t stream = psd_layer_stream(layer, (unsigned)i);
    uint64_t first = psd_net_row(net, rows) * (top->count / rows);
    psd_status status = psd_filler_fill_part(filler, net->seed, stream, first, top);

    if (status != PSD_ECONFIG)
        return status;
    return psd_layer_fail(layer, filler ? &filler->base : NULL, 0, "%s", psd_error());
}

static psd_status setup(struct psd_layer *layer)
{
    size_t fillers = param_of(layer)->n_data_filler;

    PSD_TRY(check_shapes(layer));
    if (fillers)
        PSD_TRY(check_count(layer, "data_filler", 1, fillers));
    for (size_t i = 0; i < layer->n_top; i++) {
        struct psd_shape shape = {0};
        PSD_TRY(read_shape(layer, i, &shape));
        PSD_TRY(psd_layer_shape_top(layer, i, &shape));
        if (!layer->net->sketch)
            PSD_TRY(fill(layer, i));
    }
    return PSD_OK;
}

static psd_status reshape(struct psd_layer *layer)
{
    (void)layer; /* the shapes are the prototxt's, for good */
    return PSD_OK;
}

static psd_status forward(struct psd_layer *layer)
{
    for (size_t i = 0; i < layer->n_top; i++) {
        if (!is_constant(filler_of(layer, i)))
            PSD_TRY(fill(layer, i));
    }
    return PSD_OK;
}

const struct psd_layer_kind psd_layer_dummy_data = {
    .type = "DummyData",
    .about = "what fillers make",
    .reads = "dummy_data_param",
    .tops = 1,
    .most_tops = PSD_LAYER_ANY,
    .keeps_tops = true,
    .setup = setup,
    .reshape = reshape,
    .forward = forward,
};
