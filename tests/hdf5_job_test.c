/* hdf5_job_test.c - samples from HDF5 files, results and snapshots in HDF5 files, with "poseidon train" as
 * people meet it: the same bits from any number of processes. */
#include "hdf5_files.h"
#include "run.h"

#include "data/hdf5.h"

static const char net[] =
    "name: 'h'\n"
    "layer { name: 'd' type: 'HDF5Data' top: 'data' top: 'label' include { phase: TRAIN }\n"
    "  hdf5_data_param { source: 'list.txt' batch_size: 8 shuffle: true } }\n"
    "layer { name: 'd' type: 'HDF5Data' top: 'data' top: 'label' include { phase: TEST }\n"
    "  hdf5_data_param { source: 'list.txt' batch_size: 10 } }\n"
    "layer { name: 'block/ip' type: 'InnerProduct' bottom: 'data' top: 'ip'\n"
    "  inner_product_param { num_output: 1 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'out' type: 'HDF5Output' bottom: 'ip' bottom: 'label'\n"
    "  hdf5_output_param { file_name: 'out.h5' } include { phase: TEST } }\n"
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 'label' top: 'loss' }\n";

static const char solver[] = "net: 'net.prototxt'\nbase_lr: 0.00001\nlr_policy: 'fixed'\n"
                             "momentum: 0.9\nmax_iter: 12\nsnapshot: 6\nsnapshot_prefix: 's'\n"
                             "snapshot_format: HDF5\nrandom_seed: 3\ntest_iter: 2\n"
                             "test_interval: 12\ntest_initialization: false\n";

static void start(void)
{
    run_start();
    write_rows("one.h5", 0, 30);
    write_rows("two.h5", 30, 25);
    write_list("list.txt", "one.h5\ntwo.h5\n");
    run_write("net.prototxt", net);
    run_write("solver.prototxt", solver);
}

static void train(const char *arguments, const char *name)
{
    if (run("$POSEIDON train --solver solver.prototxt --log-prefix none %s && "
            "cat s_iter_12.caffemodel.h5 s_iter_12.solverstate.h5 >%s",
            arguments, name) != 0)
        TEST_FAIL("%s: %s", arguments, run_err);
}

static void any_number_of_processes_gives_the_same_model(void)
{
    start();
    train("--logical-workers 4", "one");
    train("--logical-workers 4 -n 3 --verify 5", "three");
    CHECK(run("cmp one three") == 0);
    train("--logical-workers 4 --snapshot s_iter_6.solverstate.h5", "rest");
    CHECK(run("cmp one rest") == 0);
    train("--logical-workers 4 -n 2 --snapshot s_iter_6.solverstate.h5", "rest");
    CHECK(run("cmp one rest") == 0);
}

static void a_global_batch_is_dealt_out(void)
{
    start();
    train("--logical-workers 3 --global-batch 16", "one");
    train("--logical-workers 3 --global-batch 16 -n 2", "two");
    CHECK(run("cmp one two") == 0);
}

static uint64_t rows_in(const char *name)
{
    struct psd_hdf5 *file = NULL;
    struct psd_hdf5_dataset *dataset = NULL;

    CHECK_OK(psd_hdf5_open(test_path(name), &file));
    CHECK_OK(psd_hdf5_dataset_open(file, "data", &dataset));
    uint64_t rows = psd_hdf5_dataset_rows(dataset);
    psd_hdf5_dataset_close(dataset);
    psd_hdf5_close(file);
    return rows;
}

static void results_are_written(void)
{
    start();
    train("", "one");
    CHECK(rows_in("out.h5") == 20);
    CHECK(run("$POSEIDON test --model net.prototxt --weights s_iter_12.caffemodel.h5 "
              "--iterations 7") == 0);
    CHECK(rows_in("out.h5") == 70);
    CHECK(run("ls | grep -c tmp") == 1);
}

static void damaged_weights_are_told(void)
{
    start();
    train("", "one");
    CHECK(run("head -c 1000 s_iter_12.caffemodel.h5 >cut.h5; $POSEIDON test --model net.prototxt "
              "--weights cut.h5 --iterations 1") == 1);
    CHECK(strstr(run_err, "cut.h5 has 1000 bytes and should have "));
    CHECK(run("head -c 1000 one.h5 >two.h5; $POSEIDON train --solver solver.prototxt") == 1);
    CHECK(strstr(run_err, "net.prototxt:3:21: layer d: ") &&
          strstr(run_err, "two.h5 has 1000 bytes and should have "));
}

int main(int argc, char **argv)
{
    RUN(any_number_of_processes_gives_the_same_model)
    RUN(a_global_batch_is_dealt_out)
    RUN(results_are_written)
    RUN(damaged_weights_are_told)
}
