/* ops_mistake_test.c - what an operation cannot compute with, and what cannot be opened, is refused. */
#include "ops/ops.h"
#include "ops_problem.h"

/* --- values that do not fit ------------------------------------------------------------------*/

static const struct op_case fc_case = {
    "fc", TEST, 0, {.kind = PSD_OP_FC, .fc = {2, 3, 4, true, false}}};
static const struct op_case relu_case = {"relu", TEST, 0, {.kind = PSD_OP_RELU, .relu = {6, 0}}};
static const struct op_case loss_case = {
    "loss",
    TEST,
    0,
    {.kind = PSD_OP_SOFTMAX_LOSS, .softmax_loss = {2, 3, 1, false, 0, PSD_LOSS_FULL}}};

static struct psd_device *other_device;

static void without_input(struct psd_op_values *v)
{
    v->in[1].memory = NULL;
}

static void without_output(struct psd_op_values *v)
{
    v->out[0].memory = NULL;
}

static void beyond_memory(struct psd_op_values *v)
{
    v->in[0].offset += 2 * (size_t)GUARD;
}

static void with_a_third_input(struct psd_op_values *v)
{
    v->in[2] = v->in[0];
}

static void over_its_weights(struct psd_op_values *v)
{
    v->out[0] = v->in[1];
}

static void half_in_place(struct psd_op_values *v)
{
    v->out[0] = v->in[0];
    v->out[0].offset++;
}

static void on_another_device(struct psd_op_values *v)
{
    CHECK_OK(psd_device_alloc(other_device, 4096, &v->in[0].memory));
}

static void without_gradient(struct psd_op_values *v)
{
    v->out_diff[0].memory = NULL;
}

static void with_a_gradient_of_labels(struct psd_op_values *v)
{
    v->in_diff[1] = v->in[1];
}

static void with_a_gradient_over_its_weights(struct psd_op_values *v)
{
    v->in_diff[0] = v->in[1];
}

static void with_a_gradient_over_its_input(struct psd_op_values *v)
{
    v->in_diff[0] = v->in[0];
}

static void with_two_gradients_in_one_place(struct psd_op_values *v)
{
    v->in_diff[2] = v->in_diff[1];
}

static void with_two_outputs_in_one_place(struct psd_op_values *v)
{
    v->out[0] = v->out[1];
}

static void adding_in_place(struct psd_op_values *v)
{
    v->in_diff[0] = v->out_diff[0];
    v->adds = 1;
}

static void values_that_do_not_fit_are_refused(void)
{
    static const struct {
        const struct op_case *test;
        void (*spoil)(struct psd_op_values *values);
        const char *sentence;
    } cases[] = {
        {&fc_case, without_input, "fully connected: input 1 is missing"},
        {&fc_case, without_output, "fully connected: output 0 is missing"},
        {&fc_case, beyond_memory,
         "fully connected: input 0 has 6 values, more than the memory from there on"},
        {&relu_case, with_a_third_input, "relu: there is no input 2"},
        {&fc_case, over_its_weights, "fully connected: output 0 overlaps input 1"},
        {&relu_case, half_in_place, "relu: output 0 overlaps input 0"},
        {&fc_case, on_another_device, "fully connected: input 0 is on another device"},
        {&fc_case, without_gradient, "fully connected: gradient of output 0 is missing"},
        {&loss_case, with_a_gradient_of_labels, "softmax loss: there is no gradient of input 1"},
        {&fc_case, with_a_gradient_over_its_weights,
         "fully connected: gradient of input 0 overlaps input 1"},
        {&relu_case, with_a_gradient_over_its_input, "relu: gradient of input 0 overlaps input 0"},
        {&fc_case, with_two_gradients_in_one_place,
         "fully connected: gradient of input 2 overlaps gradient of input 1"},
        {&loss_case, with_two_outputs_in_one_place, "softmax loss: output 1 overlaps output 0"},
        {&relu_case, adding_in_place, "relu: a gradient in place has nothing to be added to"},
    };

    CHECK_OK(psd_device_open("host", 0, &other_device));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        struct psd_ops *ops;
        struct psd_op *op;
        problem_init(&problem, cases[i].test);
        CHECK(problem_open(&problem, "plain", 1, &ops, &op));
        cases[i].spoil(&problem.values);
        psd_status status = psd_op_backward(op, &problem.values);
        CHECK(status == PSD_EINVAL);
        CHECK_TEXT(cases[i].sentence, psd_error());
        if (problem.values.in[0].memory != problem.memory[IN])
            psd_device_free(problem.values.in[0].memory);
        problem_close(ops, op);
        problem_fini(&problem);
    }
    psd_device_close(other_device);
}

/* --- opening ---------------------------------------------------------------------------------*/

static void backends_are_found_by_name(void)
{
    struct psd_device *device = NULL;
    struct psd_ops *ops = NULL;

    CHECK_OK(psd_device_open("host", 0, &device));
    CHECK_STATUS(PSD_ECONFIG, psd_ops_open(&(struct psd_ops_options){device, 1, "plian"}, &ops));
    CHECK_TEXT("this build has no backend \"plian\"; did you mean \"plain\"?", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_ops_open(&(struct psd_ops_options){NULL, 1, NULL}, &ops));
    CHECK(ops == NULL);

    CHECK_OK(psd_ops_open(&(struct psd_ops_options){device, 0, "plain"}, &ops));
    CHECK(psd_ops_threads(ops) == 1);
    psd_ops_close(ops);
    psd_device_close(device);
}

static void nothing_may_be_closed_and_destroyed(void)
{
    psd_op_destroy(NULL);
    psd_ops_close(NULL);
    CHECK(psd_tensor_host((struct psd_tensor){NULL, 3}) == NULL);
}

static void a_spec_that_makes_no_sense_is_not_planned(void)
{
    struct psd_op_spec spec = {.kind = PSD_OP_RELU, .relu = {0, 0}};
    struct psd_device *device = NULL;
    struct psd_ops *ops = NULL;
    struct psd_op *op = NULL;

    CHECK_OK(psd_device_open("host", 0, &device));
    CHECK_OK(psd_ops_open(&(struct psd_ops_options){.device = device}, &ops));
    CHECK_STATUS(PSD_EINVAL, psd_op_create(ops, &spec, &op));
    CHECK(op == NULL);
    psd_ops_close(ops);
    psd_device_close(device);
}

int main(int argc, char **argv)
{
    RUN(values_that_do_not_fit_are_refused)
    RUN(backends_are_found_by_name)
    RUN(nothing_may_be_closed_and_destroyed)
    RUN(a_spec_that_makes_no_sense_is_not_planned)
}
