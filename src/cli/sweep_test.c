/* sweep_test.c - points in order, their rows, and the plot. */
#include "base/alloc.h"
#include "base/file.h"
#include "cli/sweep.h"
#include "test.h"

static struct psd_workload *new_workload(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("my \"net\"", 16, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "fc", 1e6));
    CHECK_OK(psd_workload_add_param(workload, "fc[0]", 512, 512));
    workload->params[0].factors = true;
    workload->layers[0].forward_s = 0.01;
    workload->layers[0].backward_s = 0.02;
    return workload;
}

static const struct psd_sweep_axes axes = {.bandwidths = {1.25e9, 5e9},
                                           .n_bandwidths = 2,
                                           .nodes = {1, 4},
                                           .n_nodes = 2,
                                           .schemes = {PSD_SCHEME_SERVERS, PSD_SCHEME_HYBRID},
                                           .n_schemes = 2};

static struct psd_sweep new_sweep(const struct psd_workload *workload)
{
    struct psd_sweep sweep = {.workload = workload, .latency = 5e-5, .iterations = 2};

    CHECK_OK(psd_sweep_init(&sweep, &axes));
    return sweep;
}

static void every_combination_is_a_point(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_sweep sweep = new_sweep(workload);

    CHECK(sweep.count == 8 && sweep.nodes == 4 && sweep.schemes == 2);
    for (size_t i = 0; i < 8; i++) {
        CHECK(sweep.points[i].bandwidth == axes.bandwidths[i / 4]);
        CHECK(sweep.points[i].nodes == axes.nodes[i / 2 % 2]);
        CHECK(sweep.points[i].scheme == axes.schemes[i % 2]);
        CHECK(psd_sweep_speedup(&sweep.points[i]) == 0);
    }
    psd_sweep_fini(&sweep);
    psd_workload_destroy(workload);
}

static void a_point_is_simulated(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_sweep sweep = new_sweep(workload);

    CHECK_OK(psd_sweep_run(&sweep, &sweep.points[0]));
    CHECK_NEAR(psd_sweep_speedup(&sweep.points[0]), 1, 1e-9);
    CHECK_OK(psd_sweep_run(&sweep, &sweep.points[2]));
    double speedup = psd_sweep_speedup(&sweep.points[2]);
    CHECK(speedup > 2 && speedup < 4);
    psd_sweep_fini(&sweep);
    psd_workload_destroy(workload);
}

/* A point whose numbers are easy to recognize. */
static const struct psd_sweep_point point = {.bandwidth = 1.25e9,
                                             .nodes = 4,
                                             .scheme = PSD_SCHEME_SINGLE_OWNER,
                                             .result = {.iteration_s = 0.04,
                                                        .compute_s = 0.03,
                                                        .stall = 0.25,
                                                        .extra = 0.01,
                                                        .bytes_mean = 2e6,
                                                        .bytes_most = 5e6,
                                                        .messages = 77}};

static void a_row_of_the_table_stands_below_its_head(void)
{
    char text[1000] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    psd_sweep_table_head(out);
    psd_sweep_table_row(out, &point);
    fclose(out);
    CHECK_TEXT("   Gbit/s  nodes  scheme              iteration ms  speed-up  stall %  extra %    "
               "MB/node  most/mean\n"
               "       10      4  single-owner              40.000      3.00    25.00     1.00     "
               "  2.00      2.500\n",
               text);
}

static void a_row_of_csv_has_all_numbers(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_sweep sweep = {.workload = workload, .latency = 5e-5};
    char text[1000] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    psd_sweep_csv_head(out);
    psd_sweep_csv_row(out, &sweep, &point);
    fclose(out);
    CHECK_TEXT("model,batch,gbit_per_s,latency_us,nodes,scheme,iteration_ms,speedup,stall,extra,"
               "bytes_mean,bytes_most,messages\n"
               "\"my \"\"net\"\"\",16,10,50,4,single-owner,40.000000,3.000000,0.250000,0.010000,"
               "2000000,5000000,77\n",
               text);
    psd_workload_destroy(workload);
}

static void the_plot_has_a_panel_for_each_bandwidth(void)
{
    struct psd_workload *workload = new_workload();
    struct psd_sweep sweep = new_sweep(workload);
    struct psd_file file;
    char text[20000] = "";

    for (size_t i = 0; i < sweep.count; i++)
        sweep.points[i].result =
            (struct psd_timeline_result){.iteration_s = 0.04, .compute_s = 0.03};
    CHECK_OK(psd_sweep_plot(&sweep, test_path("a.svg")));
    CHECK_OK(psd_file_open(test_path("a.svg"), &file));
    CHECK(file.size < sizeof text);
    memcpy(text, file.data, file.size);
    psd_file_close(&file);
    CHECK(strstr(text, ">10 Gbit/s<") && strstr(text, ">40 Gbit/s<"));
    CHECK(strstr(text, ">servers<") && strstr(text, ">hybrid<") && strstr(text, ">ideal<"));
    CHECK(strstr(text, ">my \"net\", batch 16 a node, simulated<"));
    psd_sweep_fini(&sweep);
    psd_workload_destroy(workload);
}

static void every_failed_allocation_is_survived(void)
{
    struct psd_workload *workload = new_workload();
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_sweep sweep = {.workload = workload, .iterations = 1};
        psd_alloc_fail_at(n);
        psd_status status = psd_sweep_init(&sweep, &axes);
        if (status == PSD_OK)
            status = psd_sweep_run(&sweep, &sweep.points[7]);
        if (status == PSD_OK)
            status = psd_sweep_plot(&sweep, test_path("b.svg"));
        failed = psd_alloc_fail_at(-1);
        if (!failed || status != PSD_OK) /* a file is saved even if its folder cannot be synced */
            CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_sweep_fini(&sweep);
    }
    psd_workload_destroy(workload);
}

int main(int argc, char **argv)
{
    RUN(every_combination_is_a_point)
    RUN(a_point_is_simulated)
    RUN(a_row_of_the_table_stands_below_its_head)
    RUN(a_row_of_csv_has_all_numbers)
    RUN(the_plot_has_a_panel_for_each_bandwidth)
    RUN(every_failed_allocation_is_survived)
}
