/* ops.c - finds who can do an operation, and lets only values through that fit it.
 *
 *     open      backends.c --- can it run? on this device? wanted? ---> those that are asked
 *     create    spec --- does it make sense? ---> asked[0], asked[1] ... until one can
 *     forward   values --- is everything there, large enough, apart? ---> the backend's code */
#include "ops/ops.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "device/kind.h"
#include "ops/backend.h"
#include "ops/spec.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_BACKENDS = 16 };

struct psd_ops {
    struct psd_device *device; /* borrowed; outlives us */
    struct psd_pool *pool;     /* owned */
    unsigned threads;
    atomic_size_t children; /* operations that are not yet destroyed */
    size_t asked_count;
    const struct psd_backend *asked[MOST_BACKENDS]; /* in their order */
};

float *psd_tensor_host(struct psd_tensor tensor)
{
    float *host = tensor.memory ? psd_device_host(tensor.memory) : NULL;

    return host ? host + tensor.offset : NULL;
}

/* --- open and close --------------------------------------------------------------------------*/

static psd_status no_such_backend(const char *name)
{
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; psd_backends[i]; i++)
        psd_suggest_offer(&suggest, psd_backends[i]->name);
    return psd_fail(PSD_ECONFIG, "this build has no backend \"%s\"%s", name,
                    psd_suggest_phrase(&suggest));
}

static const struct psd_backend *find_backend(const char *name)
{
    for (size_t i = 0; psd_backends[i]; i++) {
        if (strcmp(psd_backends[i]->name, name) == 0)
            return psd_backends[i];
    }
    return NULL;
}

static bool runs_here(const struct psd_backend *backend, const struct psd_device *device)
{
    return strcmp(backend->device, device->kind->name) == 0 &&
           (!backend->usable || backend->usable());
}

/* Plain is asked last, whatever else is wanted. */
static psd_status choose_backends(struct psd_ops *ops, const char *wanted)
{
    const struct psd_backend *only = wanted ? find_backend(wanted) : NULL;

    if (wanted && !only)
        return no_such_backend(wanted);
    if (only && !runs_here(only, ops->device))
        return psd_fail(PSD_ENOSUP, "the backend %s cannot run on %s of this machine", wanted,
                        ops->device->entry.name);
    for (size_t i = 0; psd_backends[i]; i++) {
        const struct psd_backend *backend = psd_backends[i];
        bool asked = !only || backend == only || backend == &psd_backend_plain;
        assert(ops->asked_count < MOST_BACKENDS);
        if (asked && runs_here(backend, ops->device))
            ops->asked[ops->asked_count++] = backend;
    }
    return PSD_OK;
}

psd_status psd_ops_open(const struct psd_ops_options *options, struct psd_ops **out)
{
    if (!options->device)
        return psd_fail(PSD_EINVAL, "operations need a device");
    struct psd_ops *ops = psd_alloc_zero(1, sizeof *ops);
    if (!ops)
        return PSD_ENOMEM;

    ops->device = options->device;
    ops->threads = options->threads ? options->threads : 1;
    psd_status status = choose_backends(ops, options->backend);
    if (status == PSD_OK)
        status = psd_pool_create(ops->threads, &ops->pool);
    if (status != PSD_OK) {
        psd_alloc_free(ops);
        return status;
    }
    *out = ops;
    return PSD_OK;
}

void psd_ops_close(struct psd_ops *ops)
{
    if (!ops)
        return;
    assert(ops->children == 0);
    psd_pool_destroy(ops->pool);
    psd_alloc_free(ops);
}

unsigned psd_ops_threads(const struct psd_ops *ops)
{
    return ops->threads;
}

struct psd_pool *psd_ops_pool(const struct psd_ops *ops)
{
    return ops->pool;
}

struct psd_device *psd_ops_device(const struct psd_ops *ops)
{
    return ops->device;
}

/* --- create and destroy ----------------------------------------------------------------------*/

static psd_status plan(struct psd_op *op)
{
    struct psd_ops *ops = op->ops;

    for (size_t i = 0; i < ops->asked_count; i++) {
        op->backend = ops->asked[i];
        psd_status status = op->backend->plan(op);
        if (status != PSD_ENOSUP)
            return status;
    }
    return psd_fail(PSD_ENOSUP, "no backend can do this %s on %s", psd_spec_name(&op->spec),
                    ops->device->entry.name);
}

psd_status psd_op_create(struct psd_ops *ops, const struct psd_op_spec *spec, struct psd_op **out)
{
    PSD_TRY(psd_spec_check(spec));
    struct psd_op *op = psd_alloc_zero(1, sizeof *op);
    if (!op)
        return PSD_ENOMEM;

    op->ops = ops;
    op->spec = *spec;
    psd_status status = plan(op);
    if (status != PSD_OK) {
        psd_alloc_free(op);
        return status;
    }
    ops->children++;
    *out = op;
    return PSD_OK;
}

void psd_op_destroy(struct psd_op *op)
{
    if (!op)
        return;
    if (op->code->drop)
        op->code->drop(op);
    op->ops->children--;
    psd_alloc_free(op);
}

const char *psd_op_backend(const struct psd_op *op)
{
    return op->backend->name;
}

/* --- forward and backward --------------------------------------------------------------------*/

/* A tensor of an operation as a sentence and a check need it. */
struct role {
    const char *what;
    unsigned index;
    size_t count; /* floats that the operation takes there; 0: it has no such tensor */
};

static psd_status check_there(const struct psd_op *op, struct role role, struct psd_tensor tensor)
{
    if (role.count && !tensor.memory)
        return psd_fail(PSD_EINVAL, "%s: %s %u is missing", psd_spec_name(&op->spec), role.what,
                        role.index);
    return PSD_OK;
}

static psd_status check_fits(const struct psd_op *op, struct role role, struct psd_tensor tensor)
{
    if (!tensor.memory)
        return PSD_OK;
    size_t floats = psd_device_size(tensor.memory) / sizeof(float);

    if (tensor.memory->device != op->ops->device)
        return psd_fail(PSD_EINVAL, "%s: %s %u is on another device", psd_spec_name(&op->spec),
                        role.what, role.index);
    if (!role.count)
        return psd_fail(PSD_EINVAL, "%s: there is no %s %u", psd_spec_name(&op->spec), role.what,
                        role.index);
    if (tensor.offset > floats || floats - tensor.offset < role.count)
        return psd_fail(PSD_EINVAL, "%s: %s %u has %zu values, more than the memory from there on",
                        psd_spec_name(&op->spec), role.what, role.index, role.count);
    return PSD_OK;
}

static bool overlap(struct psd_tensor a, size_t a_count, struct psd_tensor b, size_t b_count)
{
    return a.memory && a.memory == b.memory && a.offset < b.offset + b_count &&
           b.offset < a.offset + a_count;
}

static psd_status check_apart(const struct psd_op *op, struct role to_role, struct psd_tensor to,
                              struct role from_role, struct psd_tensor from)
{
    if (overlap(to, to_role.count, from, from_role.count))
        return psd_fail(PSD_EINVAL, "%s: %s %u overlaps %s %u", psd_spec_name(&op->spec),
                        to_role.what, to_role.index, from_role.what, from_role.index);
    return PSD_OK;
}

/* Whether the first of both is computed in place: from the same first value on. */
static bool is_in_place(const struct psd_op *op, unsigned i, struct psd_tensor to,
                        struct psd_tensor from)
{
    return i == 0 && psd_spec_in_place(&op->spec) && to.memory == from.memory &&
           to.offset == from.offset;
}

static struct role input_role(const struct psd_op *op, unsigned i)
{
    return (struct role){"input", i, psd_op_input_count(&op->spec, i)};
}

static struct role output_role(const struct psd_op *op, unsigned i)
{
    return (struct role){"output", i, psd_op_output_count(&op->spec, i)};
}

static psd_status check_inputs(const struct psd_op *op, const struct psd_op_values *values)
{
    for (unsigned i = 0; i < PSD_OP_INPUTS; i++) {
        PSD_TRY(check_there(op, input_role(op, i), values->in[i]));
        PSD_TRY(check_fits(op, input_role(op, i), values->in[i]));
    }
    return PSD_OK;
}

static psd_status check_outputs(const struct psd_op *op, const struct psd_op_values *values)
{
    PSD_TRY(check_there(op, output_role(op, 0), values->out[0]));
    for (unsigned o = 0; o < PSD_OP_OUTPUTS; o++) {
        PSD_TRY(check_fits(op, output_role(op, o), values->out[o]));
        for (unsigned i = 0; i < PSD_OP_INPUTS; i++) {
            if (!is_in_place(op, o + i, values->out[o], values->in[i]))
                PSD_TRY(check_apart(op, output_role(op, o), values->out[o], input_role(op, i),
                                    values->in[i]));
        }
    }
    return check_apart(op, output_role(op, 1), values->out[1], output_role(op, 0), values->out[0]);
}

static struct role gradient_role(const struct psd_op *op, unsigned i)
{
    bool has = psd_spec_has_gradient(&op->spec, i);

    return (struct role){"gradient of input", i, has ? psd_op_input_count(&op->spec, i) : 0};
}

/* The gradient of input i is apart from what it is computed from, and from those before it. */
static psd_status check_gradient(const struct psd_op *op, const struct psd_op_values *values,
                                 unsigned i)
{
    struct role to = gradient_role(op, i);
    struct role from = {"gradient of output", 0, psd_op_output_count(&op->spec, 0)};
    bool in_place = is_in_place(op, i, values->in_diff[i], values->out_diff[0]);

    PSD_TRY(check_fits(op, to, values->in_diff[i]));
    if (in_place && values->adds >> i & 1)
        return psd_fail(PSD_EINVAL, "%s: a gradient in place has nothing to be added to",
                        psd_spec_name(&op->spec));
    if (!in_place)
        PSD_TRY(check_apart(op, to, values->in_diff[i], from, values->out_diff[0]));
    for (unsigned k = 0; k < PSD_OP_INPUTS; k++)
        PSD_TRY(check_apart(op, to, values->in_diff[i], input_role(op, k), values->in[k]));
    for (unsigned k = 0; k < i; k++)
        PSD_TRY(check_apart(op, to, values->in_diff[i], gradient_role(op, k), values->in_diff[k]));
    return PSD_OK;
}

static psd_status check_gradients(const struct psd_op *op, const struct psd_op_values *values)
{
    struct role from = {"gradient of output", 0, psd_op_output_count(&op->spec, 0)};

    PSD_TRY(check_there(op, from, values->out_diff[0]));
    PSD_TRY(check_fits(op, from, values->out_diff[0]));
    for (unsigned i = 0; i < PSD_OP_INPUTS; i++)
        PSD_TRY(check_gradient(op, values, i));
    return PSD_OK;
}

psd_status psd_op_forward(struct psd_op *op, const struct psd_op_values *values)
{
    PSD_TRY(check_inputs(op, values));
    PSD_TRY(check_outputs(op, values));
    return op->code->forward(op, values);
}

psd_status psd_op_backward(struct psd_op *op, const struct psd_op_values *values)
{
    if (!op->code->backward)
        return psd_fail(PSD_ENOSUP, "%s has no gradient", psd_spec_name(&op->spec));
    PSD_TRY(check_inputs(op, values));
    PSD_TRY(check_outputs(op, values));
    PSD_TRY(check_gradients(op, values));
    return op->code->backward(op, values);
}
