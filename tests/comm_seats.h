/* comm_seats.h - seats of small jobs in one process, for the tests of poseidon/comm.h: one alone, or a group.
 *
 *     struct single *single = new_started();        alone in its job, with one parameter
 *     CHECK_OK(psd_comm_begin(single->comm, 0, 1));
 *     free_single(single);
 *
 *     struct group group = {.timeout_ms = 1000};    what its ranks are opened with, and write down
 *     crew_name(group.name);
 *     crew_each(RANKS, body, &group);               body(&group, rank) on a thread each
 *
 * A body opens its seat with group_options(group, rank). */
#ifndef PSD_TESTS_COMM_SEATS_H
#define PSD_TESTS_COMM_SEATS_H

#include "crew.h"

/* --- one seat --------------------------------------------------------------------------------- */

/* A seat alone in its job. */
struct single {
    char name[32];
    float value[4], grad[4];
    struct psd_comm *comm;
    int id;
};

static inline struct psd_comm_options single_options(const struct single *single)
{
    return (struct psd_comm_options){.coordinator = single->name};
}

static inline struct psd_comm_param single_param(struct single *single)
{
    return (struct psd_comm_param){.name = "p", .rows = 1, .cols = 4, .value = single->value};
}

static inline struct single *new_single(void)
{
    struct single *single = calloc(1, sizeof *single);

    CHECK(single);
    crew_name(single->name);
    struct psd_comm_options options = single_options(single);
    CHECK_OK(psd_comm_open(&options, &single->comm));
    return single;
}

static inline struct single *new_started(void)
{
    struct single *single = new_single();
    struct psd_comm_param param = single_param(single);

    CHECK_OK(psd_comm_add(single->comm, &param, &single->id));
    CHECK_OK(psd_comm_start(single->comm));
    return single;
}

static inline void free_single(struct single *single)
{
    psd_comm_close(single->comm);
    free(single);
}

/* --- several ---------------------------------------------------------------------------------- */

enum { RANKS = 3 };

/* What the ranks of a job are opened with, and what they write down. */
struct group {
    char name[32];
    const unsigned *hosted[RANKS];
    unsigned n_hosted[RANKS];
    uint64_t timeout_ms;
    double bandwidth, latency;
    struct psd_comm_rates rates;
    atomic_int warned, met;
    atomic_bool failed;
    struct psd_comm_counters before[RANKS], after[RANKS];
    char warning[RANKS][256]; /* the first of each rank */
    psd_status status[RANKS];
    char sentence[RANKS][512];
    char *plan[RANKS];
    float late[3][80]; /* values and gradients of those who wait for rank 1 */
};

static inline struct psd_comm_options group_options(const struct group *group, unsigned rank)
{
    return crew_grounded((struct psd_comm_options){.coordinator = group->name,
                                                   .rank = rank,
                                                   .ranks = RANKS,
                                                   .hosted = group->hosted[rank],
                                                   .n_hosted = group->n_hosted[rank],
                                                   .bandwidth = group->bandwidth,
                                                   .latency = group->latency,
                                                   .timeout_ms = group->timeout_ms,
                                                   .rates = group->rates});
}

static inline struct psd_comm *group_seat(const struct group *group, unsigned rank, float *value)
{
    struct psd_comm_options options = group_options(group, rank);
    struct psd_comm_param params[] = {
        {.name = "fc", .rows = 3, .cols = 2, .value = value, .factors = true},
        {.name = "large", .rows = 1, .cols = 100000, .value = value + 6}};
    struct psd_comm *comm = NULL;
    int id = -1;

    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &params[0], &id));
    CHECK_OK(psd_comm_add(comm, &params[1], &id));
    return comm;
}

/* All begin with the values of worker 0, whatever theirs were. The plan is the caller's, who frees it. */
static inline void compare_first_values(void *arg, unsigned rank)
{
    struct group *group = arg;
    float *value = calloc(100006, sizeof *value);
    unsigned count = 0;

    struct psd_comm *comm = group_seat(group, rank, value);
    for (size_t i = 0; i < 100006; i++)
        value[i] = (float)i + 1e6f * (float)psd_comm_hosted(comm, &count)[0];
    CHECK_OK(psd_comm_start(comm));
    for (size_t i = 0; i < 100006; i++)
        CHECK_NEAR(value[i], i, 0);
    group->plan[rank] = strdup(psd_comm_plan(comm));
    CHECK(psd_comm_form(comm, 0) != PSD_FORM_AUTO && psd_comm_route(comm, 0) != PSD_ROUTE_AUTO);
    CHECK(psd_comm_route(comm, 1) == PSD_ROUTE_SERVERS);
    psd_comm_close(comm);
    free(value);
}

#endif
