/* timeline_test.c - iterations whose time can be calculated by hand. */
#include "base/alloc.h"
#include "comm/timeline.h"
#include "workloads.h"

/* A layer: its times, and the values of its dense parameter, or the rows of its factored one. */
struct plain_layer {
    double forward_s, backward_s;
    size_t values, rows;
};

static struct psd_workload *plain(const struct plain_layer *layers, size_t count)
{
    struct psd_workload *workload = NULL;
    char name[24];

    CHECK_OK(psd_workload_create("by hand", 1, &workload));
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%zu", i);
        CHECK_OK(psd_workload_add_layer(workload, name, 0));
        workload->layers[i].forward_s = layers[i].forward_s;
        workload->layers[i].backward_s = layers[i].backward_s;
        if (layers[i].values == 0)
            continue;
        size_t rows = layers[i].rows ? layers[i].rows : 1;
        CHECK_OK(psd_workload_add_param(workload, name, rows, layers[i].values / rows));
        workload->params[workload->n_params - 1].factors = layers[i].rows > 0;
    }
    return workload;
}

/* Factored parameters travel by `route`. */
static struct psd_timeline_result run(const struct psd_timeline_options *given,
                                      struct psd_workload *workload, unsigned ranks,
                                      enum psd_route route)
{
    struct psd_timeline_options options = *given;
    struct psd_timeline_result result;
    struct psd_job *job = workload_job(workload, ranks, ranks, NULL);

    for (size_t i = 0; i < job->n_params; i++) {
        bool factored = job->params[i].factors;
        job->params[i].form = factored ? PSD_FORM_FACTORED : PSD_FORM_DENSE;
        job->params[i].route = factored ? route : PSD_ROUTE_SERVERS;
    }
    options.job = job;
    options.workload = workload;
    options.most = 16384; /* a block of 4096 values */
    CHECK_OK(psd_timeline_run(&options, &result));
    psd_job_destroy(job);
    return result;
}

/* 8192 values are a piece for each of two ranks; with its header it takes a second at this rate. */
static const double second = 16384 + 40;

static void one_node_takes_the_time_of_its_layers(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}, {3, 4, 0, 0}, {0.5, 0.25, 30, 0}};
    struct psd_workload *workload = plain(layers, 3);
    struct psd_timeline_result result =
        run(&(struct psd_timeline_options){.bandwidth = 1, .latency = 1}, workload, 1, 0);

    CHECK_NEAR(result.iteration_s, 10.75, 1e-6);
    CHECK_NEAR(result.compute_s, 10.75, 1e-9);
    CHECK_NEAR(result.stall, 0, 1e-6);
    CHECK(result.bytes_mean == 0 && result.bytes_most == 0 && result.messages == 0);
    psd_workload_destroy(workload);
}

static void a_network_without_limits_costs_nothing(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}, {3, 4, 20000, 0}};
    struct psd_workload *workload = plain(layers, 2);

    for (unsigned ranks = 2; ranks <= 8; ranks *= 2) {
        struct psd_timeline_result result =
            run(&(struct psd_timeline_options){.seed = 1}, workload, ranks, 0);
        CHECK_NEAR(result.iteration_s, 10, 1e-6); /* ranks times as fast as one */
        CHECK_NEAR(result.stall, 0, 1e-6);
    }
    psd_workload_destroy(workload);
}

/* The only layer has nothing to hide behind: a push of a second, then a value. */
static void one_layer_waits_for_its_bytes(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}};
    struct psd_workload *workload = plain(layers, 1);

    for (int no_overlap = 0; no_overlap < 2; no_overlap++) {
        struct psd_timeline_result result =
            run(&(struct psd_timeline_options){.bandwidth = second, .no_overlap = no_overlap},
                workload, 2, 0);
        CHECK_NEAR(result.iteration_s, 3 + 2, 1e-6);
        CHECK_NEAR(result.stall, 2.0 / 5, 1e-6);
        CHECK_NEAR(result.bytes_mean, 4 * second, 0.5); /* a push and a value, each way */
        CHECK_NEAR(result.bytes_most, 4 * second, 0.5);
        CHECK(result.messages == 4 && result.extra == 0);
    }
    psd_workload_destroy(workload);
}

static void latency_is_paid_twice(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}};
    struct psd_workload *workload = plain(layers, 1);
    struct psd_timeline_result result =
        run(&(struct psd_timeline_options){.latency = 0.5}, workload, 2, 0);

    CHECK_NEAR(result.iteration_s, 3 + 2 * 0.5, 1e-6);
    result =
        run(&(struct psd_timeline_options){.latency = 0.5, .bandwidth = second}, workload, 2, 0);
    CHECK_NEAR(result.iteration_s, 3 + 2 * 1.5, 1e-6);
    psd_workload_destroy(workload);
}

/* The second layer's gradient travels while the first computes backward. */
static void what_travels_behind_compute_costs_nothing(void)
{
    static const struct plain_layer hidden[] = {{1, 5, 0, 0}, {1, 1, 8192, 0}};
    static const struct plain_layer seen[] = {{1, 0.5, 0, 0}, {1, 1, 8192, 0}};
    struct psd_workload *workload = plain(hidden, 2);
    struct psd_timeline_options options = {.bandwidth = second};
    struct psd_timeline_result result = run(&options, workload, 2, 0);

    CHECK_NEAR(result.iteration_s, 8, 1e-6);
    CHECK_NEAR(result.stall, 0, 1e-6);
    options.no_overlap = true;
    result = run(&options, workload, 2, 0);
    CHECK_NEAR(result.iteration_s, 8 + 2, 1e-6);
    CHECK_NEAR(result.stall, 0.2, 1e-6);
    psd_workload_destroy(workload);

    workload = plain(seen, 2); /* 0.5 s of backward and 1 s of forward hide 1.5 s of two */
    options.no_overlap = false;
    result = run(&options, workload, 2, 0);
    CHECK_NEAR(result.iteration_s, 3.5 + 0.5, 1e-6);
    options.no_overlap = true;
    result = run(&options, workload, 2, 0);
    CHECK_NEAR(result.iteration_s, 3.5 + 2, 1e-6);
    psd_workload_destroy(workload);
}

/* The first layer is ready right after the second, which has three times its values. Eight pieces take
 * eight seconds; then the second layer computes forward and backward, and all begins again. With a
 * small credit the first overtakes, and its forward is hidden behind what is still to come. */
static void what_forward_needs_first_overtakes(void)
{
    static const struct plain_layer layers[] = {{1, 0.001, 8192, 0}, {1, 1, 24576, 0}};
    struct psd_workload *workload = plain(layers, 2);
    struct psd_timeline_options options = {.bandwidth = second, .credit = 1};
    struct psd_timeline_result result = run(&options, workload, 2, 0);

    CHECK_NEAR(result.iteration_s, 8 + 2, 1e-3);
    options.credit = 1 << 20; /* all is with the transport at once, and nothing is overtaken */
    result = run(&options, workload, 2, 0);
    CHECK_NEAR(result.iteration_s, 8 + 2 + 1, 1e-3);
    psd_workload_destroy(workload);
}

/* --- factors -------------------------------------------------------------------------------------
 */

/* 100 rows of 100 columns: with one sample, factors of 200 values. */
static void factors_travel_once_and_are_rebuilt_on_the_device(void)
{
    static const struct plain_layer layers[] = {{1, 2, 10000, 100}};
    struct psd_workload *workload = plain(layers, 1);
    struct psd_timeline_options options = {.bandwidth = 840};
    struct psd_timeline_result result = run(&options, workload, 2, PSD_ROUTE_BROADCAST);

    CHECK_NEAR(result.iteration_s, 3 + 1, 1e-6); /* 800 bytes and a header, both ways at once */
    CHECK_NEAR(result.bytes_mean, 2 * 840, 0.5);
    CHECK(result.messages == 2);
    workload->rebuild_flops = 20000; /* the other's sample takes a second of the device */
    result = run(&options, workload, 2, PSD_ROUTE_BROADCAST);
    CHECK_NEAR(result.iteration_s, 3 + 1 + 1, 1e-6);
    CHECK_NEAR(result.extra, 1.0 / 5, 1e-6);
    CHECK_NEAR(result.stall, 1.0 / 5, 1e-6);
    psd_workload_destroy(workload);
}

/* The owner of all rows takes factors in, and gives 10000 values to each of two. The one that has them
 * last sends its next factors last. */
static void a_single_owner_pays_for_all(void)
{
    static const struct plain_layer layers[] = {{1, 2, 10000, 100}};
    struct psd_workload *workload = plain(layers, 1);
    struct psd_timeline_result result = run(&(struct psd_timeline_options){.bandwidth = 40000},
                                            workload, 3, PSD_ROUTE_SINGLE_OWNER);
    double pieces = 3; /* rows of 400 bytes: 40 of them are a piece at most */

    CHECK_NEAR(result.bytes_most, 2 * 840 + 2 * (40000 + pieces * 40), 0.5);
    CHECK_NEAR(result.bytes_mean * 3, 2 * result.bytes_most, 1);
    CHECK_NEAR(result.iteration_s, 3 + (2 * 40120 + 840) / 40000.0, 1e-5);
    psd_workload_destroy(workload);
}

/* --- options -------------------------------------------------------------------------------------
 */

static void a_worker_more_is_a_batch_more_on_the_device(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}};
    struct psd_workload *workload = plain(layers, 1);
    struct psd_job *job = workload_job(workload, 2, 4, NULL);
    struct psd_timeline_options options = {.job = job, .workload = workload};
    struct psd_timeline_result result;

    job->params[0].form = PSD_FORM_DENSE;
    job->params[0].route = PSD_ROUTE_SERVERS;
    CHECK_OK(psd_timeline_run(&options, &result));
    CHECK_NEAR(result.iteration_s, 6, 1e-6);
    CHECK_NEAR(result.compute_s, 6, 1e-9);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void the_same_seed_gives_the_same_numbers(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}, {0.1, 0.2, 50000, 0}};
    struct psd_workload *workload = plain(layers, 2);
    struct psd_timeline_options options = {.bandwidth = 1e5, .latency = 1e-3, .iterations = 2};
    struct psd_timeline_result one = run(&options, workload, 3, 0);
    struct psd_timeline_result other = run(&options, workload, 3, 0);

    CHECK(one.iteration_s == other.iteration_s && one.bytes_mean == other.bytes_mean);
    CHECK(one.stall == other.stall && one.messages == other.messages);
    psd_workload_destroy(workload);
}

static void run_survives_every_failed_allocation(void)
{
    static const struct plain_layer layers[] = {{1, 2, 8192, 0}};
    struct psd_workload *workload = plain(layers, 1);
    struct psd_job *job = workload_job(workload, 2, 2, NULL);
    struct psd_timeline_options options = {.job = job, .workload = workload, .bandwidth = 1e5};
    struct psd_timeline_result result;
    bool failed = true;

    job->params[0].form = PSD_FORM_DENSE;
    job->params[0].route = PSD_ROUTE_SERVERS;
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_timeline_run(&options, &result);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(one_node_takes_the_time_of_its_layers)
    RUN(a_network_without_limits_costs_nothing)
    RUN(one_layer_waits_for_its_bytes)
    RUN(latency_is_paid_twice)
    RUN(what_travels_behind_compute_costs_nothing)
    RUN(what_forward_needs_first_overtakes)
    RUN(factors_travel_once_and_are_rebuilt_on_the_device)
    RUN(a_single_owner_pays_for_all)
    RUN(a_worker_more_is_a_batch_more_on_the_device)
    RUN(the_same_seed_gives_the_same_numbers)
    RUN(run_survives_every_failed_allocation)
}
