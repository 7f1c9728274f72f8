/* predict_test.c - iterations that can be added up by hand. */
#include "base/alloc.h"
#include "comm/predict.h"
#include "workloads.h"

enum { MOST = 16 };

/* A workload whose parameters all travel by servers, at costs that the test writes down. */
struct lab {
    struct psd_workload *workload; /* owned */
    struct psd_job *job;           /* owned */
    struct psd_predict *predict;   /* owned */
    struct psd_plan_param params[MOST];
    enum psd_route routes[MOST];
    double clip_s;
};

static struct lab new_lab(const struct workload_layer *layers, size_t count, unsigned times)
{
    struct lab lab = {.workload = workload_of(1, layers, count), .clip_s = -1};

    lab.job = workload_job(lab.workload, 2, 2, NULL);
    CHECK_OK(psd_predict_create(
        &(struct psd_predict_options){
            .job = lab.job, .workload = lab.workload, .times = times, .bandwidth = 1},
        &lab.predict));
    CHECK(lab.job->n_params <= MOST);
    for (size_t i = 0; i < MOST; i++)
        lab.routes[i] = PSD_ROUTE_SERVERS;
    return lab;
}

static void close_lab(struct lab *lab)
{
    psd_predict_destroy(lab->predict);
    psd_job_destroy(lab->job);
    psd_workload_destroy(lab->workload);
}

static struct psd_route_cost *cost_of(struct lab *lab, size_t param)
{
    return &lab->params[param].cost[lab->routes[param]];
}

static double run(struct lab *lab)
{
    return psd_predict_run(lab->predict, lab->params, lab->routes, lab->clip_s);
}

/* The bandwidth is one byte a second. */
static void push_and_send(struct lab *lab, size_t param, double push, double send)
{
    struct psd_route_cost *cost = cost_of(lab, param);

    cost->push_up = cost->push_down = push;
    cost->up = cost->down = push + send;
}

static void without_traffic_an_iteration_is_its_layers(void)
{
    static const struct workload_layer layers[] = {{"a", 2, 3, false, 1, 2},
                                                   {"b", 0, 0, false, 4, 8}};
    struct lab one = new_lab(layers, 2, 1), three = new_lab(layers, 2, 3);

    CHECK_NEAR(run(&one), 15, 1e-9);
    CHECK_NEAR(run(&three), 45, 1e-9);
    close_lab(&three);
    close_lab(&one);
}

static void with_one_layer_nothing_is_hidden(void)
{
    static const struct workload_layer layer = {"a", 2, 3, false, 1, 2};
    struct lab lab = new_lab(&layer, 1, 1);

    push_and_send(&lab, 0, 10, 20);
    cost_of(&lab, 0)->host_s = 5;
    cost_of(&lab, 0)->device_s = 7;
    cost_of(&lab, 0)->hop_s = 0.5;
    CHECK_NEAR(run(&lab), 3 + 10 + 0.5 + 5 + 7 + 20 + 0.5, 1e-9);
    close_lab(&lab);
}

static void traffic_hides_behind_the_layers_that_follow(void)
{
    static const struct workload_layer layers[] = {{"a", 0, 0, false, 10, 20},
                                                   {"b", 2, 3, false, 1, 2}};
    static const struct {
        double push, send, expected;
    } cases[] = {{10, 10, 33}, {15, 15, 33}, {16, 16, 35}, {30, 60, 93}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab = new_lab(layers, 2, 1);
        push_and_send(&lab, 0, cases[i].push, cases[i].send); /* b needs it 30 s later */
        CHECK_NEAR(run(&lab), cases[i].expected, 1e-9);
        close_lab(&lab);
    }
}

static void up_and_down_are_two_links(void)
{
    static const struct workload_layer layer = {"a", 2, 3, false, 0, 0};
    struct lab lab = new_lab(&layer, 1, 1);
    struct psd_route_cost *cost = cost_of(&lab, 0);

    cost->push_down = cost->down = 10;
    cost->up = 30;
    CHECK_NEAR(run(&lab), 40, 1e-9);
    cost->push_up = 30;
    CHECK_NEAR(run(&lab), 30, 1e-9);
    close_lab(&lab);
}

static void what_forward_needs_first_overtakes(void)
{
    static const struct workload_layer layers[] = {{"a", 2, 3, false, 1, 2},
                                                   {"b", 2, 3, false, 1, 2}};
    struct lab lab = new_lab(layers, 2, 1);

    /* Seen from a backward of b that ends at 0: b's push begins, and at 2 a's overtakes it, with 8 to
     * go. a's push ends at 5, a's value is there at 8 and forward of a begins. b's push ends at 16,
     * its value is there at 26, and after forward and backward of b it is 29. */
    push_and_send(&lab, 2, 10, 10);
    push_and_send(&lab, 0, 3, 3);
    CHECK_NEAR(run(&lab), 29, 1e-9);
    close_lab(&lab);
}

static void a_bound_link_is_always_busy(void)
{
    static const struct workload_layer layers[] = {
        {"a", 2, 3, false, 1, 1}, {"b", 2, 3, false, 1, 1}, {"c", 2, 3, false, 1, 1}};
    struct lab lab = new_lab(layers, 3, 1);

    for (size_t i = 0; i < 6; i++)
        push_and_send(&lab, i, 50, 50);
    double seconds = run(&lab);
    CHECK(seconds >= 600 && seconds <= 600 + 6);
    close_lab(&lab);
}

static void the_parts_of_a_large_parameter_are_summed_while_others_travel(void)
{
    static const struct workload_layer layer = {"a", 1 << 10, 1 << 13, false, 0, 0}; /* 32 MB */
    struct lab lab = new_lab(&layer, 1, 1);
    struct psd_route_cost cost = {
        .push_up = 80, .push_down = 80, .up = 80, .down = 80, .host_s = 80};

    lab.params[0].cost[PSD_ROUTE_SERVERS] = lab.params[0].cost[PSD_ROUTE_BROADCAST] = cost;
    CHECK_NEAR(run(&lab), 80 + 80 / 8.0, 1e-9);
    lab.routes[0] = PSD_ROUTE_BROADCAST; /* one part: factors are complete before they are used */
    CHECK_NEAR(run(&lab), 80 + 80, 1e-9);
    close_lab(&lab);
}

static void work_takes_the_device_from_the_layers(void)
{
    static const struct workload_layer layers[] = {{"a", 0, 0, false, 10, 20},
                                                   {"b", 2, 3, false, 1, 2}};
    struct lab lab = new_lab(layers, 2, 1);

    cost_of(&lab, 0)->device_s = 7;
    CHECK_NEAR(run(&lab), 33 + 7, 1e-9);
    close_lab(&lab);
}

static void the_host_serves_one_at_a_time(void)
{
    static const struct workload_layer layer = {"a", 2, 3, false, 1, 2};
    struct lab lab = new_lab(&layer, 1, 1);

    cost_of(&lab, 0)->host_s = 5;
    cost_of(&lab, 1)->host_s = 6;
    CHECK_NEAR(run(&lab), 3 + 11, 1e-9);
    close_lab(&lab);
}

static void clipping_waits_for_every_gradient(void)
{
    static const struct workload_layer layers[] = {{"a", 2, 3, false, 10, 20},
                                                   {"b", 2, 3, false, 1, 2}};
    struct lab lab = new_lab(layers, 2, 1);

    push_and_send(&lab, 2, 10, 10); /* is hidden, but for the clipping */
    push_and_send(&lab, 0, 3, 3);
    CHECK_NEAR(run(&lab), 33 + 3 + 3, 1e-9);
    lab.clip_s = 0.5;
    CHECK_NEAR(run(&lab), 33 + 3 + 0.5 + 3, 1e-9);
    push_and_send(&lab, 2, 10, 20); /* a's value overtakes; b's comes 10 s after forward of a */
    CHECK_NEAR(run(&lab), 33 + 3 + 0.5 + 3 + 10, 1e-9);
    close_lab(&lab);
}

static void without_a_workload_only_traffic_takes_time(void)
{
    static const struct workload_layer layer = {"a", 2, 3, false, 1, 2};
    struct lab lab = new_lab(&layer, 1, 1);

    psd_predict_destroy(lab.predict);
    CHECK_OK(psd_predict_create(
        &(struct psd_predict_options){.job = lab.job, .times = 1, .bandwidth = 1}, &lab.predict));
    CHECK(run(&lab) == 0);
    push_and_send(&lab, 0, 10, 20);
    push_and_send(&lab, 1, 1, 2);
    CHECK_NEAR(run(&lab), 33, 1e-9);
    close_lab(&lab);
}

static void a_run_leaves_nothing_behind(void)
{
    struct psd_workload *workload = workload_published("vgg19-22k");
    struct psd_job *job = workload_job(workload, 4, 4, NULL);
    struct psd_plan_param params[64] = {0};
    enum psd_route servers[64], broadcast[64];
    struct psd_predict *predict = NULL;

    CHECK_OK(psd_predict_create(&(struct psd_predict_options){job, workload, 1, 1e9}, &predict));
    for (size_t i = 0; i < job->n_params; i++) {
        double bytes = 4 * (double)psd_job_count(&job->params[i]);
        servers[i] = PSD_ROUTE_SERVERS;
        broadcast[i] = PSD_ROUTE_BROADCAST;
        params[i].cost[PSD_ROUTE_SERVERS] = (struct psd_route_cost){
            .push_up = bytes, .push_down = bytes, .up = 2 * bytes, .down = 2 * bytes};
        params[i].cost[PSD_ROUTE_BROADCAST] = (struct psd_route_cost){.push_up = 1e6, .up = 1e6};
    }
    double first = psd_predict_run(predict, params, servers, -1);
    CHECK(psd_predict_run(predict, params, broadcast, 1e-4) < first);
    CHECK(psd_predict_run(predict, params, servers, -1) == first);
    psd_predict_destroy(predict);
    psd_job_destroy(job);
    psd_workload_destroy(workload);
}

static void create_survives_every_failed_allocation(void)
{
    static const struct workload_layer layer = {"a", 2, 3, false, 1, 2};
    struct lab lab = new_lab(&layer, 1, 1);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_predict *predict = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_predict_create(
            &(struct psd_predict_options){lab.job, lab.workload, 1, 1}, &predict);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (predict == NULL));
        psd_predict_destroy(predict);
    }
    close_lab(&lab);
}

int main(int argc, char **argv)
{
    RUN(without_traffic_an_iteration_is_its_layers)
    RUN(with_one_layer_nothing_is_hidden)
    RUN(traffic_hides_behind_the_layers_that_follow)
    RUN(up_and_down_are_two_links)
    RUN(what_forward_needs_first_overtakes)
    RUN(a_bound_link_is_always_busy)
    RUN(the_parts_of_a_large_parameter_are_summed_while_others_travel)
    RUN(work_takes_the_device_from_the_layers)
    RUN(the_host_serves_one_at_a_time)
    RUN(clipping_waits_for_every_gradient)
    RUN(without_a_workload_only_traffic_takes_time)
    RUN(a_run_leaves_nothing_behind)
    RUN(create_survives_every_failed_allocation)
}
