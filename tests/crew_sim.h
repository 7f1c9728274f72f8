/* crew_sim.h - the job of a crew (crew.h) on the simulated network: the same parameters, gradients and rule,
 * with neither threads nor sockets.
 *
 *     float *simulated = crew_train_on_sim(&c);       in update mode; the caller frees it */
#ifndef PSD_TESTS_CREW_SIM_H
#define PSD_TESTS_CREW_SIM_H

#include "base/clock.h"
#include "comm/cluster.h"
#include "comm/plan.h"
#include "crew.h"

struct crew_sim {
    const struct crew_case *c;
    struct psd_job *job; /* owned, as all that follows */
    struct psd_cluster *cluster;
    float *values[CREW_MOST]; /* of each rank */
    float *grads[CREW_MOST];  /* of each worker */
    bool fresh[CREW_MOST][CREW_PARAMS];
};

static inline void crew_sim_fresh(void *user, unsigned rank, size_t param)
{
    struct crew_sim *sim = user;

    sim->fresh[rank][param] = true;
}

static inline void crew_sim_ended(void *user, unsigned rank, psd_status status,
                                  const char *sentence)
{
    (void)user;
    TEST_FAIL("rank %u: %s: %s", rank, psd_status_name(status), sentence);
}

static inline struct psd_job *crew_sim_job(const struct crew_case *c)
{
    static float unused;
    struct psd_comm_update update = crew_update(c);
    struct psd_plan_network network = {.bandwidth = 1e9, .latency = 1e-5};
    struct psd_plan *plan = NULL;
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(crew_ranks(c), crew_workers(c), CREW_BATCH, c->mode, &update, &job));
    for (size_t i = 0; i < CREW_PARAMS; i++) {
        struct psd_comm_param param = crew_param(c, i);
        param.value = &unused;
        CHECK_OK(psd_job_add(job, &param));
    }
    psd_plan_forms(job);
    CHECK_OK(psd_plan_create(job, NULL, &network, &plan));
    psd_plan_destroy(plan);
    return job;
}

/* Rank 0 has the values to start with; the others are to get them. */
static inline void crew_sim_start(struct crew_sim *sim)
{
    size_t all = crew_first(CREW_PARAMS);

    for (unsigned w = 0; w < crew_workers(sim->c); w++)
        sim->grads[w] = calloc(all, sizeof(float));
    for (unsigned rank = 0; rank < crew_ranks(sim->c); rank++) {
        sim->values[rank] = calloc(all, sizeof(float));
        if (rank == 0)
            crew_start_values(sim->values[rank]);
        for (size_t i = 0; i < CREW_PARAMS; i++)
            psd_node_set_value(psd_cluster_node(sim->cluster, rank), i,
                               sim->values[rank] + crew_first(i));
    }
    for (unsigned rank = 0; rank < crew_ranks(sim->c); rank++)
        CHECK_OK(psd_node_start(psd_cluster_node(sim->cluster, rank), false));
}

static inline void crew_sim_sync(struct crew_sim *sim, uint64_t iteration, size_t param,
                                 unsigned worker)
{
    unsigned rank = sim->job->host[worker];
    struct psd_node *node = psd_cluster_node(sim->cluster, rank);
    const float *value = sim->values[rank] + crew_first(param);
    float *grad = sim->grads[worker] + crew_first(param);
    float u[CREW_BATCH * CREW_WIDEST], v[CREW_BATCH * CREW_WIDEST];

    sim->fresh[rank][param] = false;
    if (!crew_is_factored(sim->c, param)) {
        crew_gradient(iteration, param, worker, value, grad);
        CHECK_OK(psd_node_sync(node, param, worker, grad));
    } else if (!crew_shapes[param].bias_of) {
        crew_factors(iteration, param, worker, value, u, v);
        psd_node_copy_factors(node, param, worker, iteration, u, v, CREW_BATCH);
        CHECK_OK(psd_node_sync_factors(node, param, worker, CREW_BATCH));
    }
}

/* Every rank waits for every parameter. True: all are fresh. */
static inline bool crew_sim_look(struct crew_sim *sim)
{
    bool all = true;

    for (unsigned rank = 0; rank < crew_ranks(sim->c); rank++) {
        for (size_t i = 0; i < CREW_PARAMS; i++) {
            if (!sim->fresh[rank][i])
                psd_node_waits(psd_cluster_node(sim->cluster, rank), i);
            all &= sim->fresh[rank][i];
        }
    }
    return all;
}

static inline void crew_sim_wait(struct crew_sim *sim)
{
    while (!crew_sim_look(sim))
        CHECK(psd_cluster_step(sim->cluster) || crew_sim_look(sim));
    CHECK_OK(psd_cluster_status(sim->cluster));
}

static inline void crew_sim_go(struct crew_sim *sim)
{
    for (uint64_t t = 0; t < crew_iterations(sim->c); t++) {
        crew_sim_wait(sim);
        for (unsigned rank = 0; rank < crew_ranks(sim->c); rank++)
            CHECK_OK(psd_node_begin(psd_cluster_node(sim->cluster, rank), t, 0.1f));
        for (size_t i = CREW_PARAMS; i-- > 0;) {
            for (unsigned w = 0; w < crew_workers(sim->c); w++)
                crew_sim_sync(sim, t, i, w);
        }
    }
    crew_sim_wait(sim);
}

static inline float *crew_train_on_sim(const struct crew_case *c)
{
    struct crew_sim sim = {.c = c, .job = crew_sim_job(c)};
    struct psd_cluster_options options = {
        .job = sim.job,
        .network = {.seed = 1, .bandwidth = 1e9, .latency_ns = 10 * PSD_CLOCK_US},
        .fresh = crew_sim_fresh,
        .ended = crew_sim_ended,
        .user = &sim};

    CHECK_OK(psd_cluster_create(&options, &sim.cluster));
    crew_sim_start(&sim);
    crew_sim_go(&sim);
    for (unsigned rank = 1; rank < crew_ranks(c); rank++) {
        CHECK(crew_same(sim.values[0], sim.values[rank]));
        free(sim.values[rank]);
    }
    for (unsigned w = 0; w < crew_workers(c); w++)
        free(sim.grads[w]);
    psd_cluster_destroy(sim.cluster);
    psd_job_destroy(sim.job);
    return sim.values[0];
}

#endif
