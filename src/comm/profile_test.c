/* profile_test.c - profiles read, written and applied. */
#include "base/alloc.h"
#include "comm/profile.h"
#include "comm/workload_file.h"
#include "test.h"

#define SPEEDS "device \"a card\"\nrebuild 5500 GFLOP/s\nupdate 150 GB/s\nsum 10 GB/s\n"

static struct psd_profile *profile;
static struct psd_workload *workload;

static psd_status parse(const char *text)
{
    psd_profile_destroy(profile);
    profile = NULL;
    return psd_profile_parse("p.txt", text, strlen(text), &profile);
}

static void describe(const char *text)
{
    psd_workload_destroy(workload);
    workload = NULL;
    CHECK_OK(psd_workload_file_parse("w.txt", text, strlen(text), &workload));
}

static void end(void)
{
    psd_profile_destroy(profile);
    psd_workload_destroy(workload);
    profile = NULL;
    workload = NULL;
}

static void check_times(size_t layer, double forward_ms, double backward_ms)
{
    CHECK_NEAR(workload->layers[layer].forward_s * 1e3, forward_ms, 1e-9 * forward_ms);
    CHECK_NEAR(workload->layers[layer].backward_s * 1e3, backward_ms, 1e-9 * backward_ms);
}

/* --- files ------------------------------------------------------------------------------------ */

static void a_profile_is_read(void)
{
    CHECK_OK(parse("# comment\n" SPEEDS "model vgg19 batch 32 rate 38.2 images/s\n"
                   "model \"Le Net\" batch 64\n"
                   "layer conv1 forward 1.5 ms backward 3 ms # mean of 50\n"));
    CHECK_TEXT("a card", profile->device);
    CHECK_TEXT("p.txt", profile->source);
    CHECK_NEAR(profile->rebuild_flops, 5.5e12, 1);
    CHECK_NEAR(profile->update_bytes_per_s, 150e9, 1);
    CHECK_NEAR(profile->sum_bytes_per_s, 10e9, 1);
    CHECK(profile->n_models == 2);
    CHECK(profile->models[0].batch == 32 && profile->models[0].n_layers == 0);
    CHECK_NEAR(profile->models[0].rate, 38.2, 0);
    CHECK_TEXT("Le Net", profile->models[1].name);
    CHECK(profile->models[1].rate == 0 && profile->models[1].n_layers == 1);
    CHECK_TEXT("conv1", profile->models[1].layers[0].name);
    CHECK_NEAR(profile->models[1].layers[0].forward_s, 1.5e-3, 1e-12);
    CHECK_NEAR(profile->models[1].layers[0].backward_s, 3e-3, 1e-12);
    end();
}

static void a_wrong_line_is_named_with_what_to_do(void)
{
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"rebild 1 GFLOP/s", "a line begins with device, rebuild, update, sum, model or layer, not "
                             "\"rebild\"; did you mean \"rebuild\"?"},
        {"rebuild 1 TFLOP/s", "this line is written: rebuild N GFLOP/s"},
        {"device a card", "this line is written: device NAME"},
        {"sum 0 GB/s", "\"0\" is not a number from 1e-06 to 1e+09"},
        {"sum many GB/s", "\"many\" is not a number such as 0.5 or 1e-3"},
        {"model m batch 32 rate 3 images/min",
         "this line is written: model NAME batch N, or: model NAME batch N rate N images/s"},
        {"model m batch 0", "\"0\" is not a whole number from 1 to 16777216"},
        {"model OLD_one batch 1", "the model \"OLD_one\" is there already"},
        {"layer l forward 1 s backward 2 s",
         "this line is written: layer NAME forward N ms backward N ms"},
        {"layer l forward 1 ms backward 2 ms",
         "before its layers stands the line: model NAME batch N"},
    };
    char text[400], expected[400];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, SPEEDS "model old-one batch 1 rate 1 images/s\n%s\n",
                 cases[i].line);
        snprintf(expected, sizeof expected, "p.txt:6: %s", cases[i].sentence);
        CHECK_STATUS(PSD_ECONFIG, parse(text));
        CHECK_TEXT(expected, psd_error());
        CHECK(!profile);
    }
}

static void a_profile_without_a_speed_is_refused(void)
{
    CHECK_STATUS(PSD_ECONFIG, parse(""));
    CHECK_TEXT("p.txt has no line: device NAME", psd_error());
    CHECK_STATUS(PSD_ECONFIG, parse("device d\nrebuild 1 GFLOP/s\nupdate 1 GB/s"));
    CHECK_TEXT("p.txt has no line: sum N GB/s", psd_error());
    CHECK_STATUS(PSD_ECONFIG, psd_profile_read("/nowhere/p.txt", &profile));
    CHECK_TEXT("cannot open /nowhere/p.txt: No such file or directory", psd_error());
}

/* Fills in one with all there may be, names of every kind included. */
static psd_status fill(struct psd_profile *made)
{
    made->rebuild_flops = 1.25e10;
    made->update_bytes_per_s = 8.5e9;
    made->sum_bytes_per_s = 9e9;
    PSD_TRY(psd_profile_add_model(made, "vgg19", 32, 38.2));
    PSD_TRY(psd_profile_add_model(made, "a \"quoted\" # name", 64, 0));
    PSD_TRY(psd_profile_add_layer(made, "conv1/3x3#a\\", 1.234567e-3, 0));
    PSD_TRY(psd_profile_add_layer(made, "\tconv 2\\", 0, 1e-9));
    PSD_TRY(psd_profile_add_layer(made, "#", 0, 0));
    return psd_profile_add_layer(made, "", 0, 0);
}

static psd_status make_and_write(const char *path)
{
    struct psd_profile *made = NULL;

    PSD_TRY(psd_profile_create("the profile", "host:0, 2 threads", &made));
    psd_status status = fill(made);
    if (status == PSD_OK)
        status = psd_profile_write(made, path);
    psd_profile_destroy(made);
    return status;
}

static void what_is_written_is_read_again(void)
{
    CHECK_OK(make_and_write(test_path("p.txt")));
    CHECK_OK(psd_profile_read(test_path("p.txt"), &profile));
    CHECK_TEXT("host:0, 2 threads", profile->device);
    CHECK_NEAR(profile->rebuild_flops, 1.25e10, 1);
    CHECK_NEAR(profile->update_bytes_per_s, 8.5e9, 1);
    CHECK_NEAR(profile->sum_bytes_per_s, 9e9, 1);
    CHECK(profile->n_models == 2);
    CHECK_NEAR(profile->models[0].rate, 38.2, 1e-9);
    CHECK_TEXT("a \"quoted\" # name", profile->models[1].name);
    const struct psd_profile_layer *layers = profile->models[1].layers;
    CHECK(profile->models[1].n_layers == 4 && profile->models[1].batch == 64);
    CHECK_NEAR(layers[0].forward_s, 1.234567e-3, 1e-12);
    CHECK(layers[0].backward_s == 0 && layers[1].forward_s == 0);
    CHECK_TEXT("conv1/3x3#a\\", layers[0].name);
    CHECK_TEXT("\tconv 2\\", layers[1].name);
    CHECK_TEXT("#", layers[2].name);
    CHECK_TEXT("", layers[3].name);
    CHECK_NEAR(layers[1].backward_s, 1e-9, 1e-15);
    end();
}

/* --- applying --------------------------------------------------------------------------------- */

/* 300 of 400 multiply-adds are the convolution's. */
#define TINY "model Tiny_Net batch 8\nconv c 3 1 2x5 10x1 bias\nlayer relu 0\nfc f 10 10 bias\n"

static void a_rate_is_shared_out_by_multiply_adds(void)
{
    CHECK_OK(parse(SPEEDS "model tiny-net batch 32 rate 100 images/s\n"));
    describe(TINY);
    CHECK_OK(psd_profile_apply(profile, workload, 0));
    CHECK(workload->batch == 8);
    check_times(0, 80 * 0.75 / 3, 80 * 0.75 * 2 / 3);
    check_times(1, 0, 0);
    check_times(2, 80 * 0.25 / 3, 80 * 0.25 * 2 / 3);
    CHECK_NEAR(workload->rebuild_flops, 5.5e12, 1);
    CHECK_NEAR(workload->update_bytes_per_s, 150e9, 1);
    CHECK_NEAR(workload->sum_bytes_per_s, 10e9, 1);
    CHECK_OK(psd_profile_apply(profile, workload, 16));
    CHECK(workload->batch == 16);
    check_times(0, 160 * 0.75 / 3, 160 * 0.75 * 2 / 3);
    end();
}

static void measured_layers_keep_their_times(void)
{
    CHECK_OK(parse(SPEEDS "model other batch 1\n"
                          "model tiny-net batch 4\n"
                          "layer data forward 1 ms backward 0 ms\n"
                          "layer c forward 2 ms backward 4 ms\n"
                          "layer pool forward 0.5 ms backward 0.25 ms\n"
                          "layer f forward 3 ms backward 6 ms\n"
                          "layer loss forward 0.125 ms backward 0.125 ms\n"));
    describe(TINY);
    CHECK_OK(psd_profile_apply(profile, workload, 8));
    check_times(0, 2 * 3.5, 2 * 4.25); /* with those of data and pool, for twice the batch */
    check_times(1, 0, 0);
    check_times(2, 2 * 3.125, 2 * 6.125);
    end();
}

static void a_model_that_is_not_there_is_refused(void)
{
    CHECK_OK(parse(SPEEDS "model tiny batch 32 rate 100 images/s\n"));
    describe(TINY);
    CHECK_STATUS(PSD_ECONFIG, psd_profile_apply(profile, workload, 16));
    CHECK_TEXT("p.txt has no times for the model \"Tiny_Net\"; measure them with \"poseidon time "
               "--profile-out\", or add a line: model Tiny_Net batch N rate N images/s",
               psd_error());
    CHECK(workload->batch == 8 && workload->rebuild_flops == 0);
    end();
}

static void a_layer_that_was_not_measured_is_refused(void)
{
    CHECK_OK(parse(SPEEDS "model tiny-net batch 8\nlayer c forward 1 ms backward 1 ms\n"));
    describe(TINY);
    CHECK_STATUS(PSD_ECONFIG, psd_profile_apply(profile, workload, 8));
    CHECK_TEXT("p.txt has no time for the layer \"f\" of the model \"Tiny_Net\"; was another net "
               "measured?",
               psd_error());
    CHECK(workload->layers[0].forward_s == 0);
    end();
}

static void a_rate_needs_multiply_adds(void)
{
    CHECK_OK(parse(SPEEDS "model m batch 8 rate 1 images/s\n"));
    describe("model m batch 1\nlayer l 0\nparam p 1x1\n");
    CHECK_STATUS(PSD_ECONFIG, psd_profile_apply(profile, workload, 8));
    CHECK(strstr(psd_error(), "has multiply-adds to share out its rate by"));
    end();
}

/* --- what is in the tree ---------------------------------------------------------------------- */

/* Every model of a profile in the tree has a description, to which it can be applied. */
static void profiles_of_the_tree_know_their_models(void)
{
    static const char *const paths[] = {"models/profiles/titan-x.txt",
                                        "models/profiles/titan-x-caffe.txt"};
    char path[200];

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK_OK(psd_profile_read(paths[i], &profile));
        CHECK(profile->n_models > 0);
        for (size_t k = 0; k < profile->n_models; k++) {
            const struct psd_profile_model *model = &profile->models[k];
            snprintf(path, sizeof path, "models/descriptions/%s.txt", model->name);
            CHECK_OK(psd_workload_file_read(path, &workload));
            CHECK_OK(psd_profile_apply(profile, workload, model->batch));
            double seconds = 0;
            for (size_t l = 0; l < workload->n_layers; l++)
                seconds += workload->layers[l].forward_s + workload->layers[l].backward_s;
            CHECK_NEAR(seconds * model->rate, model->batch, 1e-6);
            psd_workload_destroy(workload);
            workload = NULL;
        }
        end();
    }
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    describe(TINY);
    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = parse(SPEEDS "model a batch 1 rate 1 images/s\nmodel tiny-net batch 1\n"
                                         "layer c forward 1 ms backward 2 ms\n"
                                         "layer f forward 1 ms backward 2 ms\n");
        if (status == PSD_OK)
            status = psd_profile_apply(profile, workload, 0);
        if (status == PSD_OK)
            status = make_and_write("/dev/null");
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    end();
}

int main(int argc, char **argv)
{
    RUN(a_profile_is_read)
    RUN(a_wrong_line_is_named_with_what_to_do)
    RUN(a_profile_without_a_speed_is_refused)
    RUN(what_is_written_is_read_again)
    RUN(a_rate_is_shared_out_by_multiply_adds)
    RUN(measured_layers_keep_their_times)
    RUN(a_model_that_is_not_there_is_refused)
    RUN(a_layer_that_was_not_measured_is_refused)
    RUN(a_rate_needs_multiply_adds)
    RUN(profiles_of_the_tree_know_their_models)
    RUN(every_failed_allocation_is_survived)
}
