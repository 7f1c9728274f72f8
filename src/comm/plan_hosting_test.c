/* plan_hosting_test.c - even shares or whole subtrees. */
#include "base/alloc.h"
#include "comm/hosting.h"
#include "comm/plan.h"
#include "workloads.h"

/* One dense layer of 4 MB, and a device that takes `seconds` for a batch. */
static struct psd_workload *new_workload(double seconds)
{
    struct workload_layer layer = {"conv", 1024, 1024, false, seconds / 3, seconds * 2 / 3};

    return workload_of(8, &layer, 1);
}

/* Whether the hosts are the ones that `deal` makes. */
static bool is_dealt(const struct psd_job *job, void (*deal)(unsigned, unsigned, unsigned *))
{
    unsigned host[64];

    deal(job->ranks, job->workers, host);
    return memcmp(host, job->host, job->workers * sizeof *host) == 0;
}

static void slow_devices_share_evenly_and_slow_links_send_fewer_sums(void)
{
    static const struct {
        double seconds, bandwidth;
        bool even;
    } cases[] = {{1, 1e9, true}, {1e-3, 1e7, false}};

    for (size_t i = 0; i < 2; i++) {
        struct psd_workload *workload = new_workload(cases[i].seconds);
        struct psd_job *job = workload_job(workload, 3, 8, NULL);
        struct psd_plan_network network = {cases[i].bandwidth, 1e-5};
        psd_plan_forms(job);
        job->host[0] = 2; /* whatever it was before */
        CHECK_OK(psd_plan_hosting(job, workload, &network));
        CHECK(is_dealt(job, psd_hosting_even) == cases[i].even);
        CHECK(is_dealt(job, psd_hosting_aligned) == !cases[i].even);
        CHECK(job->params[0].route == PSD_ROUTE_AUTO);
        psd_job_destroy(job);
        psd_workload_destroy(workload);
    }
}

static void without_a_workload_shares_are_even(void)
{
    struct psd_workload *workload = new_workload(1e-3);
    struct psd_job *job = workload_job(workload, 3, 8, NULL);

    psd_plan_forms(job);
    CHECK_OK(psd_plan_hosting(job, NULL, &(struct psd_plan_network){1e7, 0}));
    CHECK(is_dealt(job, psd_hosting_even));
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

/* The plan of the hosting that was taken is the faster one of the two. */
static void the_faster_hosting_is_taken(void)
{
    for (int step = 0; step < 9; step++) {
        struct psd_workload *workload = new_workload(0.05);
        struct psd_job *job = workload_job(workload, 5, 13, NULL);
        struct psd_plan_network network = {1e6 * pow(4, step), 1e-5};
        double seconds[3];
        psd_plan_forms(job);
        CHECK_OK(psd_plan_hosting(job, workload, &network));
        for (int i = 0; i < 3; i++) {
            struct psd_plan *plan = NULL;
            if (i > 0)
                (i == 1 ? psd_hosting_even : psd_hosting_aligned)(5, 13, job->host);
            CHECK_OK(psd_plan_create(job, workload, &network, &plan));
            seconds[i] = plan->iteration_s;
            psd_plan_destroy(plan);
        }
        CHECK_NEAR(seconds[0], fmin(seconds[1], seconds[2]), 1e-4 * seconds[0]);
        psd_job_destroy(job);
        psd_workload_destroy(workload);
    }
}

static void both_are_predicted_where_they_differ(void)
{
    struct psd_plan_network network = {1e8, 1e-5};
    struct psd_workload *workload = new_workload(0.05);

    for (unsigned ranks = 3; ranks <= 4; ranks++) {
        struct psd_job *job = workload_job(workload, ranks, 8, NULL);
        struct psd_plan *plan = NULL;
        double even_s = -1, aligned_s = -1;
        psd_plan_forms(job);
        CHECK_OK(psd_plan_hostings(job, workload, &network, &even_s, &aligned_s));
        CHECK((even_s > 0) == (ranks == 3) && (aligned_s > 0) == (ranks == 3));
        CHECK(is_dealt(job, psd_hosting_even));
        CHECK_OK(psd_plan_create(job, workload, &network, &plan));
        CHECK(plan->even_s == even_s && plan->aligned_s == aligned_s);
        CHECK(ranks == 4 || plan->iteration_s == even_s);
        CHECK_TEXT("even", plan->hosting);
        psd_plan_destroy(plan);
        psd_job_destroy(job);
    }
    psd_workload_destroy(workload);
}

static void a_failure_leaves_the_hosts_as_they_were(void)
{
    struct psd_workload *workload = new_workload(1e-3);
    struct psd_job *job = workload_job(workload, 3, 8, NULL);
    bool failed = true;

    psd_plan_forms(job);
    job->host[0] = 2;
    CHECK_STATUS(PSD_EINVAL, psd_plan_hosting(job, workload, &(struct psd_plan_network){0, 0}));
    CHECK(job->host[0] == 2);
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = psd_plan_hosting(job, workload, &(struct psd_plan_network){1e7, 0});
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK((job->host[0] == 2) == failed);
    }
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(slow_devices_share_evenly_and_slow_links_send_fewer_sums)
    RUN(without_a_workload_shares_are_even)
    RUN(the_faster_hosting_is_taken)
    RUN(both_are_predicted_where_they_differ)
    RUN(a_failure_leaves_the_hosts_as_they_were)
}
