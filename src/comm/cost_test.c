/* cost_test.c - the table of docs/comm.md, and what rounding, rates and hosting make of it. */
#include "comm/cost.h"
#include "comm/layout.h"
#include "math/product.h"
#include "workloads.h"

static const struct psd_plan_network network = {.bandwidth = 1e9, .latency = 1e-4};

/* An inner product whose rows are dealt out evenly to 1, 2, 4 or 8 ranks. */
enum { M = 64 * PSD_PRODUCT_ROWS, N = 3000, K = 5 };

static struct psd_workload *new_workload(size_t rows, size_t cols)
{
    struct psd_workload *workload =
        workload_of(K, &(struct workload_layer){"fc", rows, cols, true, 0, 0}, 1);

    workload->rebuild_flops = 1e12;
    workload->sum_bytes_per_s = 12e9; /* 1e9 additions */
    return workload;
}

struct lab {
    struct psd_workload *workload; /* owned */
    struct psd_job *job;           /* owned */
    struct psd_cost_basis basis;
};

static struct lab new_lab(size_t rows, size_t cols, unsigned ranks, unsigned workers,
                          const struct psd_comm_update *update)
{
    struct lab lab = {.workload = new_workload(rows, cols)};

    lab.job = workload_job(lab.workload, ranks, workers, update);
    CHECK_OK(psd_cost_init(lab.job, lab.workload, &network, &lab.basis));
    return lab;
}

static void close_lab(struct lab *lab)
{
    psd_job_destroy(lab->job);
    psd_workload_destroy(lab->workload);
}

static void floats_are_those_of_the_table(void)
{
    static const unsigned cases[] = {1, 2, 4, 8};
    const double m = M, n = N, k = K;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double p = cases[i];
        struct lab lab = new_lab(M, N, cases[i], cases[i], NULL);
        struct psd_cost_basis *basis = &lab.basis;
        CHECK_NEAR(psd_cost_of(basis, 0, PSD_ROUTE_SERVERS).floats, 2 * m * n * (2 * p - 2) / p, 1);
        CHECK_NEAR(psd_cost_of(basis, 0, PSD_ROUTE_BROADCAST).floats, 2 * k * (p - 1) * (m + n), 1);
        CHECK_NEAR(psd_cost_of(basis, 0, PSD_ROUTE_ROW_SHARDED).floats,
                   2 * (k * (p - 1) * (m / p + n) + m * n * (p - 1) / p), 1);
        CHECK_NEAR(psd_cost_of(basis, 0, PSD_ROUTE_SINGLE_OWNER).floats,
                   (p - 1) * (m * n + k * m + k * n), 1);
        CHECK(psd_cost_of(basis, 0, PSD_ROUTE_LOCAL).floats == 0);
        close_lab(&lab);
    }
}

static void bytes_are_split_by_direction_and_by_hop(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL);
    struct psd_route_cost servers = psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS);
    struct psd_route_cost broadcast = psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST);
    struct psd_route_cost owner = psd_cost_of(&lab.basis, 0, PSD_ROUTE_SINGLE_OWNER);

    CHECK_NEAR(servers.up, 2 * 4.0 * M * N * 3 / 4, 1);
    CHECK(servers.up == servers.down);
    CHECK_NEAR(servers.push_up, servers.up / 2, 1);
    CHECK(servers.push_up == servers.push_down);
    CHECK(broadcast.push_up == broadcast.up && broadcast.push_down == broadcast.down);
    CHECK(owner.push_up == 0 && owner.push_down == owner.down);
    CHECK_NEAR(owner.up, 4.0 * 3 * M * N, 1);
    close_lab(&lab);
}

static void only_what_exceeds_the_own_product_takes_device_time(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL);
    double others = 2.0 * M * N * 3 * K / 1e12; /* three ranks' samples */

    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).device_s == 0);
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_ROW_SHARDED).device_s == 0);
    CHECK_NEAR(psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST).device_s, others, 1e-9);
    CHECK_NEAR(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SINGLE_OWNER).device_s, others, 1e-9);
    close_lab(&lab);
}

static void the_rank_with_most_rows_is_looked_at(void)
{
    enum { ROWS = 3 * PSD_PRODUCT_ROWS }; /* three tiles for two ranks: one has two of them */
    struct lab lab = new_lab(ROWS, N, 2, 2, NULL);
    struct psd_route_cost cost = psd_cost_of(&lab.basis, 0, PSD_ROUTE_ROW_SHARDED);
    double more = 2.0 * PSD_PRODUCT_ROWS, fewer = PSD_PRODUCT_ROWS;

    CHECK_NEAR(cost.push_up, 4 * K * (fewer + N), 1e-6);
    CHECK_NEAR(cost.push_down, 4 * K * (more + N), 1e-6);
    CHECK_NEAR(cost.up - cost.push_up, 4 * more * N, 1e-6);
    CHECK_NEAR(cost.down - cost.push_down, 4 * fewer * N, 1e-6);
    CHECK_NEAR(cost.device_s, 2 * N * (more * 2 * K - 3.0 * PSD_PRODUCT_ROWS * K) / 1e12, 1e-15);
    close_lab(&lab);
}

static void ranks_without_rows_get_no_factors(void)
{
    struct lab lab = new_lab(PSD_PRODUCT_ROWS, N, 4, 4, NULL); /* one tile: one rank has it all */
    struct psd_route_cost cost = psd_cost_of(&lab.basis, 0, PSD_ROUTE_ROW_SHARDED);
    struct psd_route_cost owner = psd_cost_of(&lab.basis, 0, PSD_ROUTE_SINGLE_OWNER);

    CHECK(cost.up == owner.up && cost.down == owner.down && cost.push_down == owner.push_down);
    close_lab(&lab);
}

static void a_bias_comes_from_its_weights_factors(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL);
    struct psd_route_cost rows = psd_cost_of(&lab.basis, 1, PSD_ROUTE_ROW_SHARDED);

    CHECK(psd_cost_of(&lab.basis, 1, PSD_ROUTE_BROADCAST).floats == 0);
    CHECK_NEAR(rows.floats, 2 * M * 3 / 4.0, 1e-6);
    CHECK(rows.push_up == 0 && rows.push_down == 0);
    CHECK_NEAR(psd_cost_of(&lab.basis, 1, PSD_ROUTE_SERVERS).floats, 4 * M * 3 / 4.0, 1e-6);
    close_lab(&lab);
}

static void routes_are_possible_by_form_and_number_of_processes(void)
{
    static const struct {
        enum psd_form form;
        unsigned ranks;
        bool possible[PSD_PLAN_ROUTES];
    } cases[] = {
        {PSD_FORM_DENSE, 4, {[PSD_ROUTE_SERVERS] = true}},
        {PSD_FORM_DENSE, 1, {[PSD_ROUTE_SERVERS] = true}},
        {PSD_FORM_FACTORED,
         4,
         {[PSD_ROUTE_BROADCAST] = true,
          [PSD_ROUTE_ROW_SHARDED] = true,
          [PSD_ROUTE_SINGLE_OWNER] = true}},
        {PSD_FORM_FACTORED, 1, {[PSD_ROUTE_LOCAL] = true}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = new_lab(M, N, cases[i].ranks, 4, NULL);
        lab.job->params[0].form = cases[i].form;
        for (enum psd_route route = PSD_ROUTE_SERVERS; route <= PSD_ROUTE_SINGLE_OWNER; route++) {
            CHECK(psd_cost_of(&lab.basis, 0, route).possible == cases[i].possible[route]);
            CHECK(psd_cost_of(&lab.basis, 1, route).possible == cases[i].possible[route]);
        }
        close_lab(&lab);
    }
}

static void where_there_are_no_factors_nothing_is_said_of_them(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL);
    struct psd_route_cost cost;

    lab.job->params[0].factors = false;
    cost = psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST);
    CHECK(cost.floats == 0 && cost.seconds == 0 && cost.memory == 0 && !cost.possible);
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).floats > 0);
    close_lab(&lab);
}

static void sums_are_added_where_they_meet(void)
{
    double count = (double)M * N;
    struct lab even = new_lab(M, N, 4, 4, NULL), local = new_lab(M, N, 1, 8, NULL);
    struct lab uneven = new_lab(M, N, 3, 8, NULL); /* 0 0 0 1 1 1 2 2: five sums, two of a rank */

    CHECK_NEAR(psd_cost_of(&even.basis, 0, PSD_ROUTE_SERVERS).host_s, 3 * count / 4 / 1e9, 1e-9);
    CHECK_NEAR(psd_cost_of(&local.basis, 0, PSD_ROUTE_SERVERS).host_s, 7 * count / 1e9, 1e-9);
    struct psd_route_cost cost = psd_cost_of(&uneven.basis, 0, PSD_ROUTE_SERVERS);
    CHECK_NEAR(cost.host_s, (1 + 4 / 3.0) * count / 1e9, 1e-9);
    CHECK_NEAR(cost.push_up, 4 * 2 * count * 2 / 3, 1);
    CHECK_NEAR(cost.push_down, 4 * 3 * count / 3, 1);
    CHECK_NEAR(cost.up - cost.push_up, 4 * count * 2 / 3, 1);
    close_lab(&uneven);
    close_lab(&local);
    close_lab(&even);
}

static void a_small_parameter_has_one_server_and_that_takes_longer(void)
{
    struct lab small = new_lab(1, 100, 4, 4, NULL), large = new_lab(M, N, 4, 4, NULL);
    struct psd_route_cost cost = psd_cost_of(&small.basis, 0, PSD_ROUTE_SERVERS);

    CHECK_NEAR(cost.hop_s, network.latency + 3 * 4 * 75 / network.bandwidth, 1e-12);
    CHECK_NEAR(cost.up, 4 * 2 * 75, 1e-9); /* on average */
    CHECK_NEAR(psd_cost_of(&large.basis, 0, PSD_ROUTE_SERVERS).hop_s, network.latency, 1e-12);
    close_lab(&large);
    close_lab(&small);
}

static void alone_a_route_takes_as_long_as_its_longest_part_and_its_hops(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL);
    struct psd_route_cost servers = psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS);
    struct psd_route_cost broadcast = psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST);
    struct psd_route_cost owner = psd_cost_of(&lab.basis, 0, PSD_ROUTE_SINGLE_OWNER);

    CHECK_NEAR(servers.seconds, servers.up / 1e9 + 2e-4, 1e-9);
    CHECK_NEAR(broadcast.seconds, broadcast.up / 1e9 + 1e-4, 1e-9);
    CHECK_NEAR(owner.seconds, owner.up / 1e9 + 2e-4, 1e-9);
    lab.basis.flops_s = 1;
    broadcast = psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST);
    CHECK_NEAR(broadcast.seconds, broadcast.device_s + 1e-4, 1e-6);
    close_lab(&lab);
}

static void without_a_workload_arithmetic_takes_no_time(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL);

    CHECK_OK(psd_cost_init(lab.job, NULL, &network, &lab.basis));
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST).device_s == 0);
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).host_s == 0);
    lab.workload->rebuild_flops = lab.workload->sum_bytes_per_s = 0;
    CHECK_OK(psd_cost_init(lab.job, lab.workload, &network, &lab.basis));
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST).device_s == 0);
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).host_s == 0);
    close_lab(&lab);
}

static void memory_is_for_sums_factors_and_state(void)
{
    struct lab lab = new_lab(M, N, 4, 4, NULL); /* SGD: one state for each value */
    const size_t count = (size_t)M * N, samples = (size_t)4 * K, rows = M / 4;

    /* Of four sums two pairs are siblings. */
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).memory == (2 + 1) * count);
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST).memory ==
          4 * (2 * samples * (M + N) + count));
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_ROW_SHARDED).memory ==
          4 * (samples * (rows + N) + count / 4));
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SINGLE_OWNER).memory ==
          4 * (samples * (M + N) + count));
    CHECK(psd_cost_of(&lab.basis, 1, PSD_ROUTE_BROADCAST).memory == 4 * (size_t)M);

    lab.job->mode = PSD_COMM_SUM;
    CHECK_OK(psd_cost_init(lab.job, lab.workload, &network, &lab.basis));
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).memory == 2 * count);
    close_lab(&lab);
}

static void nothing_is_kept_for_what_is_averaged(void)
{
    struct lab lab = new_lab(M, N, 4, 4, &(struct psd_comm_update){.rule = "Adam"});
    size_t learned = psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).memory;

    lab.job->params[0].averaged = true;
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).memory ==
          learned - 2 * M * N / 4 * sizeof(float));
    close_lab(&lab);
}

static void the_norm_of_a_factored_gradient_takes_device_time(void)
{
    const struct psd_comm_update clipped = {.clip = 1};
    struct lab lab = new_lab(M, N, 4, 4, &clipped), plain = new_lab(M, N, 4, 4, NULL);
    double all = 4 * K, gram = all * all / 1e12;

    CHECK_NEAR(psd_cost_of(&lab.basis, 0, PSD_ROUTE_BROADCAST).device_s -
                   psd_cost_of(&plain.basis, 0, PSD_ROUTE_BROADCAST).device_s,
               gram * (M + N), 1e-12);
    CHECK_NEAR(psd_cost_of(&lab.basis, 0, PSD_ROUTE_ROW_SHARDED).device_s, gram * (M / 4.0 + N),
               1e-12);
    CHECK(psd_cost_of(&lab.basis, 0, PSD_ROUTE_SERVERS).device_s == 0);
    close_lab(&plain);
    close_lab(&lab);
}

int main(int argc, char **argv)
{
    RUN(floats_are_those_of_the_table)
    RUN(bytes_are_split_by_direction_and_by_hop)
    RUN(only_what_exceeds_the_own_product_takes_device_time)
    RUN(the_rank_with_most_rows_is_looked_at)
    RUN(ranks_without_rows_get_no_factors)
    RUN(a_bias_comes_from_its_weights_factors)
    RUN(routes_are_possible_by_form_and_number_of_processes)
    RUN(where_there_are_no_factors_nothing_is_said_of_them)
    RUN(sums_are_added_where_they_meet)
    RUN(a_small_parameter_has_one_server_and_that_takes_longer)
    RUN(alone_a_route_takes_as_long_as_its_longest_part_and_its_hops)
    RUN(without_a_workload_arithmetic_takes_no_time)
    RUN(memory_is_for_sums_factors_and_state)
    RUN(nothing_is_kept_for_what_is_averaged)
    RUN(the_norm_of_a_factored_gradient_takes_device_time)
}
