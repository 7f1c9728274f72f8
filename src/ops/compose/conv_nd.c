/* conv_nd.c - a convolution along any number of axes, by way of what its taps see.
 *
 *     x of a block --- gather ---> columns [block][channels * taps][places]
 *                                  --- convolution of 1 x 1 with w ---> y of the block
 *     dx  <--- scatter ---  their gradients  <--- the same, backward ---  dy
 *
 * To a convolution of 1 x 1 the columns are an image with many channels, and w is already in its
 * order, groups included. A block is as many samples as have room in 4 MiB, a number that
 * the spec alone decides, and at least one. With several blocks their columns do not stay from forward
 * to backward, and are made again. */
#include "base/alloc.h"
#include "ops/compose/compose.h"

struct plan {
    struct psd_op *product;            /* owned; the convolution of 1 x 1 */
    size_t block;                      /* samples; a whole number of blocks is the batch */
    size_t image, result;              /* floats of a sample of x, and of y */
    struct psd_device_memory *columns; /* owned; of a block */
    struct psd_device_memory *diff;    /* owned; their gradients */
    struct psd_device_memory *again;   /* owned; y of a block, where there are several */
};

/* --- plan --------------------------------------------------------------------------------------- */

static size_t choose_block(size_t batch, size_t columns)
{
    const size_t floats = (size_t)1 << 20;
    size_t block = batch;

    while (block > 1 && (batch % block || block > floats / columns))
        block--;
    return block;
}

static psd_status plan_product(struct psd_op *op, struct plan *plan)
{
    const struct psd_conv_nd_spec *s = &op->spec.conv_nd;
    const struct psd_columns_spec *w = &s->window;
    size_t taps = psd_compose_count(w, w->kernel), places = psd_compose_count(w, w->out);
    struct psd_op_spec spec = {PSD_OP_CONV, .conv = {.batch = plan->block,
                                                     .channels = w->channels * taps,
                                                     .height = 1,
                                                     .width = places,
                                                     .outputs = s->outputs,
                                                     .out_height = 1,
                                                     .out_width = places,
                                                     .group = s->group,
                                                     .kernel = {1, 1},
                                                     .stride = {1, 1},
                                                     .dilation = {1, 1},
                                                     .bias = s->bias}};

    return psd_op_create(op->ops, &spec, &plan->product);
}

static psd_status init(struct psd_op *op, struct plan *plan)
{
    const struct psd_columns_spec *w = &op->spec.conv_nd.window;
    struct psd_device *device = psd_ops_device(op->ops);
    size_t columns = w->channels * psd_compose_count(w, w->kernel) * psd_compose_count(w, w->out);

    plan->block = choose_block(w->batch, columns);
    plan->image = w->channels * psd_compose_count(w, w->size);
    plan->result = op->spec.conv_nd.outputs * psd_compose_count(w, w->out);
    PSD_TRY(plan_product(op, plan));
    PSD_TRY(psd_device_alloc(device, plan->block * columns * sizeof(float), &plan->columns));
    PSD_TRY(psd_device_alloc(device, plan->block * columns * sizeof(float), &plan->diff));
    if (plan->block == w->batch)
        return PSD_OK;
    return psd_device_alloc(device, plan->block * plan->result * sizeof(float), &plan->again);
}

static void destroy(struct plan *plan)
{
    psd_op_destroy(plan->product);
    psd_device_free(plan->columns);
    psd_device_free(plan->diff);
    psd_device_free(plan->again);
    psd_alloc_free(plan);
}

/* --- computing ---------------------------------------------------------------------------------- */

/* A tensor from its sample number `n` on, each of `size` floats. */
static struct psd_tensor from_sample(struct psd_tensor tensor, size_t n, size_t size)
{
    if (tensor.memory)
        tensor.offset += n * size;
    return tensor;
}

/* What the product of the block from sample n on works on; gradients are added from the second on. */
static struct psd_op_values values_of(const struct psd_op *op, const struct psd_op_values *values,
                                      size_t n)
{
    const struct plan *plan = op->plan;
    struct psd_op_values block = *values;

    block.in[0] = (struct psd_tensor){plan->columns, 0};
    block.out[0] = from_sample(values->out[0], n, plan->result);
    block.out_diff[0] = from_sample(values->out_diff[0], n, plan->result);
    block.adds = (n ? 6 : values->adds) & ~1U;
    return block;
}

static psd_status gather(struct psd_op *op, const struct psd_op_values *values, size_t n)
{
    const struct plan *plan = op->plan;
    const float *x = psd_tensor_host(values->in[0]);

    return psd_compose_columns_gather(op->ops, &op->spec.conv_nd.window, plan->block,
                                      x + n * plan->image, psd_device_host(plan->columns));
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct plan *plan = op->plan;

    for (size_t n = 0; n < op->spec.conv_nd.window.batch; n += plan->block) {
        struct psd_op_values block = values_of(op, values, n);
        PSD_TRY(gather(op, values, n));
        PSD_TRY(psd_op_forward(plan->product, &block));
    }
    return PSD_OK;
}

/* The product finds what its forward left: that of the only block, or of this one again. */
static psd_status backward_block(struct psd_op *op, const struct psd_op_values *values, size_t n)
{
    const struct plan *plan = op->plan;
    struct psd_op_values block = values_of(op, values, n);
    float *dx = psd_tensor_host(values->in_diff[0]);

    if (plan->again) {
        block.out[0] = (struct psd_tensor){plan->again, 0};
        if (values->in_diff[1].memory || values->in_diff[2].memory) {
            PSD_TRY(gather(op, values, n));
            PSD_TRY(psd_op_forward(plan->product, &block));
        }
    }
    if (dx)
        block.in_diff[0] = (struct psd_tensor){plan->diff, 0};
    PSD_TRY(psd_op_backward(plan->product, &block));
    if (!dx)
        return PSD_OK;
    return psd_compose_columns_scatter(op->ops, &op->spec.conv_nd.window, plan->block,
                                       psd_device_host(plan->diff), values->adds & 1,
                                       dx + n * plan->image);
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct plan *plan = op->plan;

    for (size_t n = 0; n < op->spec.conv_nd.window.batch; n += plan->block)
        PSD_TRY(backward_block(op, values, n));
    return PSD_OK;
}

static void drop(struct psd_op *op)
{
    destroy(op->plan);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

psd_status psd_compose_plan_conv_nd(struct psd_op *op)
{
    struct plan *plan = psd_alloc_zero(1, sizeof *plan);

    if (!plan)
        return PSD_ENOMEM;
    psd_status status = init(op, plan);
    if (status != PSD_OK) {
        destroy(plan);
        return status;
    }
    op->code = &code;
    op->plan = plan;
    return PSD_OK;
}
