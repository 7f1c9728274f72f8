/* solver_seats_test.c - a solver alone, and seats that are given its gradients: the same values, to the
 * bit, for every rule and rate of tests/fixtures/solvers.
 *
 * All workers of a job give the same gradient, and there are 1, 2, 4 or 8 of them, so that their mean is
 * that gradient exactly, whoever hosts them. */
#include "crew.h"
#include "solver_rig.h"

enum { ITERATIONS = 10, PARAMS = 4 };

/* What a solver has done; values and gradients parameter by parameter. */
struct tape {
    struct psd_comm_update update; /* what it was asked for */
    struct {
        size_t first, count;
        float rate, decay; /* multipliers, as psd_comm_add takes them */
    } params[PARAMS];
    size_t count;                  /* values of all parameters */
    float rates[ITERATIONS];       /* of each iteration */
    float *values[ITERATIONS + 1]; /* owned; before each, and at the end */
    float *gradients[ITERATIONS];  /* owned */
    unsigned ranks, workers;       /* that play it */
};

static float multiplier(float number)
{
    return number > 0 ? number : -1;
}

static void note_params(const struct psd_solver *solver, struct tape *tape)
{
    CHECK(solver->net->n_params == PARAMS);
    for (size_t i = 0; i < PARAMS; i++) {
        const struct psd_param *param = solver->net->params[i];
        tape->params[i].first = tape->count;
        tape->params[i].count = param->blob.count;
        tape->params[i].rate = param->learns ? multiplier(param->rate) : -1;
        tape->params[i].decay = multiplier(param->decay);
        tape->count += param->blob.count;
    }
}

static void note_update(const Caffe__SolverParameter *p, struct psd_comm_update *update)
{
    *update = (struct psd_comm_update){.rule = p->type,
                                       .momentum = p->momentum,
                                       .momentum2 = p->momentum2,
                                       .delta = p->delta,
                                       .rms_decay = p->rms_decay,
                                       .decay = p->weight_decay,
                                       .l1 = p->regularization_type &&
                                             strcmp(p->regularization_type, "L1") == 0,
                                       .clip = p->clip_gradients < 0 ? 0 : p->clip_gradients,
                                       .iter_size = (unsigned)p->iter_size};
}

/* The values of all parameters, or their gradients; the caller frees them. */
static float *copy_all(const struct psd_solver *solver, const struct tape *tape, bool gradients)
{
    float *all = calloc(tape->count, sizeof *all);

    for (size_t i = 0; i < PARAMS; i++) {
        const struct psd_blob *blob = &solver->net->params[i]->blob;
        memcpy(all + tape->params[i].first,
               gradients ? psd_blob_gradient(blob) : psd_blob_values(blob),
               tape->params[i].count * sizeof *all);
    }
    return all;
}

static void record(struct psd_solver *solver, struct tape *tape)
{
    struct psd_rate rate = solver->rate;

    note_params(solver, tape);
    note_update(solver->param, &tape->update);
    tape->values[0] = copy_all(solver, tape, false);
    for (int i = 0; i < ITERATIONS; i++) {
        tape->rates[i] = psd_rate_next(solver->param, &rate, i, NULL);
        CHECK_OK(psd_solver_step(solver, 1));
        tape->gradients[i] = copy_all(solver, tape, true);
        tape->values[i + 1] = copy_all(solver, tape, false);
    }
    CHECK(memcmp(tape->values[0], tape->values[ITERATIONS], tape->count * sizeof(float)) != 0);
}

static void erase(struct tape *tape)
{
    for (int i = 0; i < ITERATIONS; i++) {
        free(tape->values[i]);
        free(tape->gradients[i]);
    }
    free(tape->values[ITERATIONS]);
}

static void add_params(struct psd_comm *comm, const struct tape *tape, float *values)
{
    for (int i = 0; i < PARAMS; i++) {
        char name[2] = {(char)('a' + i), 0};
        int id = -1;
        CHECK_OK(psd_comm_add(comm,
                              &(struct psd_comm_param){.name = name,
                                                       .rows = 1,
                                                       .cols = tape->params[i].count,
                                                       .value = values + tape->params[i].first,
                                                       .rate = tape->params[i].rate,
                                                       .decay = tape->params[i].decay},
                              &id));
        CHECK(id == i);
    }
}

/* One iteration: every hosted worker has the solver's gradient, each in memory of its own. */
static void iterate(struct psd_comm *comm, const struct tape *tape, int iteration)
{
    unsigned hosted;
    const unsigned *workers = psd_comm_hosted(comm, &hosted);
    float *grads = calloc(hosted * tape->count, sizeof *grads);

    CHECK_OK(psd_comm_begin(comm, (uint64_t)iteration, tape->rates[iteration]));
    for (unsigned w = 0; w < hosted; w++)
        memcpy(grads + w * tape->count, tape->gradients[iteration], tape->count * sizeof *grads);
    for (int i = PARAMS; i-- > 0;) {
        for (unsigned w = 0; w < hosted; w++)
            CHECK_OK(psd_comm_sync(comm, i, workers[w],
                                   grads + w * tape->count + tape->params[i].first));
    }
    for (int i = 0; i < PARAMS; i++)
        CHECK_OK(psd_comm_wait(comm, i));
    free(grads);
}

static void play(void *arg, unsigned rank)
{
    const struct tape *tape = arg;
    struct psd_comm_options options = {.coordinator = "inproc://solver",
                                       .rank = rank,
                                       .ranks = tape->ranks,
                                       .workers = tape->workers,
                                       .update = tape->update};
    float *values = calloc(tape->count, sizeof *values);
    struct psd_comm *comm = NULL;

    if (rank == 0)
        memcpy(values, tape->values[0], tape->count * sizeof *values); /* the others get them */
    CHECK_OK(psd_comm_open(&options, &comm));
    add_params(comm, tape, values);
    CHECK_OK(psd_comm_start(comm));
    for (int i = 0; i < ITERATIONS; i++) {
        iterate(comm, tape, i);
        CHECK(memcmp(values, tape->values[i + 1], tape->count * sizeof *values) == 0);
    }
    psd_comm_close(comm);
    free(values);
}

static void seats_with_a_solvers_gradients_have_its_values(void)
{
    static const unsigned spreads[][2] = {{1, 1}, {1, 2}, {2, 4}, {3, 4}, {3, 8}};

    for (size_t i = 0; i < CASES; i++) {
        struct tape tape = {.count = 0};
        float *data, *labels;
        struct rig rig = make_rig(fixture("solvers/%s/solver.prototxt", cases[i]));
        fprintf(stderr, "    %s\n", cases[i]);
        feed(rig.solver, &data, &labels);
        CHECK_OK(psd_solver_load(rig.solver, fixture("solvers/%s/init.caffemodel", cases[i])));
        record(rig.solver, &tape);
        for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
            tape.ranks = spreads[k][0];
            tape.workers = spreads[k][1];
            crew_each(tape.ranks, play, &tape);
        }
        erase(&tape);
        drop_rig(&rig);
        free(data);
        free(labels);
    }
}

int main(int argc, char **argv)
{
    RUN(seats_with_a_solvers_gradients_have_its_values)
}
