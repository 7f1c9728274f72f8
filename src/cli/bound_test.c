/* bound_test.c - what nothing can hide. */
#include "cli/bound.h"
#include "comm/scheme.h"
#include "test.h"

/* Two layers of 1 M values each and one between that learns nothing: 4 MB a layer. */
static struct psd_workload *new_workload(double seconds)
{
    static const char *const names[] = {"a", "pool", "b"};
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("test", 32, &workload));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(psd_workload_add_layer(workload, names[i], 1));
        if (i != 1)
            CHECK_OK(psd_workload_add_param(workload, names[i], 1000, 1000));
        workload->layers[i].forward_s = seconds;
        workload->layers[i].backward_s = 2 * seconds;
    }
    return workload;
}

static struct psd_bound find_of(struct psd_workload *workload, enum psd_scheme scheme,
                                unsigned nodes, struct psd_plan_network network)
{
    struct psd_bound bound;
    struct psd_job *job = NULL;

    CHECK_OK(psd_scheme_job(scheme, workload, nodes, &network, &job));
    CHECK_OK(psd_bound_find(job, workload, &network, &bound));
    psd_job_destroy(job);
    psd_workload_destroy(workload);
    return bound;
}

static struct psd_bound find(unsigned nodes, double seconds, double bandwidth)
{
    return find_of(new_workload(seconds), PSD_SCHEME_SERVERS, nodes,
                   (struct psd_plan_network){bandwidth, 0});
}

/* Of 8 MB a member sends half as a gradient and half as values. */
static void slow_links_carry_all_bytes_except_at_the_turn(void)
{
    struct psd_bound bound = find(2, 0.001, 1e6);

    CHECK(psd_bound_is_network(&bound));
    CHECK_NEAR(bound.bytes, 8e6, 1);
    CHECK_NEAR(psd_bound_seconds(&bound), 8 + 0.003, 1e-6);
}

/* The first layer has 4 MB, and during its backward and forward there is nothing else to send: the
 * compute of all and its own bytes; all bytes would take 8 s, and 3 of compute. */
static void what_the_first_layers_send_is_not_hidden_by_the_others(void)
{
    struct psd_bound bound = find(2, 1, 1e6);

    CHECK_NEAR(bound.network_s, 9 + 4, 1e-6);
    bound = find(2, 0.5, 1e6);
    CHECK_NEAR(bound.network_s, 1.5 + 8, 1e-6);
}

/* A hop takes a second each way; the pool below the first layer that learns is computed meanwhile. */
static void fast_links_leave_the_first_layer_to_wait_for(void)
{
    static const struct psd_plan_network far = {1e12, 1};
    struct psd_bound bound = find_of(new_workload(1), PSD_SCHEME_SERVERS, 2, far);

    CHECK_NEAR(bound.compute_s, 9, 1e-9);
    CHECK(!psd_bound_is_network(&bound));
    CHECK_NEAR(psd_bound_seconds(&bound), 9 + 2, 0.01);
    struct psd_workload *workload = new_workload(0.5);
    workload->layers[0].params = 0; /* the first that learns is the last now */
    bound = find_of(workload, PSD_SCHEME_SERVERS, 2, far);
    CHECK_NEAR(psd_bound_seconds(&bound), 4.5, 0.01); /* and two layers hide its way */
}

/* The owner of a layer of 4 MB sends it to three others, each of which has sent it its factors, 256 KB. A
 * member owns half a layer on the mean. */
static void owners_of_whole_layers_share_the_bytes(void)
{
    struct psd_workload *workload = new_workload(0.001);

    workload->params[0].factors = workload->params[1].factors = true;
    struct psd_bound bound =
        find_of(workload, PSD_SCHEME_SINGLE_OWNER, 4, (struct psd_plan_network){1e6, 0});
    CHECK_NEAR(bound.bytes, 2 * (12e6 + 768e3) / 4, 1);
    CHECK_NEAR(bound.network_s, 6.384 + 0.003, 1e-6);
}

/* Factors of 3 x 32 foreign samples are multiplied for each of 1 M values, in both layers. */
static void the_device_rebuilds_while_it_computes_nothing_else(void)
{
    struct psd_workload *workload = new_workload(1);

    workload->params[0].factors = workload->params[1].factors = true;
    workload->rebuild_flops = 1e8;
    struct psd_bound bound =
        find_of(workload, PSD_SCHEME_HYBRID_BYTES, 4, (struct psd_plan_network){1e9, 0});
    CHECK_NEAR(bound.device_s, 2 * 2 * 96e6 / 1e8, 1e-6);
    CHECK_NEAR(psd_bound_seconds(&bound), 9 + bound.device_s, 1e-6);
    CHECK(!psd_bound_is_network(&bound));
}

static void a_node_alone_only_computes(void)
{
    struct psd_bound bound = find(1, 1, 1e6);

    CHECK(!psd_bound_is_network(&bound));
    CHECK_NEAR(psd_bound_seconds(&bound), 9, 1e-9);
}

int main(int argc, char **argv)
{
    RUN(slow_links_carry_all_bytes_except_at_the_turn)
    RUN(what_the_first_layers_send_is_not_hidden_by_the_others)
    RUN(fast_links_leave_the_first_layer_to_wait_for)
    RUN(owners_of_whole_layers_share_the_bytes)
    RUN(the_device_rebuilds_while_it_computes_nothing_else)
    RUN(a_node_alone_only_computes)
}
