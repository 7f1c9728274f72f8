#include "engine/alone.h"
#include "engine/carried_file.h"
#include "engine/update.h"

#include <string.h>

static psd_status start(void *context, struct psd_solver *solver)
{
    struct psd_net_position position = {.iteration = solver->passes};

    (void)context;
    if (solver->carried)
        psd_carried_put(solver->net, solver->carried);
    return psd_net_seek(solver->net, &position);
}

static psd_status gather(void *context)
{
    struct psd_solver *solver = context;

    PSD_TRY(psd_solver_make_carried(solver));
    psd_carried_take(solver->net, solver->carried);
    return PSD_OK;
}

static psd_status iterate(void *context, const struct psd_team_step *step)
{
    struct psd_solver *solver = context;
    int passes = step->forward_only ? 1 : solver->param->iter_size;
    float sum = 0;

    for (int i = 0; i < passes; i++) {
        float loss = 0;
        PSD_TRY(psd_net_forward(solver->net, &loss));
        sum += loss;
        if (!step->forward_only)
            PSD_TRY(psd_net_backward(solver->net, i == 0));
    }
    step->losses[0] = sum / (float)passes;
    if (step->outputs)
        psd_net_get_outputs(solver->net, step->outputs);
    return step->forward_only ? PSD_OK : psd_solver_update(solver, step->rate);
}

static psd_status test(void *context, const struct psd_team_test *test)
{
    struct psd_solver *solver = context;
    struct psd_net *net = solver->tests[test->net];
    struct psd_net_position position = {.iteration = test->first};

    PSD_TRY(psd_net_seek(net, &position));
    PSD_TRY(psd_net_forward(net, &test->rows[0]));
    psd_net_get_outputs(net, test->rows + 1);
    return PSD_OK;
}

static psd_status settle(void *context)
{
    (void)context;
    return PSD_OK;
}

struct psd_team psd_alone(struct psd_solver *solver)
{
    return (struct psd_team){
        .workers = 1,
        .hosted = 1,
        .writes = true,
        .test_batches = 1,
        .context = solver,
        .start = start,
        .iterate = iterate,
        .settle = settle,
        .test = test,
        .gather = gather,
    };
}
