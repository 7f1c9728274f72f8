/* cluster_test.c - the processors of simulated members, and what they hear when one is lost. */
#include "base/clock.h"
#include "comm/cluster.h"
#include "lone_node.h"

enum { RANKS = 4, PARAMS = 4, EVENTS = 16 };

/* A job on a network, and when what happened on it. */
struct run {
    struct psd_job *job;        /* owned, as are the next two */
    struct psd_workload *rates; /* NULL: arithmetic takes no time */
    struct psd_cluster *cluster;
    double fresh_s[RANKS][PARAMS]; /* the latest time; less than 0: never */
    unsigned ended[RANKS], collected[RANKS];
    char sentence[RANKS][256];
    char done[EVENTS + 1]; /* letters of what was computed, in order, */
    double done_s[EVENTS]; /* and when */
    size_t n_done;
};

/* Something that a device computes. */
struct layer {
    struct run *run;
    char letter;
};

static double now(const struct run *run)
{
    return (double)psd_sim_now(psd_cluster_sim(run->cluster)) / (double)PSD_CLOCK_S;
}

static void computed(void *arg)
{
    struct layer *layer = arg;
    struct run *run = layer->run;

    run->done[run->n_done] = layer->letter;
    run->done_s[run->n_done++] = now(run);
}

static void hear_fresh(void *user, unsigned rank, size_t param)
{
    struct run *run = user;

    run->fresh_s[rank][param] = now(run);
}

static void hear_collected(void *user, unsigned rank)
{
    struct run *run = user;

    run->collected[rank]++;
}

static void hear_ended(void *user, unsigned rank, psd_status status, const char *sentence)
{
    struct run *run = user;

    CHECK(status == PSD_EPEER);
    run->ended[rank]++;
    snprintf(run->sentence[rank], sizeof run->sentence[rank], "%s", sentence);
}

static struct psd_cluster_options options_of(struct run *run, double bandwidth, double latency)
{
    return (struct psd_cluster_options){
        .job = run->job,
        .workload = run->rates,
        .network = {.bandwidth = bandwidth,
                    .latency_ns = (uint64_t)(latency * (double)PSD_CLOCK_S)},
        .most = 1,
        .sizes_only = true,
        .fresh = hear_fresh,
        .collected = hear_collected,
        .ended = hear_ended,
        .user = run};
}

/* A started job; a second is long enough for everybody to have connected. */
static struct run *run_of(const struct node_case *c, const struct psd_workload *rates,
                          double bandwidth, double latency)
{
    struct run *run = calloc(1, sizeof *run);

    run->job = node_job(c);
    if (rates) {
        CHECK_OK(psd_workload_create("rates", 1, &run->rates));
        run->rates->sum_bytes_per_s = rates->sum_bytes_per_s;
        run->rates->update_bytes_per_s = rates->update_bytes_per_s;
        run->rates->rebuild_flops = rates->rebuild_flops;
    }
    struct psd_cluster_options options = options_of(run, bandwidth, latency);
    CHECK_OK(psd_cluster_create(&options, &run->cluster));
    for (unsigned rank = 0; rank < run->job->ranks; rank++)
        CHECK_OK(psd_node_start(psd_cluster_node(run->cluster, rank), true));
    for (unsigned rank = 0; rank < RANKS; rank++) {
        for (size_t i = 0; i < PARAMS; i++)
            run->fresh_s[rank][i] = -1;
    }
    return run;
}

/* Until nothing more happens. */
static void run_on(struct run *run)
{
    while (psd_cluster_step(run->cluster))
        ;
    CHECK_OK(psd_cluster_status(run->cluster));
}

static void end(struct run *run)
{
    psd_cluster_destroy(run->cluster);
    psd_workload_destroy(run->rates);
    psd_job_destroy(run->job);
    free(run);
}

static struct psd_node *node_at(const struct run *run, unsigned rank)
{
    return psd_cluster_node(run->cluster, rank);
}

static void compute(struct run *run, unsigned rank, double seconds, struct layer *layer)
{
    layer->run = run;
    CHECK_OK(psd_cluster_compute(run->cluster, rank, seconds, computed, layer));
}

/* --- layers --------------------------------------------------------------------------------------
 */

static void a_device_computes_one_layer_after_the_other(void)
{
    struct run *run = run_of(&(struct node_case){.ranks = 2, .workers = 2}, NULL, 0, 0);
    struct layer a = {.letter = 'a'}, b = {.letter = 'b'}, c = {.letter = 'c'};

    compute(run, 0, 1, &a);
    compute(run, 0, 2, &b);
    compute(run, 1, 2.5, &c);
    run_on(run);
    CHECK_TEXT("acb", run->done);
    CHECK_NEAR(run->done_s[0], 1, 1e-9);
    CHECK_NEAR(run->done_s[1], 2.5, 1e-9);
    CHECK_NEAR(run->done_s[2], 3, 1e-9);
    CHECK_NEAR(psd_cluster_busy(run->cluster, 0), 3, 1e-9);
    CHECK_NEAR(psd_cluster_busy(run->cluster, 1), 2.5, 1e-9);
    CHECK(psd_cluster_extra(run->cluster, 0) == 0);
    compute(run, 0, 1, &a); /* after it has been idle */
    run_on(run);
    CHECK_NEAR(run->done_s[3], 4, 1e-9);
    end(run);
}

/* --- sums ----------------------------------------------------------------------------------------
 */

static const struct node_param thousands[] = {{.name = "a", .rows = 1, .cols = 1000},
                                              {.name = "b", .rows = 1, .cols = 1000},
                                              {.name = "c", .rows = 1, .cols = 1000}};

/* Every worker syncs these parameters. */
static void sync_all(struct run *run, uint64_t iteration, size_t params)
{
    for (unsigned rank = 0; rank < run->job->ranks; rank++)
        CHECK_OK(psd_node_begin(node_at(run, rank), iteration, 1));
    for (unsigned w = 0; w < run->job->workers; w++) {
        struct psd_node *node = node_at(run, run->job->host[w]);
        for (size_t i = 0; i < params; i++)
            CHECK_OK(psd_job_is_factored(run->job, i) ? psd_node_sync_factors(node, i, w, 1)
                                                      : psd_node_sync(node, i, w, NULL));
    }
}

/* A value moves 12 bytes in a sum, so 1000 of them take a second. */
static void a_host_adds_one_after_the_other(void)
{
    static const struct psd_workload rates = {.sum_bytes_per_s = 12000};
    struct node_case c = {.ranks = 2, .workers = 2, .params = thousands, .n_params = 3};
    struct run *run = run_of(&c, &rates, 0, 0);
    const struct psd_layout *layout = psd_cluster_layout(run->cluster);

    CHECK(layout->pieces[0].server == 0 && layout->pieces[1].server == 1 &&
          layout->pieces[2].server == 0);
    sync_all(run, 0, 3);
    run_on(run);
    CHECK_NEAR(run->fresh_s[1][1], 1, 1e-9); /* rank 1 has one sum to make, rank 0 two */
    CHECK_NEAR(run->fresh_s[0][1], 1, 1e-9);
    double first = run->fresh_s[1][0], second = run->fresh_s[1][2];
    CHECK_NEAR(fmin(first, second), 1, 1e-9);
    CHECK_NEAR(fmax(first, second), 2, 1e-9);
    CHECK(psd_cluster_busy(run->cluster, 0) == 0); /* which is the device's */
    end(run);
}

static void workers_of_one_process_are_added_on_its_host(void)
{
    static const struct psd_workload rates = {.sum_bytes_per_s = 12000};
    struct node_case c = {.workers = 4, .params = thousands, .n_params = 1};
    struct run *run = run_of(&c, &rates, 0, 0);

    sync_all(run, 0, 1);
    run_on(run);
    CHECK_NEAR(run->fresh_s[0][0], 3, 1e-9); /* three additions of 1000 */
    end(run);
}

/* --- what exceeds one machine's part -------------------------------------------------------------
 */

/* 160 values: the product of one sample is 320 operations. */
static const struct node_param product[] = {
    {.name = "fc", .rows = 16, .cols = 10, .route = PSD_ROUTE_BROADCAST}};

static void only_what_exceeds_one_machine_s_part_takes_device_time(void)
{
    static const struct psd_workload rates = {.rebuild_flops = 320, .update_bytes_per_s = 1e-3};
    struct node_case c = {.ranks = 3, .workers = 3, .params = product, .n_params = 1};
    struct run *run = run_of(&c, &rates, 0, 0);

    for (uint64_t t = 0; t < 3; t++) { /* two of three samples are others' */
        sync_all(run, t, 1);
        run_on(run);
        CHECK_NEAR(run->fresh_s[0][0], 2 * ((double)t + 1), 1e-9);
        CHECK_NEAR(psd_cluster_extra(run->cluster, 0), 2 * ((double)t + 1), 1e-9);
        CHECK_NEAR(psd_cluster_busy(run->cluster, 0), 2 * ((double)t + 1), 1e-9);
    }
    end(run);
}

static void what_is_saved_is_not_credited(void)
{
    static const struct psd_workload rates = {.update_bytes_per_s = 20000, .sum_bytes_per_s = 0};
    struct node_case c = {
        .ranks = 2, .workers = 2, .updates = true, .params = thousands, .n_params = 2};
    struct run *run = run_of(&c, &rates, 0, 0);

    sync_all(run, 0, 2); /* each updates one of two for all */
    run_on(run);
    CHECK(run->fresh_s[0][0] == 0 && run->fresh_s[1][1] == 0);
    CHECK(psd_cluster_extra(run->cluster, 0) == 0 && psd_cluster_busy(run->cluster, 0) == 0);
    end(run);
}

static void a_layer_gives_way_to_rebuilding(void)
{
    static const struct psd_workload rates = {.rebuild_flops = 320};
    struct node_case c = {.ranks = 2, .workers = 2, .params = product, .n_params = 1};
    struct run *run = run_of(&c, &rates, 0, 0.5);
    struct layer a = {.letter = 'a'}, b = {.letter = 'b'};
    double begin = now(run);

    compute(run, 0, 2, &a);
    compute(run, 0, 1, &b);
    sync_all(run, 0, 1);
    run_on(run);
    CHECK_NEAR(run->fresh_s[0][0], begin + 0.5 + 1, 1e-9); /* it does not wait for the layers, */
    CHECK_NEAR(run->done_s[0], begin + 2 + 1, 1e-9);       /* which end later by as much */
    CHECK_NEAR(run->done_s[1], begin + 3 + 1, 1e-9);
    CHECK_NEAR(run->fresh_s[1][0], begin + 1.5, 1e-9);
    CHECK_NEAR(psd_cluster_busy(run->cluster, 0), 4, 1e-9);
    CHECK_NEAR(psd_cluster_extra(run->cluster, 0), 1, 1e-9);
    end(run);
}

/* --- losses --------------------------------------------------------------------------------------
 */

static void the_dead_do_nothing_and_the_others_hear_of_it(void)
{
    struct run *run = run_of(&(struct node_case){.ranks = 3, .workers = 3}, NULL, 0, 0.1);
    struct layer a = {.letter = 'a'}, b = {.letter = 'b'};

    compute(run, 1, 1, &a);
    compute(run, 2, 1, &b);
    psd_cluster_kill(run->cluster, 1);
    run_on(run);
    CHECK_TEXT("b", run->done);
    CHECK(run->ended[0] == 1 && run->ended[1] == 0 && run->ended[2] == 1);
    CHECK(strstr(run->sentence[0], "rank 1 is lost") == run->sentence[0]);
    CHECK(strstr(run->sentence[2], "rank 1 is lost") == run->sentence[2]);
    end(run);
}

static void a_cut_ends_the_job_for_all(void)
{
    struct run *run = run_of(&(struct node_case){.ranks = 3, .workers = 3}, NULL, 0, 0.1);

    psd_cluster_cut(run->cluster, 0, 2);
    run_on(run);
    CHECK(run->ended[0] == 1 && run->ended[1] == 1 && run->ended[2] == 1);
    CHECK(strstr(run->sentence[0], "rank 2 is lost") == run->sentence[0]);
    CHECK(strstr(run->sentence[1], "is lost") && strstr(run->sentence[2], "rank 0 is lost"));
    end(run);
}

/* --- the network ---------------------------------------------------------------------------------
 */

static void links_have_the_bandwidth_of_the_slower_end(void)
{
    struct node_case c = {
        .ranks = 2, .workers = 2, .updates = true, .params = thousands, .n_params = 1};

    for (int slow = 0; slow < 2; slow++) {
        struct run *run = run_of(&c, NULL, 4000, 0);
        double begin = now(run), times = slow ? 4 : 1;
        if (slow)
            psd_cluster_slow(run->cluster, 1, 0.25, 1);
        sync_all(run, 0, 1);
        run_on(run);
        CHECK_NEAR(run->fresh_s[0][0] - begin, times, 1e-6);     /* a push of 4000 bytes, */
        CHECK_NEAR(run->fresh_s[1][0] - begin, 2 * times, 1e-6); /* and a value */
        struct psd_sim_traffic traffic = psd_cluster_traffic(run->cluster, 0);
        CHECK(traffic.sent_bytes == 4000 && traffic.received_bytes == 4000);
        end(run);
    }
}

static void collectives_end_on_every_rank(void)
{
    struct run *run = run_of(&(struct node_case){.ranks = 3, .workers = 3}, NULL, 0, 0.1);

    for (unsigned rank = 0; rank < 3; rank++)
        CHECK_OK(psd_node_collect(node_at(run, rank), PSD_COLLECTIVE_SUM, NULL, 0));
    run_on(run);
    CHECK(run->collected[0] == 1 && run->collected[1] == 1 && run->collected[2] == 1);
    end(run);
}

static void create_survives_every_failed_allocation(void)
{
    struct run run = {.job = node_job(&(struct node_case){.ranks = 3, .workers = 3})};
    struct psd_cluster_options options = options_of(&run, 0, 0);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_cluster *cluster = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_cluster_create(&options, &cluster);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (cluster == NULL));
        psd_cluster_destroy(cluster);
    }
    psd_job_destroy(run.job);
}

int main(int argc, char **argv)
{
    RUN(a_device_computes_one_layer_after_the_other)
    RUN(a_host_adds_one_after_the_other)
    RUN(workers_of_one_process_are_added_on_its_host)
    RUN(only_what_exceeds_one_machine_s_part_takes_device_time)
    RUN(what_is_saved_is_not_credited)
    RUN(a_layer_gives_way_to_rebuilding)
    RUN(the_dead_do_nothing_and_the_others_hear_of_it)
    RUN(a_cut_ends_the_job_for_all)
    RUN(links_have_the_bandwidth_of_the_slower_end)
    RUN(collectives_end_on_every_rank)
    RUN(create_survives_every_failed_allocation)
}
