/* ops_slope_test.c - gradients of every case of cases.h, on every backend that runs here, against finite
 * differences of plain's outputs. */
#include "ops/ops.h"
#include "ops_problem.h"

#include <float.h>

/* The loss is the sum of the outputs, weighted by the gradients of the outputs. It is looked at
 * along a direction in one input: of a single value, or of all, each up or down. */
struct probe {
    unsigned input;
    size_t element;  /* or ALL */
    double slope;    /* of the loss along the direction */
    double rounding; /* what it may be wrong by because outputs are floats */
};

enum { ELEMENTS = 3, PROBES = PSD_OP_INPUTS * (ELEMENTS + 1) };
#define ALL  SIZE_MAX
#define STEP 0.0078125 /* a power of 2, and much less than the data avoids kinks by */

static double direction(const struct probe *probe, size_t i)
{
    if (probe->element != ALL)
        return i == probe->element;
    return psd_random_u32(3, probe->input, i) >> 31 ? 1 : -1;
}

static void move(struct problem *problem, const struct probe *probe, double step)
{
    float *x = tensor_data(problem, IN + probe->input);

    for (size_t i = 0; i < problem->count[IN + probe->input]; i++)
        x[i] = (float)((double)x[i] + step * direction(probe, i));
}

/* The loss and, in `squares`, the sum of the squares of what it is the sum of. */
static double loss(struct problem *problem, struct psd_op *op, double *squares)
{
    const float *y = tensor_data(problem, OUT), *dy = tensor_data(problem, OUT_DIFF);
    double sum = 0;

    *squares = 0;
    CHECK_OK(psd_op_forward(op, &problem->values));
    for (size_t i = 0; i < problem->count[OUT]; i++) {
        double term = (double)y[i] * (double)dy[i];
        sum += term;
        *squares += term * term;
    }
    return sum;
}

static void measure(struct problem *problem, struct psd_op *op, struct probe *probe)
{
    double squares;

    problem_fill(problem);
    move(problem, probe, STEP);
    double above = loss(problem, op, &squares);
    problem_fill(problem);
    move(problem, probe, -STEP);
    probe->slope = (above - loss(problem, op, &squares)) / (2 * STEP);
    probe->rounding = 4 * (double)FLT_EPSILON * sqrt(squares) / STEP;
}

static size_t measure_all(struct problem *problem, struct probe *probes)
{
    struct psd_ops *ops;
    struct psd_op *op;
    size_t used = 0, first = problem->test->use == NET ? ELEMENTS - 1 : 0;

    CHECK(problem_open(problem, "plain", 1, &ops, &op));
    for (unsigned input = 0; input < PSD_OP_INPUTS; input++) {
        size_t count = problem->count[IN_DIFF + input];
        for (size_t e = first; count && e <= ELEMENTS; e++) {
            size_t element = e == ELEMENTS ? ALL : e * count / ELEMENTS;
            probes[used] = (struct probe){.input = input, .element = element};
            measure(problem, op, &probes[used++]);
        }
    }
    problem_close(ops, op);
    return used;
}

/* The slope that a gradient predicts agrees up to rounding and the curve within a step. */
static void check_probe(const struct op_case *test, const char *backend, const struct probe *probe,
                        const struct results *results)
{
    const float *gradient = results->data[IN_DIFF + probe->input];
    size_t count = results->count[IN_DIFF + probe->input];
    double slope = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        slope += direction(probe, i) * (double)gradient[i];
        squares += (double)gradient[i] * (double)gradient[i];
    }
    double length = probe->element == ALL ? sqrt(squares) : largest(gradient, count);
    if (!(fabs(slope - probe->slope) <= 1e-3 * length + probe->rounding))
        TEST_FAIL("%s on %s: input %u, direction %zd: slope %.9g by gradient, %.9g by difference",
                  test->name, backend, probe->input, (ssize_t)probe->element, slope, probe->slope);
}

/* Where winners are drawn, a step may change them: plain_test.c looks at that gradient. */
static bool has_kinks(const struct psd_op_spec *spec)
{
    return spec->kind == PSD_OP_POOL && spec->pool.method == PSD_POOL_STOCHASTIC &&
           spec->pool.train;
}

static void check_differences(const struct op_case *test)
{
    struct problem problem;
    struct results results;
    struct probe probes[PROBES];

    problem_init(&problem, test);
    results_init(&results, &problem);
    size_t count = measure_all(&problem, probes);
    for (const char *const *backend = psd_ops_backends(); *backend; backend++) {
        problem_fill(&problem);
        if (!problem_run(&problem, *backend, 1, &results))
            continue;
        for (size_t i = 0; i < count; i++)
            check_probe(test, *backend, &probes[i], &results);
    }
    results_fini(&results);
    problem_fini(&problem);
}

static void gradients_agree_with_finite_differences(void)
{
    for (size_t i = 0; i < OP_CASES; i++) {
        if (op_cases[i].use <= NET && !has_kinks(&op_cases[i].spec))
            check_differences(&op_cases[i]);
    }
}

int main(int argc, char **argv)
{
    RUN(gradients_agree_with_finite_differences)
}
