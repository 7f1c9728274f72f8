/* time_test.c - "poseidon time" and the profile that it writes. */
#include "comm/profile.h"
#include "comm/workload_file.h"
#include "run.h"

static const char net[] =
    "name: \"tiny\"\n"
    "layer { name: \"data\" type: \"DummyData\" top: \"data\" top: \"label\"\n"
    "  dummy_data_param { shape { dim: 8 dim: 1 dim: 12 dim: 12 } shape { dim: 8 } } }\n"
    "layer { name: \"conv1\" type: \"Convolution\" bottom: \"data\" top: \"conv1\"\n"
    "  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: \"xavier\" } } }\n"
    "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"conv1\" top: \"ip\"\n"
    "  inner_product_param { num_output: 10 weight_filler { type: \"xavier\" } } }\n"
    "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: \"label\"\n"
    "  top: \"loss\" }\n";

static void a_profile_of_a_net_gives_times_to_its_description(void)
{
    static const char text[] =
        "model tiny batch 16\nconv conv1 4 1 3x3 10x10 bias\nfc ip 10 400 bias\n";
    struct psd_profile *profile = NULL;
    struct psd_workload *workload = NULL;

    run_start();
    run_write("net.prototxt", net);
    CHECK(run("$POSEIDON time --model net.prototxt --iterations 3 --profile-out p.txt") == 0);
    CHECK_OK(psd_profile_read("p.txt", &profile));
    CHECK(strstr(profile->device, "host:0"));
    CHECK(profile->n_models == 1 && profile->models[0].batch == 8);
    CHECK(profile->models[0].n_layers == 4);
    CHECK(profile->rebuild_flops > 0 && profile->sum_bytes_per_s > 0);
    CHECK_OK(psd_workload_file_parse("tiny.txt", text, strlen(text), &workload));
    CHECK_OK(psd_profile_apply(profile, workload, 0));
    for (size_t i = 0; i < workload->n_layers; i++)
        CHECK(workload->layers[i].forward_s > 0 && workload->layers[i].backward_s > 0);
    psd_workload_destroy(workload);
    psd_profile_destroy(profile);
}

static void a_profile_that_cannot_be_written_is_a_failure(void)
{
    run_start();
    run_write("net.prototxt", net);
    CHECK(run("$POSEIDON time --model net.prototxt --iterations 1 --profile-out nowhere/p.txt") ==
          1);
    CHECK(strstr(run_err, "cannot write nowhere/p.txt: No such file or directory"));
}

int main(int argc, char **argv)
{
    RUN(a_profile_of_a_net_gives_times_to_its_description)
    RUN(a_profile_that_cannot_be_written_is_a_failure)
}
