/* rate_test.c - learning rates by policy. What Caffe's policies give is also held against Caffe's own
 * numbers, in tests/solver_test.c. */
#include "documents.h"
#include "engine/rate.h"

static const Caffe__SolverParameter *solver_in(const struct psd_document *document)
{
    return (const Caffe__SolverParameter *)document->root;
}

static void every_policy_has_its_rate(void)
{
    static const struct {
        const char *solver;
        int64_t iteration;
        double rate;
    } cases[] = {
        {"lr_policy: 'fixed'", 1000, 2},
        {"lr_policy: 'step' gamma: .5 stepsize: 10", 9, 2},
        {"lr_policy: 'step' gamma: .5 stepsize: 10", 30, .25},
        {"lr_policy: 'exp' gamma: .5", 3, .25},
        {"lr_policy: 'inv' gamma: 1 power: 2", 1, .5},
        {"lr_policy: 'multistep' gamma: .5 stepvalue: 5 stepvalue: 9", 4, 2},
        {"lr_policy: 'multistep' gamma: .5 stepvalue: 5 stepvalue: 9", 5, 1},
        {"lr_policy: 'poly' power: 2 max_iter: 4", 2, .5},
        {"lr_policy: 'sigmoid' gamma: 1 stepsize: 7", 7, 1},
        {"lr_policy: 'sigmoid' gamma: -1 stepsize: 7", 8, 0.5378828427},
        {"lr_policy: 'fixed' warmup_iter: 10", 0, 0},
        {"lr_policy: 'fixed' warmup_iter: 10 warmup_start_factor: .5", 0, 1},
        {"lr_policy: 'fixed' warmup_iter: 10 warmup_start_factor: .5", 5, 1.5},
        {"lr_policy: 'fixed' warmup_iter: 10 warmup_start_factor: .5", 10, 2},
        {"lr_policy: 'exp' gamma: .5 warmup_iter: 2", 1, .5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_document *document = document_of(SOLVER, cases[i].solver);
        Caffe__SolverParameter *solver = (Caffe__SolverParameter *)document->root;
        struct psd_rate rate = {0};
        solver->base_lr = 2;
        fprintf(stderr, "    %s\n", cases[i].solver);
        CHECK_OK(psd_rate_check(solver));
        CHECK_NEAR(psd_rate_next(solver, &rate, cases[i].iteration, NULL), cases[i].rate, 1e-6);
        psd_document_destroy(document);
    }
}

/* As Caffe does; a run that is resumed further on catches up one by one. */
static void multistep_takes_one_step_a_call_and_says_so(void)
{
    struct psd_document *document = document_of(
        SOLVER, "base_lr: 1 lr_policy: 'multistep' gamma: .5 stepvalue: 2 stepvalue: 3");
    struct psd_rate rate = {0};
    bool stepped = true;

    CHECK_NEAR(psd_rate_next(solver_in(document), &rate, 1, &stepped), 1, 0);
    CHECK(!stepped && rate.step == 0);
    CHECK_NEAR(psd_rate_next(solver_in(document), &rate, 9, &stepped), .5, 0);
    CHECK(stepped && rate.step == 1);
    CHECK_NEAR(psd_rate_next(solver_in(document), &rate, 9, &stepped), .25, 0);
    CHECK(stepped && rate.step == 2);
    CHECK_NEAR(psd_rate_next(solver_in(document), &rate, 9, &stepped), .25, 0);
    CHECK(!stepped);
    psd_document_destroy(document);
}

static void policies_that_cannot_be_are_refused(void)
{
    static const struct {
        const char *solver, *sentence;
    } cases[] = {
        {"base_lr: 1", "there is no lr_policy \"\", but fixed, step, exp, inv, multistep, poly and "
                       "sigmoid"},
        {"lr_policy: 'stepp'", "there is no lr_policy \"stepp\", but fixed, step, exp, inv, "
                               "multistep, poly and sigmoid; did you mean \"step\"?"},
        {"lr_policy: 'step'", "lr_policy \"step\" needs a stepsize above 0"},
        {"lr_policy: 'sigmoid' stepsize: -1", "lr_policy \"sigmoid\" needs a stepsize above 0"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_document *document = document_of(SOLVER, cases[i].solver);
        CHECK_STATUS(PSD_ECONFIG, psd_rate_check(solver_in(document)));
        CHECK_TEXT(cases[i].sentence, psd_error());
        psd_document_destroy(document);
    }
}

int main(int argc, char **argv)
{
    RUN(every_policy_has_its_rate)
    RUN(multistep_takes_one_step_a_call_and_says_so)
    RUN(policies_that_cannot_be_are_refused)
}
