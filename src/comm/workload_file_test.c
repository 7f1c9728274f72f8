/* workload_file_test.c - descriptions, right and wrong, and those of well-known nets. */
#include "base/alloc.h"
#include "comm/workload_file.h"
#include "test.h"

static struct psd_workload *workload;

static psd_status parse(const char *text)
{
    psd_workload_destroy(workload);
    workload = NULL;
    return psd_workload_file_parse("a.txt", text, strlen(text), &workload);
}

static void end(void)
{
    psd_workload_destroy(workload);
    workload = NULL;
}

static void check_param(size_t i, const char *name, size_t rows, size_t cols, bool factors,
                        int bias_of)
{
    const struct psd_workload_param *param = &workload->params[i];

    CHECK(i < workload->n_params);
    CHECK_TEXT(name, param->name);
    CHECK(param->rows == rows && param->cols == cols);
    CHECK(param->factors == factors && param->bias_of == bias_of);
}

static void a_description_is_read(void)
{
    CHECK_OK(parse("# a net\n"
                   "model tiny batch 8\n"
                   "conv c1 4 3 5x2 10x20 bias\n"
                   "conv c2 6 4 1x1 7x7 norm   # scale and shift\n"
                   "fc f1 10 294\n"
                   "fc f2 5 10 bias\n"
                   "layer embed 2.5e3\n"
                   "param words 100x30\n"));
    CHECK_TEXT("tiny", workload->name);
    CHECK(workload->batch == 8 && workload->n_layers == 5 && workload->n_params == 9);
    check_param(0, "c1[0]", 4, 30, false, -1);
    check_param(1, "c1[1]", 1, 4, false, -1);
    check_param(2, "c2[0]", 6, 4, false, -1);
    check_param(3, "c2[1]", 1, 6, false, -1);
    check_param(4, "c2[2]", 1, 6, false, -1);
    check_param(5, "f1[0]", 10, 294, true, -1);
    check_param(6, "f2[0]", 5, 10, true, -1);
    check_param(7, "f2[1]", 1, 5, false, 6);
    check_param(8, "words", 100, 30, false, -1);
    CHECK(workload->layers[0].macs == 4 * 30 * 200 && workload->layers[1].macs == 6 * 4 * 49);
    CHECK(workload->layers[2].macs == 2940 && workload->layers[4].macs == 2500);
    CHECK(workload->layers[4].first_param == 8 && workload->layers[4].params == 1);
    end();
}

#define FC                                                                                        \
    "this line is written: fc NAME OUTPUTS INPUTS, or: fc NAME OUTPUTS INPUTS bias, or: fc NAME " \
    "OUTPUTS INPUTS norm"

static void a_wrong_line_is_named_with_what_to_do(void)
{
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"conc c1 4 3 5x5 10x10",
         "a line begins with conv, fc, layer or param, not \"conc\"; did you mean \"conv\"?"},
        {"conv c1 4 3 5x5",
         "this line is written: conv NAME OUTPUTS INPUTS KERNEL SIZE, or: conv NAME OUTPUTS INPUTS "
         "KERNEL SIZE bias, or: conv NAME OUTPUTS INPUTS KERNEL SIZE norm"},
        {"fc f 1 2 bias norm", FC},
        {"conv c1 4 3 5x5 10", "\"10\" is not a size such as 3x3"},
        {"conv c1 0 3 5x5 10x10", "\"0\" is not a whole number from 1 to 1073741824"},
        {"fc f 1 2 bais", FC},
        {"layer l -1", "\"-1\" is not a number from 0 to 1e+18"},
        {"layer l 1e19", "\"1e19\" is not a number from 0 to 1e+18"},
        {"fc old 1 2", "layer \"old\" is there already; give this one another name"},
        {"param old[0] 1x2", "parameter \"old[0]\" is there already; give this one another name"},
        {"param p 1000000000x1000000000",
         "with parameter \"p\" there are more than 1099511627776 values"},
        {"conv c 999999999 1 1x1 999999999x9", "layer \"c\" has more than 1e+18 multiply-adds"},
        {"model twice batch 1", "a line begins with conv, fc, layer or param, not \"model\""},
    };
    char text[300], expected[400];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "model m batch 1\nfc old 1 2\n%s\nfc new 1 2\n", cases[i].line);
        snprintf(expected, sizeof expected, "a.txt:3: %s", cases[i].sentence);
        CHECK_STATUS(PSD_ECONFIG, parse(text));
        CHECK_TEXT(expected, psd_error());
        CHECK(!workload);
    }
}

/* A prototxt, say: one mistake, not one in each line. */
static void another_file_is_one_mistake(void)
{
    CHECK_STATUS(PSD_ECONFIG, parse("name: \"LeNet\"\nlayer {\n}\n"));
    CHECK_TEXT("a.txt:1: a description begins with the line: model NAME batch N", psd_error());
    CHECK_STATUS(PSD_ECONFIG, parse("model m\nfc f 1 2\n"));
    CHECK_TEXT("a.txt:1: this line is written: model NAME batch N", psd_error());
    CHECK_STATUS(PSD_ECONFIG, parse("model m batch 0\nfc f 1 2\n"));
    CHECK_TEXT("a.txt:1: \"0\" is not a whole number from 1 to 16777216", psd_error());
}

static void a_model_without_layers_is_refused(void)
{
    static const char *const texts[] = {"", "# nothing", "model m batch 1"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_STATUS(PSD_ECONFIG, parse(texts[i]));
        CHECK_TEXT(
            "a.txt describes no layer; it needs a line \"model NAME batch N\" and a line for "
            "each layer",
            psd_error());
    }
    CHECK_STATUS(PSD_ECONFIG, psd_workload_file_read("/nowhere/a.txt", &workload));
    CHECK_TEXT("cannot open /nowhere/a.txt: No such file or directory", psd_error());
}

/* Parameters as published: BVLC's nets in Caffe (AlexNet, GoogLeNet with both heads), the VGG and
 * ResNet of torchvision's documentation, whose Inception-V3 counts its head; ImageNet22K has 21,841
 * classes. Multiply-adds (G) as published: AlexNet 0.724 and VGG 15.5, 19.6 by netscope and
 * torchvision, GoogLeNet 1.59 by torchinfo, Inception-V3 5.71 by torchvision, ResNet 3.8 and 11.3 in
 * its paper's table 1. Those of VGG19-22K, LeNet and CIFAR-10 quick are counted by hand. */
static void well_known_nets_have_the_published_counts(void)
{
    static const struct {
        const char *name;
        size_t values;
        double macs;
        size_t factored; /* weights of inner products */
    } nets[] = {
        {"alexnet", 60965224, 0.724e9, 3},  {"vgg16", 138357544, 15.5e9, 3},
        {"vgg19", 143667240, 19.6e9, 3},    {"vgg19-22k", 229052817, 19.72e9, 3},
        {"googlenet", 13378280, 1.59e9, 5}, {"inception-v3", 27161264, 5.71e9, 2},
        {"resnet50", 25557032, 3.8e9, 1},   {"resnet152", 60192808, 11.3e9, 1},
        {"lenet", 431080, 2.293e6, 2},      {"cifar10-quick", 145578, 12.354e6, 2},
    };
    char path[200];

    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        size_t factored = 0;
        snprintf(path, sizeof path, "models/descriptions/%s.txt", nets[i].name);
        CHECK_OK(psd_workload_file_read(path, &workload));
        CHECK_TEXT(nets[i].name, workload->name);
        if (workload->values != nets[i].values)
            TEST_FAIL("%s: %zu values", path, workload->values);
        CHECK_NEAR(psd_workload_macs(workload), nets[i].macs, 0.02 * nets[i].macs);
        for (size_t k = 0; k < workload->n_params; k++)
            factored += workload->params[k].factors;
        CHECK(factored == nets[i].factored);
        end();
    }
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = parse("model m batch 1\nconv c 1 1 1x1 1x1 norm\nfc f 1 2 bias\n"
                                  "layer l 0\nparam p 1x1\n");
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
    end();
}

int main(int argc, char **argv)
{
    RUN(a_description_is_read)
    RUN(a_wrong_line_is_named_with_what_to_do)
    RUN(another_file_is_one_mistake)
    RUN(a_model_without_layers_is_refused)
    RUN(well_known_nets_have_the_published_counts)
    RUN(every_failed_allocation_is_survived)
}
