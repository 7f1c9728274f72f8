/* cluster.h - a small training job on the simulated network, for tests.
 *
 *     struct cluster_case c = {.seed = 7, .ranks = 3, .workers = 8, .iterations = 4};
 *     struct cluster_result r;
 *     CHECK(cluster_run(&c, &r));              r.values: what all ranks ended with
 *
 * Gradients and factors are random numbers that depend on iteration, parameter, worker and element
 * alone, so jobs that differ in their number of ranks, in routes or in the network must end with the
 * same bits. A failure is printed with its case and replays from it. */
#ifndef PSD_TESTS_CLUSTER_H
#define PSD_TESTS_CLUSTER_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "comm/cluster.h"
#include "comm/node_state.h"
#include "comm/plan.h"
#include "test.h"

enum {
    CLUSTER_PARAMS = 9,
    CLUSTER_STEPS = 2 * CLUSTER_PARAMS,
    CLUSTER_RANKS = 16,
    CLUSTER_WORKERS = 16,
    CLUSTER_ITERATIONS = 16
};

/* How the gradients of inner products are made. */
enum cluster_forms { CLUSTER_DENSE, CLUSTER_FACTORED, CLUSTER_MIXED };

/* In which order a rank syncs and waits. */
enum cluster_program {
    CLUSTER_SAME_ORDER, /* all ranks in one random order with waits in between, as one thread would */
    CLUSTER_OWN_ORDER   /* each in its own: all syncs, then all waits */
};

struct cluster_case {
    uint64_t seed;
    unsigned ranks, workers, iterations;
    enum cluster_forms forms;
    enum psd_route route; /* of factored parameters; AUTO: drawn from the seed */
    enum psd_comm_mode mode;
    const char *rule; /* NULL: SGD */
    float clip;
    unsigned
        averaged; /* a bit for each parameter, which counts where no factors are; update mode */
    enum cluster_program program;
    bool bad_network; /* delays, several streams, payloads half there, a slow member, credits of one
                         piece */
    unsigned first;   /* the iteration to begin with; `iterations` is where it ends */
    const struct cluster_result *from; /* what another case has saved there; NULL: nothing */
    bool saves;                        /* at the end, what the rule keeps; update mode */

    /* What goes wrong in iteration 1, unless 0: */
    unsigned kill;        /* 1 + a rank that dies */
    unsigned cut;         /* 1 + a rank that loses the next one */
    unsigned double_sync; /* 1 + a rank that syncs a parameter twice */
    unsigned own_rate;    /* 1 + a rank that begins with another rate */
};

/* What a case ends with. */
struct cluster_result {
    float *values; /* of rank 0, one parameter after the other; NULL: it ended early */
    size_t count;
    float *states[4];                  /* the same of what the rule keeps, where it was saved */
    unsigned ended;                    /* ranks that were told of an early end, */
    char sentence[CLUSTER_RANKS][256]; /* and what each was told */
};

/* A rank's place in its program of one iteration. */
struct cluster_actor {
    float *values[CLUSTER_PARAMS];                 /* owned */
    float *grads[CLUSTER_PARAMS][CLUSTER_WORKERS]; /* owned; of hosted workers */
    bool fresh[CLUSTER_PARAMS];
    uint64_t iteration;
    size_t step;     /* the next action */
    unsigned synced; /* workers that have synced in it */
    size_t saved;    /* states of parameters that have been saved */
    bool begun, told, dead, saving;
};

struct cluster_test {
    const struct cluster_case *c;
    struct cluster_result *out;
    struct psd_job *job;         /* owned */
    struct psd_cluster *cluster; /* owned */
    struct cluster_actor actors[CLUSTER_RANKS];
    uint64_t hashes[CLUSTER_ITERATIONS]; /* what all have at the end of each iteration, */
    unsigned ended[CLUSTER_ITERATIONS];  /* and how many have ended it */
};

/* Shapes that are shared, cut, and neither; inner products with a bias and without. */
static const struct cluster_shape {
    const char *name;
    size_t rows, cols;
    bool factors;
    int bias_of;
} cluster_shapes[CLUSTER_PARAMS] = {
    {"conv1", 1, 40, false, 0},      {"conv1.bias", 1, 3, false, 0}, {"conv2", 1, 9000, false, 0},
    {"conv2.bias", 1, 50, false, 0}, {"fc1", 50, 30, true, 0},       {"fc1.bias", 1, 50, false, 5},
    {"fc2", 53, 90, true, 0},        {"scale", 1, 64, false, 0},     {"shift", 1, 4500, false, 0},
};

static inline size_t cluster_count(size_t param)
{
    return cluster_shapes[param].rows * cluster_shapes[param].cols;
}

static inline uint64_t cluster_draw(const struct cluster_case *c, uint64_t what, uint64_t below)
{
    return psd_random_below(c->seed, 77, what, below);
}

/* The samples of a worker's factors; they differ. */
static inline size_t cluster_batch(unsigned worker)
{
    return 1 + worker % 3;
}

/* Random numbers for something of a worker; the same whoever hosts it. */
static inline void cluster_fill(uint64_t iteration, size_t param, unsigned worker, unsigned what,
                                size_t count, float *out)
{
    uint64_t stream = ((iteration * 64 + param) * 64 + worker) * 4 + what;

    psd_random_fill_normal(1, stream, 0, count, out);
}

static inline enum psd_route cluster_route(const struct cluster_case *c, size_t param)
{
    static const enum psd_route routes[] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED,
                                            PSD_ROUTE_SINGLE_OWNER};

    if (c->ranks == 1)
        return PSD_ROUTE_LOCAL;
    return c->route != PSD_ROUTE_AUTO ? c->route : routes[cluster_draw(c, 100 + param, 3)];
}

static inline bool cluster_is_averaged(const struct cluster_case *c, size_t param)
{
    return c->averaged >> param & 1 && !cluster_shapes[param].factors &&
           !cluster_shapes[param].bias_of;
}

static inline struct psd_job *cluster_job(const struct cluster_case *c)
{
    struct psd_comm_update update = {
        .rule = c->rule, .momentum = 0.9f, .decay = 0.01f, .clip = c->clip};
    struct psd_plan_network network = {.bandwidth = 1e9, .latency = 1e-5};
    struct psd_plan *plan = NULL;
    struct psd_job *job = NULL;
    static float unused;

    if (c->rule && strcmp(c->rule, "SGD") != 0 && strcmp(c->rule, "Nesterov") != 0 &&
        strcmp(c->rule, "Adam") != 0)
        update.momentum = 0;
    CHECK_OK(psd_job_create(c->ranks, c->workers, 1, c->mode, &update, &job));
    for (unsigned w = 0; w < c->workers; w++)
        job->batch[w] = cluster_batch(w);
    for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
        const struct cluster_shape *shape = &cluster_shapes[i];
        bool factored = shape->factors &&
                        (c->forms == CLUSTER_FACTORED || (c->forms == CLUSTER_MIXED && i == 4));
        struct psd_comm_param param = {.name = shape->name,
                                       .rows = shape->rows,
                                       .cols = shape->cols,
                                       .value = &unused,
                                       .rate = i % 2 ? 2.0f : 0.0f,
                                       .factors = shape->factors,
                                       .averaged = cluster_is_averaged(c, i),
                                       .bias_of = shape->bias_of};
        if (shape->factors)
            param.form = factored ? PSD_FORM_FACTORED : PSD_FORM_DENSE;
        if (factored)
            param.route = cluster_route(c, i);
        CHECK_OK(psd_job_add(job, &param));
    }
    psd_plan_forms(job);
    CHECK_OK(psd_plan_create(job, NULL, &network, &plan));
    psd_plan_destroy(plan);
    return job;
}

static inline void cluster_fresh(void *user, unsigned rank, size_t param)
{
    struct cluster_test *test = user;

    test->actors[rank].fresh[param] = true;
}

static inline void cluster_ended(void *user, unsigned rank, psd_status status, const char *sentence)
{
    struct cluster_test *test = user;

    CHECK(status != PSD_OK && !test->actors[rank].told);
    test->actors[rank].told = true;
    snprintf(test->out->sentence[rank], sizeof test->out->sentence[rank], "%s", sentence);
    test->out->ended++;
}

static inline void cluster_collected(void *user, unsigned rank)
{
    struct cluster_test *test = user;

    CHECK(test->actors[rank].saving);
    test->actors[rank].saving = false;
    test->actors[rank].saved++;
}

/* The gradient of a worker, made by itself: random, or of its factors. */
static inline void cluster_gradient(uint64_t iteration, size_t param, unsigned worker, float *grad)
{
    const struct cluster_shape *shape = &cluster_shapes[param];
    size_t weight = shape->bias_of ? (size_t)shape->bias_of - 1 : param;
    size_t batch = cluster_batch(worker), rows = cluster_shapes[weight].rows, cols = shape->cols;
    float *u = malloc(batch * rows * sizeof *u), *v = malloc(batch * cols * sizeof *v);

    cluster_fill(iteration, weight, worker, 1, batch * rows, u);
    cluster_fill(iteration, weight, worker, 2, batch * cols, v);
    memset(grad, 0, cluster_count(param) * sizeof *grad);
    if (!shape->factors && !shape->bias_of)
        cluster_fill(iteration, param, worker, 0, cluster_count(param), grad);
    for (size_t k = 0; k < batch && shape->factors; k++) {
        for (size_t i = 0; i < rows * cols; i++)
            grad[i] += u[k * rows + i / cols] * v[k * cols + i % cols];
    }
    for (size_t i = 0; i < batch * rows && shape->bias_of; i++)
        grad[i % rows] += u[i];
    free(u);
    free(v);
}

static inline void cluster_sync_factors(struct cluster_test *test, unsigned rank, size_t param,
                                        unsigned worker)
{
    const struct cluster_shape *shape = &cluster_shapes[param];
    struct psd_node *node = psd_cluster_node(test->cluster, rank);
    uint64_t iteration = test->actors[rank].iteration;
    size_t batch = cluster_batch(worker);
    float *u = malloc(batch * shape->rows * sizeof *u);
    float *v = malloc(batch * shape->cols * sizeof *v);

    cluster_fill(iteration, param, worker, 1, batch * shape->rows, u);
    cluster_fill(iteration, param, worker, 2, batch * shape->cols, v);
    psd_node_copy_factors(node, param, worker, iteration, u, v, batch);
    free(u);
    free(v);
    CHECK_OK(psd_node_sync_factors(node, param, worker, batch));
}

static inline void cluster_sync(struct cluster_test *test, unsigned rank, size_t param,
                                unsigned worker)
{
    struct cluster_actor *actor = &test->actors[rank];
    float *grad = actor->grads[param][worker];

    if (psd_job_is_factored(test->job, param)) {
        cluster_sync_factors(test, rank, param, worker);
        return;
    }
    cluster_gradient(actor->iteration, param, worker, grad);
    CHECK_OK(psd_node_sync(psd_cluster_node(test->cluster, rank), param, worker, grad));
}

/* The action at `step` of an iteration: syncing all workers of a parameter, or waiting for it. There
 * are two actions for each parameter, in an order drawn from the seed. */
static inline void cluster_action(const struct cluster_test *test, unsigned rank,
                                  uint64_t iteration, size_t step, size_t *param, bool *waits)
{
    const struct cluster_case *c = test->c;
    size_t order[CLUSTER_STEPS];
    uint64_t draw = 1000 + iteration * 1000;
    bool own = c->program == CLUSTER_OWN_ORDER;

    for (size_t i = 0; i < CLUSTER_STEPS; i++)
        order[i] = i / 2;
    for (size_t i = CLUSTER_STEPS - 1; i > 0; i--) {
        size_t j = cluster_draw(c, draw + i + (own ? 100 * (rank + 1) : 0), i + 1),
               other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    size_t before = 0;
    if (own) { /* the first times of all come before the second times */
        size_t at = step % CLUSTER_PARAMS, seen = 0;
        for (size_t i = 0; i < CLUSTER_STEPS; i++) {
            bool second = false;
            for (size_t j = 0; j < i; j++)
                second |= order[j] == order[i];
            if (second == (step >= CLUSTER_PARAMS) && seen++ == at)
                *param = order[i];
        }
        *waits = step >= CLUSTER_PARAMS;
        return;
    }
    for (size_t j = 0; j < step; j++)
        before += order[j] == order[step];
    *param = order[step];
    *waits = before > 0;
}

static inline void cluster_break(struct cluster_test *test, unsigned rank, size_t param)
{
    const struct cluster_case *c = test->c;
    struct psd_node *node = psd_cluster_node(test->cluster, rank);

    if (c->kill == rank + 1) {
        psd_cluster_kill(test->cluster, rank);
        test->actors[rank].dead = true;
    }
    if (c->cut == rank + 1)
        psd_cluster_cut(test->cluster, rank, (rank + 1) % c->ranks);
    if (c->double_sync == rank + 1) {
        unsigned worker = 0;
        while (test->job->host[worker] != rank)
            worker++;
        psd_status status =
            psd_job_is_factored(test->job, param)
                ? psd_node_sync_factors(node, param, worker, cluster_batch(worker))
                : psd_node_sync(node, param, worker, test->actors[rank].grads[param][worker]);
        CHECK_STATUS(PSD_EINVAL, status);
    }
}

/* States that are to be saved. */
static inline size_t cluster_states(const struct cluster_test *test)
{
    return test->c->saves ? (size_t)CLUSTER_PARAMS * psd_job_states(test->job) : 0;
}

/* Where a parameter begins in a result. */
static inline size_t cluster_at(size_t param)
{
    size_t at = 0;

    while (param > 0)
        at += cluster_count(--param);
    return at;
}

/* At the end: saves the next state, unless one is under way. */
static inline bool cluster_save(struct cluster_test *test, unsigned rank)
{
    struct cluster_actor *actor = &test->actors[rank];
    unsigned kinds = psd_job_states(test->job);

    if (actor->saving || actor->saved == cluster_states(test))
        return false;
    size_t param = actor->saved / kinds, kind = actor->saved % kinds;
    float *data = test->job->host[0] == rank ? test->out->states[kind] + cluster_at(param) : NULL;
    actor->saving = true;
    CHECK_OK(
        psd_node_save_state(psd_cluster_node(test->cluster, rank), param, (unsigned)kind, data));
    return true;
}

/* Begins an iteration. False: initial values come first, or the job has ended. */
static inline bool cluster_begin(struct cluster_test *test, unsigned rank)
{
    struct cluster_actor *actor = &test->actors[rank];
    bool differs = test->c->own_rate == rank + 1 && actor->iteration == 1;

    for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
        if (actor->iteration == test->c->first && !actor->fresh[i])
            return false;
    }
    psd_status status = psd_node_begin(psd_cluster_node(test->cluster, rank), actor->iteration,
                                       differs ? 0.2f : 0.1f);
    if (!test->c->own_rate) /* else others may have been the first to say theirs */
        CHECK_OK(status);
    actor->begun = status == PSD_OK;
    return actor->begun;
}

/* The workers of a rank in the order in which they sync a parameter, drawn from the seed; how many
 * they are. */
static inline unsigned cluster_order(const struct cluster_test *test, unsigned rank, size_t param,
                                     unsigned order[CLUSTER_WORKERS])
{
    uint64_t draw = (test->actors[rank].iteration * 64 + param) * 64 + rank;
    unsigned count = 0;

    for (unsigned w = 0; w < test->c->workers; w++) {
        if (test->job->host[w] != rank)
            continue;
        unsigned place = (unsigned)cluster_draw(test->c, 2000000 + draw * 64 + w, count + 1);
        order[count++] = order[place];
        order[place] = w;
    }
    return count;
}

/* The next of a rank's workers syncs a parameter. True: it was the last. */
static inline bool cluster_sync_next(struct cluster_test *test, unsigned rank, size_t param)
{
    struct cluster_actor *actor = &test->actors[rank];
    unsigned order[CLUSTER_WORKERS], count = cluster_order(test, rank, param, order);

    actor->fresh[param] = false;
    for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
        if (psd_job_follows(test->job, i) && cluster_shapes[i].bias_of == (int)param + 1)
            actor->fresh[i] = false;
    }
    cluster_sync(test, rank, param, order[actor->synced++]);
    if (actor->synced < count)
        return false;
    actor->synced = 0;
    if (actor->iteration == 1 && actor->step >= 3)
        cluster_break(test, rank, param);
    return true;
}

/* Lets a rank do its next deed, if it can. True: something has happened. */
static inline bool cluster_act(struct cluster_test *test, unsigned rank)
{
    struct cluster_actor *actor = &test->actors[rank];
    struct psd_node *node = psd_cluster_node(test->cluster, rank);
    size_t param = 0;
    bool waits = false;

    if (actor->told || actor->dead)
        return false;
    if (actor->iteration == test->c->iterations)
        return cluster_save(test, rank);
    if (!actor->begun && !cluster_begin(test, rank))
        return false;
    cluster_action(test, rank, actor->iteration, actor->step, &param, &waits);
    if (waits && !actor->fresh[param]) {
        psd_node_waits(node, param);
        return actor->fresh[param]; /* what was held back may have been all that was missing */
    }
    if (!waits && !psd_job_follows(test->job, param) && !cluster_sync_next(test, rank, param))
        return true; /* the network goes on before the next worker's turn */
    for (size_t i = 0; actor->step + 1 == CLUSTER_STEPS && i < CLUSTER_PARAMS; i++) {
        if (!actor->fresh[i]) { /* a bias may have been waited for before its weight was synced */
            psd_node_waits(node, i);
            return actor->fresh[i];
        }
    }
    if (++actor->step == CLUSTER_STEPS) {
        actor->step = 0;
        actor->begun = false;
        actor->iteration++;
    }
    return true;
}

/* What the rule kept before, on every rank. */
static inline void cluster_load(struct cluster_test *test)
{
    for (unsigned i = 0; i < test->c->ranks * CLUSTER_PARAMS; i++) {
        size_t param = i % CLUSTER_PARAMS;
        for (unsigned kind = 0; kind < psd_job_states(test->job); kind++)
            CHECK_OK(psd_node_load_state(psd_cluster_node(test->cluster, i / CLUSTER_PARAMS), param,
                                         kind, test->c->from->states[kind] + cluster_at(param)));
    }
}

static inline void cluster_prepare(struct cluster_test *test)
{
    const struct cluster_case *c = test->c;

    for (unsigned rank = 0; rank < c->ranks; rank++) {
        struct cluster_actor *actor = &test->actors[rank];
        actor->iteration = c->first;
        for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
            actor->values[i] = malloc(cluster_count(i) * sizeof(float));
            cluster_fill(99, i, 0, 3, cluster_count(i), actor->values[i]);
            if (c->from)
                memcpy(actor->values[i], c->from->values + cluster_at(i),
                       cluster_count(i) * sizeof(float));
            for (size_t k = 0; rank > 0 && k < cluster_count(i); k++)
                actor->values[i][k] = (float)rank; /* worker 0's are to come instead */
            psd_node_set_value(psd_cluster_node(test->cluster, rank), i, actor->values[i]);
            for (unsigned w = 0; w < c->workers; w++)
                actor->grads[i][w] =
                    test->job->host[w] == rank ? malloc(cluster_count(i) * sizeof(float)) : NULL;
        }
    }
    for (unsigned rank = 0; rank < c->ranks; rank++)
        CHECK_OK(psd_node_start(psd_cluster_node(test->cluster, rank), false));
    for (size_t i = 0; c->saves && i < 4; i++)
        test->out->states[i] = calloc(cluster_at(CLUSTER_PARAMS), sizeof(float));
    if (c->from)
        cluster_load(test);
}

static inline bool cluster_all_done(const struct cluster_test *test, uint64_t iterations)
{
    for (unsigned rank = 0; rank < test->c->ranks; rank++) {
        const struct cluster_actor *actor = &test->actors[rank];
        if (actor->iteration < iterations || (actor->iteration == iterations && actor->step) ||
            actor->saved < cluster_states(test))
            return false;
        for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
            if (!actor->fresh[i])
                return false;
        }
    }
    return true;
}

/* What a rank has at the end of an iteration, as one number. */
static inline uint64_t cluster_hash(const struct cluster_actor *actor)
{
    uint64_t hash = UINT64_C(1469598103934665603);

    for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
        for (size_t k = 0; k < cluster_count(i); k++) {
            uint32_t bits;
            memcpy(&bits, &actor->values[i][k], sizeof bits);
            hash = (hash ^ bits) * UINT64_C(1099511628211);
        }
    }
    return hash;
}

/* A rank acts; when that ends an iteration, its values are those of whoever ended it first. */
static inline bool cluster_move(struct cluster_test *test, unsigned rank)
{
    struct cluster_actor *actor = &test->actors[rank];
    uint64_t iteration = actor->iteration;
    bool moved = cluster_act(test, rank);

    if (actor->iteration == iteration)
        return moved;
    uint64_t hash = cluster_hash(actor);
    if (!test->ended[iteration]++)
        test->hashes[iteration] = hash;
    CHECK(test->hashes[iteration] == hash);
    return moved;
}

/* Everybody acts, in an order drawn from the seed, and the network goes on in between. Nobody waits
 * for others at the end of an iteration: a rank may be one ahead. */
static inline void cluster_go(struct cluster_test *test)
{
    const struct cluster_case *c = test->c;
    uint64_t draws = 0;

    for (bool moved = true; moved && !cluster_all_done(test, c->iterations);) {
        unsigned first = (unsigned)cluster_draw(c, 1000000 + draws++, c->ranks);
        moved = false;
        for (unsigned i = 0; i < c->ranks; i++)
            moved |= cluster_move(test, (first + i) % c->ranks);
        for (uint64_t n = cluster_draw(c, 1000000 + draws++, 20) + 1; n > 0; n--)
            moved |= psd_cluster_step(test->cluster);
        CHECK_OK(psd_cluster_status(test->cluster));
    }
}

/* What was saved is what each rank keeps. */
static inline void cluster_check_states(struct cluster_test *test)
{
    const struct psd_layout *layout = psd_cluster_layout(test->cluster);

    for (size_t part = 0; test->c->saves && part < layout->n_parts; part++) {
        const struct psd_part *p = &layout->parts[part];
        const struct psd_node *node =
            psd_cluster_node(test->cluster, layout->pieces[p->piece].server);
        for (unsigned kind = 0; kind < psd_job_states(test->job); kind++) {
            const float *kept = psd_state_find(node, part, kind);
            const float *saved = test->out->states[kind] + cluster_at(p->param) + p->first;
            CHECK(!kept == test->job->params[p->param].averaged);
            CHECK(!kept || memcmp(kept, saved, p->count * sizeof *kept) == 0);
        }
    }
}

static inline void cluster_keep(struct cluster_test *test)
{
    test->out->values = malloc(cluster_at(CLUSTER_PARAMS) * sizeof(float));
    test->out->count = 0;
    for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
        memcpy(test->out->values + test->out->count, test->actors[0].values[i],
               cluster_count(i) * sizeof(float));
        test->out->count += cluster_count(i);
    }
}

static inline void cluster_clear(struct cluster_test *test)
{
    for (unsigned rank = 0; rank < test->c->ranks; rank++) {
        for (size_t i = 0; i < CLUSTER_PARAMS; i++) {
            free(test->actors[rank].values[i]);
            for (unsigned w = 0; w < test->c->workers; w++)
                free(test->actors[rank].grads[i][w]);
        }
    }
    psd_cluster_destroy(test->cluster);
    psd_job_destroy(test->job);
    free(test);
}

/* All that a case says, and so all that it takes to run it again. */
static inline void cluster_print(const struct cluster_case *c)
{
    fprintf(stderr,
            "    seed %llu, %u ranks, %u workers, iterations %u to %u%s, forms %d, route %d, mode "
            "%d, rule %s, clip %g, averaged %x, program %d, %s network%s",
            (unsigned long long)c->seed, c->ranks, c->workers, c->first, c->iterations,
            c->from ? " from what was saved" : "", (int)c->forms, (int)c->route, (int)c->mode,
            c->rule ? c->rule : "SGD", (double)c->clip, c->averaged, (int)c->program,
            c->bad_network ? "bad" : "good", c->saves ? ", saves" : "");
    fprintf(stderr, "; 1 + who: kill %u, cut %u, double sync %u, own rate %u\n", c->kill, c->cut,
            c->double_sync, c->own_rate);
}

/* Runs the case; true: it came to its end, with the same values everywhere after every iteration. */
static inline bool cluster_run(const struct cluster_case *c, struct cluster_result *out)
{
    struct cluster_test *test = calloc(1, sizeof *test);
    struct psd_cluster_options options = {
        .fresh = cluster_fresh, .collected = cluster_collected, .ended = cluster_ended};
    struct psd_workload slow = {
        .rebuild_flops = 1e7, .update_bytes_per_s = 1e8, .sum_bytes_per_s = 5e7};

    cluster_print(c);
    *out = (struct cluster_result){.values = NULL};
    test->c = c;
    test->out = out;
    test->job = cluster_job(c);
    options.job = test->job;
    options.user = test;
    options.most = (size_t)16 << 10 >> cluster_draw(c, 6, 8); /* small ones cut factors, too */
    options.network = (struct psd_sim_options){
        .seed = c->seed, .bandwidth = 1e9, .latency_ns = 10 * PSD_CLOCK_US};
    if (c->bad_network) {
        options.credit = 1;
        options.network.streams = 3;
        options.network.delay_ns[1] = 3 * PSD_CLOCK_MS;
        options.network.half_ns = c->seed % 4 ? 2 * PSD_CLOCK_MS : 0;
    }
    if (c->seed % 3) /* arithmetic takes time, too */
        options.workload = &slow;
    CHECK_OK(psd_cluster_create(&options, &test->cluster));
    if (c->bad_network)
        psd_cluster_slow(test->cluster, (unsigned)cluster_draw(c, 5, c->ranks), 1e7, 5);
    cluster_prepare(test);
    cluster_go(test);
    bool done = cluster_all_done(test, c->iterations);
    if (done) {
        cluster_check_states(test);
        cluster_keep(test);
    }
    cluster_clear(test);
    return done;
}

static inline void cluster_free(struct cluster_result *result)
{
    free(result->values);
    for (size_t i = 0; i < 4; i++)
        free(result->states[i]);
}

#endif
