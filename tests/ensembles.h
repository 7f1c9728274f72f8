/* ensembles.h - jobs of several ranks for tests of ensembles: each rank is a thread, with a solver, an
 * ensemble and a log of its own.
 *
 *     struct job job = {.solver = "net_param { ... } ...", .ranks = 3, .act = train_a_little};
 *     job_run(&job);              every rank: makes its solver, acts, destroys all
 *
 * What a rank has seen stays in job.members. */
#ifndef PSD_TESTS_ENSEMBLES_H
#define PSD_TESTS_ENSEMBLES_H

#include "base/alloc.h"
#include "nets.h"
#include "train/ensemble.h"

#include <pthread.h>

enum { JOB_RANKS = 4, JOB_VALUES = 2000, JOB_SHOWN = 200, JOB_LOG = 20000 };

struct job;

struct member {
    struct job *job;
    unsigned rank;
    struct lab lab;
    struct psd_ensemble *ensemble;
    struct psd_solver *solver;
    psd_status status; /* for the act to fill in, as are sentence and values */
    char sentence[500];
    float values[JOB_VALUES];
    size_t n_values;
    int64_t iteration, saved;
    float shown[JOB_SHOWN]; /* loss and outputs of each training row that was shown */
    size_t n_shown;
    char log[JOB_LOG]; /* lines with the job's word in them */
};

struct job {
    const char *solver;             /* text */
    const char *solvers[JOB_RANKS]; /* those of ranks that have another */
    unsigned ranks;
    struct psd_ensemble_options options; /* rank and address are filled in */
    bool alone;                          /* no ensemble: the solver has no team */
    const char *word;                    /* what logs are kept of; NULL: "Test" */
    void (*act)(struct member *member);
    enum psd_solver_action (*action)(void *member);
    char name[40];
    struct member members[JOB_RANKS];
};

static inline void member_log(void *context, const char *line, size_t length)
{
    struct member *member = context;
    size_t used = strlen(member->log);

    if (!strstr(line, member->job->word ? member->job->word : "Test"))
        return;
    CHECK(used + length < sizeof member->log);
    memcpy(member->log + used, line, length);
    member->log[used + length] = '\0';
}

static inline void member_show(void *context, const struct psd_solver_row *row)
{
    struct member *member = context;
    size_t outputs = psd_net_count_outputs(row->net);

    if (row->test >= 0)
        return;
    CHECK(member->n_shown + 1 + outputs <= JOB_SHOWN);
    member->shown[member->n_shown++] = row->loss;
    memcpy(member->shown + member->n_shown, row->outputs, outputs * sizeof *row->outputs);
    member->n_shown += outputs;
}

/* Notes how a call of the act has ended. */
static inline void member_note(struct member *member, psd_status status)
{
    member->status = status;
    snprintf(member->sentence, sizeof member->sentence, "%s", status == PSD_OK ? "" : psd_error());
    member->iteration = member->solver->iteration;
    member->saved = member->solver->saved;
}

static inline void member_keep_values(struct member *member)
{
    const struct psd_net *net = member->solver->net;

    member->n_values = 0;
    for (size_t i = 0; i < net->n_params; i++) {
        const struct psd_blob *blob = &net->params[i]->blob;
        CHECK(member->n_values + blob->count <= JOB_VALUES);
        memcpy(member->values + member->n_values, psd_blob_values(blob),
               blob->count * sizeof(float));
        member->n_values += blob->count;
    }
}

/* Trains so many iterations, notes how that ends, and keeps the values. */
static inline void member_step(struct member *member, int iterations)
{
    struct psd_team *team = &member->solver->team;

    member_note(member, psd_solver_step(member->solver, iterations));
    if (member->status != PSD_OK)
        return;
    CHECK_OK(team->settle(team->context));
    member_keep_values(member);
}

static inline void member_open_ensemble(struct member *member)
{
    const struct job *job = member->job;
    struct psd_ensemble_options options = job->options;

    options.seat.coordinator = job->name;
    options.seat.rank = member->rank;
    options.seat.ranks = job->ranks;
    options.seat.bandwidth = 1e9;
    options.seat.timeout_ms = 600000;
    CHECK_OK(psd_ensemble_create(&options, &member->ensemble));
}

static inline void *member_live(void *arg)
{
    struct member *member = arg;
    const char *own = member->job->solvers[member->rank];
    struct psd_team team;
    struct psd_log log;

    psd_log_init(&log, PSD_LOG_INFO, PSD_LOG_NO_RANK, member_log, member);
    CHECK(lab_open(&member->lab, NULL, 1));
    member->lab.document = document_of(SOLVER, own ? own : member->job->solver);
    struct psd_solver_options build = {
        .document = member->lab.document,
        .device = member->lab.device,
        .ops = member->lab.ops,
        .log = &log,
        .action = member->job->action,
        .shown = member_show,
        .context = member,
    };
    if (!member->job->alone) {
        member_open_ensemble(member);
        team = psd_ensemble_team(member->ensemble);
        build.team = &team;
        psd_ensemble_place(member->ensemble, &build);
    }
    CHECK_OK(psd_solver_create(&build, &member->solver));
    member->job->act(member);
    psd_ensemble_destroy(member->ensemble);
    psd_solver_destroy(member->solver);
    lab_close(&member->lab);
    psd_log_fini(&log);
    return NULL;
}

static inline void job_run(struct job *job)
{
    static unsigned number;
    pthread_t threads[JOB_RANKS];

    snprintf(job->name, sizeof job->name, "inproc://job-%u", number++);
    for (unsigned i = 0; i < job->ranks; i++) {
        memset(&job->members[i], 0, sizeof job->members[i]);
        job->members[i].job = job;
        job->members[i].rank = i;
        CHECK(pthread_create(&threads[i], NULL, member_live, &job->members[i]) == 0);
    }
    for (unsigned i = 0; i < job->ranks; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

#endif
