/* crew.h - a small training job with several seats in one process, for tests of poseidon/comm.h.
 *
 *     crew_ground = CREW_TLS;         jobs of this test meet over sockets; without it, inproc
 *
 *     struct crew_case c = {.ranks = 3, .workers = 8, .rule = "Adam"};
 *     float *together = crew_train(&c), *alone = crew_train_alone(&c);
 *     CHECK(crew_same(together, alone));
 *
 * Each seat has a thread of its own, each hosted worker too if the case says so. Gradients depend on
 * iteration, parameter, worker, element and the value at hand alone; so jobs with other seats, routes
 * or threads end with the same bits, unless a value is not what it should be. */
#ifndef PSD_TESTS_CREW_H
#define PSD_TESTS_CREW_H

#include "base/random.h"
#include "comm/job.h"
#include "math/rules.h"
#include "poseidon/comm.h"
#include "test.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    CREW_PARAMS = 8,
    CREW_MOST = 8,
    CREW_BATCH = 3,
    CREW_WIDEST = 700,
    CREW_PATIENCE_MS = 60000
};

/* What the seats of a test meet over. Each test is a process of its own (test.h), and sets it first. */
enum crew_ground { CREW_INPROC, CREW_TLS, CREW_CLEAR, CREW_LANES };
static enum crew_ground crew_ground;

/* How the inner products are synced. */
enum crew_forms { CREW_DENSE, CREW_FACTORED, CREW_MIXED };

struct crew_case {
    unsigned ranks, workers, iterations; /* 0: 1, as many as ranks, 4 */
    const char *rule;
    enum psd_comm_mode mode;
    enum crew_forms forms;
    enum psd_route route; /* of what is factored */
    float clip;
    unsigned averaged; /* a bit for each parameter without factors; update mode */
    bool in_place;     /* sum mode: the sum replaces the gradient of the first hosted worker */
    bool threads;      /* each hosted worker has one */
    unsigned helpers;
};

/* Shapes that share a piece, are cut over all ranks, and neither; inner products with and without a
 * bias. */
static const struct crew_shape {
    const char *name;
    size_t rows, cols;
    bool factors;
    int bias_of;
} crew_shapes[CREW_PARAMS] = {
    {"conv1", 1, 40, false, 0}, {"conv1.bias", 1, 3, false, 0}, {"conv2", 1, 70000, false, 0},
    {"fc1", 50, 30, true, 0},   {"fc1.bias", 1, 50, false, 4},  {"fc2", 33, 700, true, 0},
    {"scale", 1, 64, false, 0}, {"shift", 1, 17000, false, 0},
};

static inline size_t crew_count(size_t param)
{
    return crew_shapes[param].rows * crew_shapes[param].cols;
}

static inline size_t crew_first(size_t param)
{
    size_t first = 0;

    while (param > 0)
        first += crew_count(--param);
    return first;
}

/* Whether n numbers have the same bits. */
static inline bool crew_equal(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n * sizeof(float)) == 0;
}

/* The same for the values of all parameters. */
static inline bool crew_same(const float *a, const float *b)
{
    return crew_equal(a, b, crew_first(CREW_PARAMS));
}

static inline unsigned crew_ranks(const struct crew_case *c)
{
    return c->ranks ? c->ranks : 1;
}

static inline unsigned crew_workers(const struct crew_case *c)
{
    return c->workers ? c->workers : crew_ranks(c);
}

static inline unsigned crew_iterations(const struct crew_case *c)
{
    return c->iterations ? c->iterations : 4;
}

/* A rule's own numbers; rules without momentum refuse one in Caffe, and need none here. */
static inline struct psd_comm_update crew_update(const struct crew_case *c)
{
    bool plain = c->rule && (strcmp(c->rule, "AdaGrad") == 0 || strcmp(c->rule, "RMSProp") == 0);

    return (struct psd_comm_update){.rule = c->rule,
                                    .momentum = plain ? 0 : 0.9f,
                                    .delta = 1e-6f,
                                    .decay = 0.01f,
                                    .clip = c->clip};
}

static inline bool crew_is_factored(const struct crew_case *c, size_t param)
{
    bool weight = crew_shapes[param].factors || crew_shapes[param].bias_of;

    return weight && (c->forms == CREW_FACTORED || (c->forms == CREW_MIXED && param < 5));
}

/* What a worker makes of it then is no gradient but its value. */
static inline bool crew_is_averaged(const struct crew_case *c, size_t param)
{
    return c->averaged >> param & 1;
}

static inline struct psd_comm_param crew_param(const struct crew_case *c, size_t param)
{
    const struct crew_shape *shape = &crew_shapes[param];
    struct psd_comm_param out = {.name = shape->name,
                                 .rows = shape->rows,
                                 .cols = shape->cols,
                                 .rate = param % 2 ? 2.0f : 0.0f,
                                 .decay = param % 3 ? 0.0f : -1.0f,
                                 .factors = shape->factors,
                                 .averaged = crew_is_averaged(c, param),
                                 .bias_of = shape->bias_of};

    if (shape->factors) {
        out.form = crew_is_factored(c, param) ? PSD_FORM_FACTORED : PSD_FORM_DENSE;
        out.route = crew_is_factored(c, param) ? c->route : PSD_ROUTE_AUTO;
    }
    return out;
}

static inline void crew_start_values(float *values)
{
    psd_random_fill_normal(1, 0, 0, crew_first(CREW_PARAMS), values);
}

/* What a worker makes of a parameter: its factors, */
static inline void crew_factors(uint64_t iteration, size_t param, unsigned worker,
                                const float *value, float *u, float *v)
{
    const struct crew_shape *shape = &crew_shapes[param];
    uint64_t stream = ((iteration + 1) * CREW_PARAMS + param) * 64 + worker;

    psd_random_fill_normal(2, stream, 0, CREW_BATCH * shape->rows, u);
    psd_random_fill_normal(3, stream, 0, CREW_BATCH * shape->cols, v);
    for (size_t i = 0; i < CREW_BATCH * shape->cols; i++)
        v[i] += value[i % shape->cols];
}

/* or its gradient. */
static inline void crew_gradient(uint64_t iteration, size_t param, unsigned worker,
                                 const float *value, float *grad)
{
    uint64_t stream = ((iteration + 1) * CREW_PARAMS + param) * 64 + worker;

    psd_random_fill_normal(4, stream, 0, crew_count(param), grad);
    for (size_t i = 0; i < crew_count(param); i++)
        grad[i] += 0.25f * value[i];
}

/* The rule, as a caller of sum mode applies it: of the mean of all workers; or that mean itself. */
static inline void crew_apply(const struct crew_case *c, size_t param, uint64_t iteration,
                              float *value, const float *sum, float *const *states)
{
    struct psd_comm_update update = crew_update(c);
    const struct psd_rule *rule = psd_rules_find(c->rule ? c->rule : "SGD");
    struct psd_comm_param asked = crew_param(c, param);

    for (size_t i = 0; asked.averaged && i < crew_count(param); i++)
        value[i] = sum[i] / (float)crew_workers(c);
    if (asked.averaged)
        return;
    rule->apply(
        &(struct psd_rule_step){
            .rate = 0.1f * (asked.rate > 0 ? asked.rate : 1),
            .decay = asked.decay < 0 ? 0 : update.decay,
            .scale = 1.0f / (float)crew_workers(c),
            .momentum = update.momentum,
            .momentum2 = 0.999f,
            .delta = update.delta,
            .rms_decay = 0.99f,
            .iteration = iteration,
        },
        crew_count(param), value, sum, states);
}

/* --- alone ------------------------------------------------------------------------------------ */

/* Adds `count` leaves of n values from `leaves` on into the first, along the tree of math/tree.h. */
static inline void crew_add_up(float *leaves, size_t count, size_t n)
{
    for (size_t step = 1; step < count; step *= 2) {
        for (size_t i = 0; i + step < count; i += 2 * step) {
            for (size_t k = 0; k < n; k++)
                leaves[i * n + k] += leaves[(i + step) * n + k];
        }
    }
}

/* The sum of all workers' gradients, in the form of the case, into sum[count]. */
static inline void crew_sum_alone(const struct crew_case *c, uint64_t iteration, size_t param,
                                  const float *values, float *sum)
{
    const struct crew_shape *shape = &crew_shapes[param];
    size_t count = crew_count(param), workers = crew_workers(c);
    size_t weight = shape->bias_of ? (size_t)shape->bias_of - 1 : param;
    const struct crew_shape *factors = &crew_shapes[weight];
    float *u = calloc(CREW_BATCH * factors->rows, sizeof *u);
    float *v = calloc(CREW_BATCH * factors->cols, sizeof *v);
    float *leaves = calloc(workers * count, sizeof *leaves);

    memset(sum, 0, count * sizeof *sum);
    for (unsigned w = 0; w < workers; w++) {
        if (!crew_is_factored(c, param)) {
            crew_gradient(iteration, param, w, values + crew_first(param), leaves + w * count);
            continue;
        }
        crew_factors(iteration, weight, w, values + crew_first(weight), u, v);
        for (size_t k = 0; k < CREW_BATCH; k++) {
            for (size_t i = 0; i < count; i++)
                sum[i] = shape->bias_of ? sum[i] + u[k * count + i]
                                        : fmaf(u[k * shape->rows + i / shape->cols],
                                               v[k * shape->cols + i % shape->cols], sum[i]);
        }
    }
    if (!crew_is_factored(c, param)) {
        crew_add_up(leaves, workers, count);
        memcpy(sum, leaves, count * sizeof *sum);
    }
    free(u);
    free(v);
    free(leaves);
}

/* The same job by one loop over everything. The caller frees the values. */
static inline float *crew_train_alone(const struct crew_case *c)
{
    size_t all = crew_first(CREW_PARAMS);
    float *values = calloc(all, sizeof *values), *sums = calloc(all, sizeof *sums);
    float *states[4];

    for (size_t i = 0; i < 4; i++)
        states[i] = calloc(all, sizeof **states);
    crew_start_values(values);
    for (uint64_t t = 0; t < crew_iterations(c); t++) {
        for (size_t i = 0; i < CREW_PARAMS; i++)
            crew_sum_alone(c, t, i, values, sums + crew_first(i));
        for (size_t i = 0; i < CREW_PARAMS; i++) {
            size_t at = crew_first(i);
            crew_apply(c, i, t, values + at, sums + at,
                       (float *[]){states[0] + at, states[1] + at, states[2] + at, states[3] + at});
        }
    }
    for (size_t i = 0; i < 4; i++)
        free(states[i]);
    free(sums);
    return values;
}

/* --- together --------------------------------------------------------------------------------- */

/* Runs body(arg, rank) on a thread for each rank and waits for all. */
struct crew_thread {
    void (*body)(void *arg, unsigned rank);
    void *arg;
    unsigned rank;
};

static inline void *crew_thread_run(void *arg)
{
    const struct crew_thread *thread = arg;

    thread->body(thread->arg, thread->rank);
    return NULL;
}

static inline void crew_each(unsigned count, void (*body)(void *arg, unsigned rank), void *arg)
{
    struct crew_thread threads[64];
    pthread_t ids[64];

    CHECK(count <= 64);
    for (unsigned i = 0; i < count; i++) {
        threads[i] = (struct crew_thread){body, arg, i};
        CHECK(pthread_create(&ids[i], NULL, crew_thread_run, &threads[i]) == 0);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(ids[i], NULL);
}

/* Whether nobody listens at the port, on loopback. */
static inline bool crew_is_free(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
    bool is_free = bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0;
    close(fd);
    return is_free;
}

/* Whether no other test has chosen the port; then it is ours, by a name that goes with the process. */
static inline bool crew_claim(unsigned port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "poseidon-test-port-%u", port);
    CHECK(fd >= 0);
    if (bind(fd, (struct sockaddr *)&name, sizeof name) == 0)
        return true;
    close(fd);
    return false;
}

/* A port that is nobody's, below those of other tests and those that the kernel gives to who connects. */
static inline unsigned crew_port(void)
{
    static atomic_uint jobs;
    unsigned port = 0;

    do
        port = 12000 + ((unsigned)getpid() * 101 + atomic_fetch_add(&jobs, 1)) % 8000;
    while (!crew_claim(port) || !crew_is_free(port));
    return port;
}

/* Runs a test of what happens when a time is over. It returns false when the machine was too busy for what
 * should have happened before that, and then gets ten times as long. */
static inline void crew_be_patient(uint64_t timeout_ms, bool (*test)(uint64_t timeout_ms))
{
    for (; !test(timeout_ms); timeout_ms *= 10)
        CHECK(timeout_ms < CREW_PATIENCE_MS);
}

/* A name for the next job of the process. */
static inline const char *crew_name(char name[32])
{
    static atomic_int jobs;

    if (crew_ground == CREW_INPROC)
        snprintf(name, 32, "inproc://job%d", atomic_fetch_add(&jobs, 1));
    else
        snprintf(name, 32, "tcp://127.0.0.1:%u", crew_port());
    return name;
}

/* What seats on this ground need; nothing is measured, which would take time. Nobody is taken for lost
 * because the machine is busy. */
static inline struct psd_comm_options crew_grounded(struct psd_comm_options options)
{
    if (options.timeout_ms == 0)
        options.timeout_ms = CREW_PATIENCE_MS;
    if (crew_ground == CREW_INPROC)
        return options;
    if (!options.key) {
        options.key = "what only this crew knows";
        options.key_size = strlen(options.key);
    }
    options.in_clear = crew_ground == CREW_CLEAR;
    options.lanes = crew_ground == CREW_LANES ? 2 : 0;
    options.bandwidth = options.bandwidth == 0 ? 1e9 : options.bandwidth;
    return options;
}

struct crew {
    const struct crew_case *c;
    char name[32];
    float *result; /* rank 0's values */

    void (*midway)(unsigned rank); /* called by each after half of the iterations; or NULL */
};

/* A seat with what its workers need. */
struct crew_seat {
    const struct crew_case *c;
    struct psd_comm *comm;
    float *values;           /* in update mode the library's */
    float *sums;             /* in sum mode */
    float *grads[CREW_MOST]; /* of each hosted worker */
    float *states[4];        /* in sum mode */
    float *u[CREW_MOST], *v[CREW_MOST];
    const unsigned *hosted;
    unsigned n_hosted;
    uint64_t iteration;
};

static inline void crew_seat_init(struct crew_seat *seat)
{
    size_t all = crew_first(CREW_PARAMS);

    seat->values = calloc(all, sizeof *seat->values);
    seat->sums = calloc(all, sizeof *seat->sums);
    for (size_t i = 0; i < 4; i++)
        seat->states[i] = calloc(all, sizeof(float));
    for (size_t i = 0; i < CREW_MOST; i++) {
        seat->grads[i] = calloc(all, sizeof(float));
        seat->u[i] = calloc(CREW_BATCH, CREW_WIDEST * sizeof(float));
        seat->v[i] = calloc(CREW_BATCH, CREW_WIDEST * sizeof(float));
    }
}

static inline void crew_seat_fini(struct crew_seat *seat)
{
    free(seat->values);
    free(seat->sums);
    for (size_t i = 0; i < 4; i++)
        free(seat->states[i]);
    for (size_t i = 0; i < CREW_MOST; i++) {
        free(seat->grads[i]);
        free(seat->u[i]);
        free(seat->v[i]);
    }
}

static inline void crew_add_params(struct crew_seat *seat)
{
    for (size_t i = 0; i < CREW_PARAMS; i++) {
        struct psd_comm_param param = crew_param(seat->c, i);
        int id = -1;
        float *memory = seat->c->mode == PSD_COMM_UPDATE ? seat->values
                        : seat->c->in_place              ? seat->grads[0]
                                                         : seat->sums;
        param.value = memory + crew_first(i);
        CHECK_OK(psd_comm_add(seat->comm, &param, &id));
        CHECK(id == (int)i);
    }
}

/* One hosted worker's backward pass, last parameter first. */
static inline void crew_backward(void *arg, unsigned hosted)
{
    struct crew_seat *seat = arg;
    unsigned worker = seat->hosted[hosted];

    for (size_t i = CREW_PARAMS; i-- > 0;) {
        const float *value = seat->values + crew_first(i);
        float *grad = seat->grads[hosted] + crew_first(i);
        if (!crew_is_factored(seat->c, i)) {
            crew_gradient(seat->iteration, i, worker, value, grad);
            CHECK_OK(psd_comm_sync(seat->comm, (int)i, worker, grad));
        } else if (!crew_shapes[i].bias_of) {
            crew_factors(seat->iteration, i, worker, value, seat->u[hosted], seat->v[hosted]);
            CHECK_OK(psd_comm_sync_factors(seat->comm, (int)i, worker, seat->u[hosted],
                                           seat->v[hosted], CREW_BATCH));
            memset(seat->u[hosted], 0x7f, CREW_BATCH * crew_shapes[i].rows * sizeof(float));
        }
    }
}

static inline void crew_forward(struct crew_seat *seat)
{
    for (size_t i = 0; i < CREW_PARAMS; i++) {
        size_t at = crew_first(i);
        CHECK_OK(psd_comm_wait(seat->comm, (int)i));
        if (seat->c->mode == PSD_COMM_UPDATE)
            continue;
        float *sum = (seat->c->in_place ? seat->grads[0] : seat->sums) + at;
        crew_apply(seat->c, i, seat->iteration, seat->values + at, sum,
                   (float *[]){seat->states[0] + at, seat->states[1] + at, seat->states[2] + at,
                               seat->states[3] + at});
        memset(sum, 0x7f, crew_count(i) * sizeof *sum); /* it is the caller's by now */
    }
}

static inline void crew_iterate(struct crew_seat *seat)
{
    CHECK_OK(psd_comm_begin(seat->comm, seat->iteration, 0.1f));
    if (seat->c->threads)
        crew_each(seat->n_hosted, crew_backward, seat);
    for (unsigned i = 0; !seat->c->threads && i < seat->n_hosted; i++)
        crew_backward(seat, i);
    crew_forward(seat);
    seat->iteration++;
}

static inline struct psd_comm_options crew_options(const struct crew_case *c, const char *name,
                                                   unsigned rank)
{
    return crew_grounded((struct psd_comm_options){.coordinator = name,
                                                   .rank = rank,
                                                   .ranks = c->ranks,
                                                   .workers = c->workers,
                                                   .batch = CREW_BATCH,
                                                   .mode = c->mode,
                                                   .update = crew_update(c),
                                                   .threads = c->helpers});
}

static inline void crew_take_part(void *arg, unsigned rank)
{
    struct crew *crew = arg;
    struct crew_seat seat = {.c = crew->c};
    struct psd_comm_options options = crew_options(crew->c, crew->name, rank);

    crew_seat_init(&seat);
    if (rank == 0 || crew->c->mode == PSD_COMM_SUM)
        crew_start_values(seat.values);
    CHECK_OK(psd_comm_open(&options, &seat.comm));
    crew_add_params(&seat);
    CHECK_OK(psd_comm_start(seat.comm));
    seat.hosted = psd_comm_hosted(seat.comm, &seat.n_hosted);
    CHECK(seat.n_hosted <= CREW_MOST);
    while (seat.iteration < crew_iterations(crew->c)) {
        if (crew->midway && seat.iteration == crew_iterations(crew->c) / 2)
            crew->midway(rank);
        crew_iterate(&seat);
    }
    if (rank == 0)
        memcpy(crew->result, seat.values, crew_first(CREW_PARAMS) * sizeof(float));
    CHECK_OK(psd_comm_barrier(seat.comm));
    CHECK(crew_same(crew->result, seat.values));
    CHECK_OK(psd_comm_barrier(seat.comm));
    psd_comm_close(seat.comm);
    crew_seat_fini(&seat);
}

/* Trains on all seats, which must end with the same values; the caller frees them. */
static inline float *crew_train(const struct crew_case *c)
{
    struct crew crew = {.c = c, .result = calloc(crew_first(CREW_PARAMS), sizeof(float))};

    fprintf(stderr, "    %u ranks, %u workers, rule %s, mode %d, forms %d, route %d\n",
            crew_ranks(c), crew_workers(c), c->rule ? c->rule : "-", (int)c->mode, (int)c->forms,
            (int)c->route);
    crew_name(crew.name);
    crew_each(crew_ranks(c), crew_take_part, &crew);
    return crew.result;
}

#endif
