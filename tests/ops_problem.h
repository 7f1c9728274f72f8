/* ops_problem.h - one case with its data, for the tests of src/ops: memory, values, and one way to
 * run it.
 *
 *     memory of a tensor    [ guard | values ... | guard ]
 *
 * Values start in the middle of a vector register, and what a backend writes outside of them is
 * found in the guards. Results are NaN until they are written. */
#ifndef PSD_TESTS_OPS_PROBLEM_H
#define PSD_TESTS_OPS_PROBLEM_H

#include "base/random.h"
#include "ops/cases.h"
#include "ops/spec.h"
#include "test.h"

/* The tensors of an operation, counted through. */
enum { IN = 0, IN_DIFF = IN + PSD_OP_INPUTS, OUT = IN_DIFF + PSD_OP_INPUTS };
enum { OUT_DIFF = OUT + PSD_OP_OUTPUTS, TENSORS = OUT_DIFF + 1 };

enum { GUARD = 13 }; /* floats */
#define GUARD_VALUE 12345.0F

struct problem {
    const struct op_case *test;
    struct psd_device *device;                 /* owned */
    struct psd_device_memory *memory[TENSORS]; /* owned */
    size_t count[TENSORS];                     /* of floats; 0: there is no such tensor */
    struct psd_op_values values;
};

static inline size_t tensor_count(const struct psd_op_spec *spec, unsigned t)
{
    if (t < IN_DIFF)
        return psd_op_input_count(spec, t - IN);
    if (t < OUT)
        return psd_spec_has_gradient(spec, t - IN_DIFF) ? psd_op_input_count(spec, t - IN_DIFF) : 0;
    return t < OUT_DIFF ? psd_op_output_count(spec, t - OUT) : psd_op_output_count(spec, 0);
}

static inline struct psd_tensor *tensor_slot(struct psd_op_values *values, unsigned t)
{
    if (t < IN_DIFF)
        return &values->in[t - IN];
    if (t < OUT)
        return &values->in_diff[t - IN_DIFF];
    return t < OUT_DIFF ? &values->out[t - OUT] : &values->out_diff[t - OUT_DIFF];
}

/* Where the values of a tensor are; NULL when there is none. */
static inline float *tensor_data(const struct problem *problem, unsigned t)
{
    return problem->memory[t] ? (float *)psd_device_host(problem->memory[t]) + GUARD : NULL;
}

/* --- data ------------------------------------------------------------------------------------*/

/* In (-1, 1), and never so near to 0 that a small step changes the sign. */
static inline float any_value(uint64_t stream, size_t i)
{
    float u = 2 * psd_random_uniform(20, stream, i) - 1;

    return u < 0 ? u * 0.9F - 0.05F : u * 0.9F + 0.05F;
}

/* In every window of up to 8 x 8 pixels these differ by 0.03 at least, so the largest stays the
 * largest while one is moved a little. */
static inline float distinct_value(const struct psd_pool_spec *pool, size_t i)
{
    size_t w = i % pool->width, h = i / pool->width % pool->height;
    size_t level = (h % 8 * 8 + w % 8) * 37 % 64;

    return 0.05F * (float)level + 0.01F * any_value(9, i);
}

static inline float first_input(const struct psd_op_spec *spec, size_t i)
{
    if (spec->kind == PSD_OP_POOL && spec->pool.method == PSD_POOL_MAX)
        return distinct_value(&spec->pool, i);
    if (spec->kind == PSD_OP_POOL && spec->pool.method == PSD_POOL_STOCHASTIC)
        return fabsf(any_value(0, i));
    return any_value(0, i);
}

static inline float input_value(const struct psd_op_spec *spec, unsigned t, size_t i)
{
    if (t == IN)
        return first_input(spec, i);
    if (t == IN + 1 && spec->kind == PSD_OP_BATCH_NORM && i >= spec->batch_norm.channels)
        return fabsf(any_value(t, i)) + 0.5F;        /* a variance */
    if (t == IN + 1 && spec->kind == PSD_OP_ELTWISE) /* apart, so that the larger stays so */
        return first_input(spec, i) + (i % 3 ? 0.25F : -0.25F);
    if (t == IN + 2 && spec->kind == PSD_OP_LSTM_UNIT)
        return i % 3 == 1 ? 0 : 1; /* the second sequence starts */
    if (t == IN + 1 && spec->kind == PSD_OP_HINGE_LOSS)
        return (float)(i * 7 % spec->hinge_loss.classes);
    if (t == IN + 1 && spec->kind == PSD_OP_SIGMOID_LOSS)
        return (float)(i % 5) / 4; /* a target, also one that is ignored */
    if (t == IN + 1 && spec->kind == PSD_OP_SOFTMAX_LOSS)
        return (float)(i * 7 % spec->softmax_loss.channels);
    return any_value(t, i);
}

/* Inputs and the gradients of outputs get values; results become NaN. */
static inline void problem_fill(struct problem *problem)
{
    const struct psd_op_spec *spec = &problem->test->spec;

    for (unsigned t = 0; t < TENSORS; t++) {
        float *data = tensor_data(problem, t);
        bool result = t >= IN_DIFF && t < OUT_DIFF;
        for (size_t i = 0; i < problem->count[t]; i++)
            data[i] = result ? NAN : input_value(spec, t, i);
    }
}

/* --- life ------------------------------------------------------------------------------------*/

static inline void add_tensor(struct problem *problem, unsigned t)
{
    size_t count = tensor_count(&problem->test->spec, t), floats = count + 2 * (size_t)GUARD;

    problem->count[t] = count;
    if (count == 0)
        return;
    CHECK_OK(psd_device_alloc(problem->device, floats * sizeof(float), &problem->memory[t]));
    float *all = psd_device_host(problem->memory[t]);
    for (size_t i = 0; i < floats; i++)
        all[i] = GUARD_VALUE;
    *tensor_slot(&problem->values, t) = (struct psd_tensor){problem->memory[t], GUARD};
}

static inline void problem_init(struct problem *problem, const struct op_case *test)
{
    *problem = (struct problem){.test = test};
    problem->values.seed = 1;
    problem->values.stream = 2;
    problem->values.sample = 3;
    CHECK_OK(psd_device_open("host", 0, &problem->device));
    for (unsigned t = 0; t < TENSORS; t++)
        add_tensor(problem, t);
    problem_fill(problem);
}

static inline void problem_fini(struct problem *problem)
{
    for (unsigned t = 0; t < TENSORS; t++)
        psd_device_free(problem->memory[t]);
    psd_device_close(problem->device);
}

/* --- running it ------------------------------------------------------------------------------*/

/* Plans the case; false: the backend cannot run here, or does not do this case. */
static inline bool problem_open(const struct problem *problem, const char *backend,
                                unsigned threads, struct psd_ops **ops, struct psd_op **op)
{
    struct psd_ops_options options = {problem->device, threads, backend};
    psd_status status = psd_ops_open(&options, ops);

    if (status == PSD_ENOSUP)
        return false;
    CHECK_OK(status);
    CHECK_OK(psd_op_create(*ops, &problem->test->spec, op));
    if (strcmp(psd_op_backend(*op), backend) == 0)
        return true;
    psd_op_destroy(*op);
    psd_ops_close(*ops);
    return false;
}

static inline void problem_close(struct psd_ops *ops, struct psd_op *op)
{
    psd_op_destroy(op);
    psd_ops_close(ops);
}

/* Backward may read the first output only of a kind that says so; the others lose theirs. */
static inline void spoil_output(struct problem *problem)
{
    enum psd_op_kind kind = problem->test->spec.kind;
    bool in_place = tensor_slot(&problem->values, OUT)->memory != problem->memory[OUT];

    for (size_t i = 0; i < problem->count[OUT]; i++) {
        if (!in_place && kind != PSD_OP_TANH && kind != PSD_OP_SOFTMAX)
            tensor_data(problem, OUT)[i] = NAN;
    }
}

/* Forward, then `outputs` (where it is not NULL) takes the first output, then backward. */
static inline void problem_compute(struct problem *problem, struct psd_op *op, float *outputs)
{
    CHECK_OK(psd_op_forward(op, &problem->values));
    if (outputs)
        memcpy(outputs, psd_tensor_host(problem->values.out[0]),
               problem->count[OUT] * sizeof(float));
    spoil_output(problem);
    CHECK_OK(psd_op_backward(op, &problem->values));
}

/* --- results ---------------------------------------------------------------------------------*/

/* What a run has written. */
struct results {
    size_t count[TENSORS];
    float *data[TENSORS]; /* owned; NULL for what is no result */
};

static inline void results_init(struct results *results, const struct problem *problem)
{
    *results = (struct results){0};
    for (unsigned t = IN_DIFF; t < OUT_DIFF; t++) {
        results->count[t] = problem->count[t];
        results->data[t] = calloc(problem->count[t] + 1, sizeof(float));
        CHECK(results->data[t]);
    }
}

static inline void results_fini(struct results *results)
{
    for (unsigned t = 0; t < TENSORS; t++)
        free(results->data[t]);
}

static inline void check_guards(const struct problem *problem, unsigned t)
{
    const float *data = tensor_data(problem, t);

    for (size_t i = 1; i <= GUARD; i++) {
        CHECK(data[-(ptrdiff_t)i] == GUARD_VALUE);
        CHECK(data[problem->count[t] + i - 1] == GUARD_VALUE);
    }
}

/* Copies the results, but for the first output, which problem_compute has copied before it went. */
static inline void results_take(struct results *results, const struct problem *problem)
{
    for (unsigned t = 0; t < TENSORS; t++) {
        if (problem->memory[t])
            check_guards(problem, t);
        if (results->data[t] && problem->memory[t] && t != OUT)
            memcpy(results->data[t], tensor_data(problem, t), problem->count[t] * sizeof(float));
    }
}

/* Runs the case from fresh data on; false: the backend does not do it. */
static inline bool problem_run(struct problem *problem, const char *backend, unsigned threads,
                               struct results *results)
{
    struct psd_ops *ops;
    struct psd_op *op;

    if (!problem_open(problem, backend, threads, &ops, &op))
        return false;
    problem_compute(problem, op, results->data[OUT]);
    results_take(results, problem);
    problem_close(ops, op);
    return true;
}

/* The largest of the magnitudes. */
static inline double largest(const float *x, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

#endif
