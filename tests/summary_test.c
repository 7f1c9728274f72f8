/* summary_test.c - "poseidon summary" and "poseidon draw": every net of models/, without its data. */
#include "run.h"

#include <limits.h>

static char models[PATH_MAX];

/* Where the nets are, before the test goes into its folder. */
static void start(void)
{
    if (!*models)
        CHECK(realpath("models", models));
    run_start();
}

static const char *last_line(const char *text)
{
    static char line[200];
    size_t end = strlen(text), from;

    while (end > 0 && text[end - 1] == '\n')
        end--;
    for (from = end; from > 0 && text[from - 1] != '\n'; from--)
        continue;
    snprintf(line, sizeof line, "%.*s", (int)(end - from), text + from);
    return line;
}

static void parameters_are_as_published(void)
{
    static const struct {
        const char *name, *phase, *last;
    } cases[] = {
        {"lenet", "TRAIN", "total parameters: 431080"},
        {"cifar10-quick", "TRAIN", "total parameters: 145578"},
        {"cifar10-full", "TRAIN", "total parameters: 89578"},
        {"alexnet", "TRAIN", "total parameters: 60965224"},
        {"caffenet", "TRAIN", "total parameters: 60965224"},
        {"googlenet", "TRAIN", "total parameters: 13378280"},
        {"vgg16", "TRAIN", "total parameters: 138357544"},
        {"vgg19", "TRAIN", "total parameters: 143667240"},
        {"vgg19-22k", "TRAIN", "total parameters: 229052817"},
        {"resnet50", "TRAIN", "total parameters: 25557032"},
        {"resnet152", "TRAIN", "total parameters: 60192808"},
        {"inception-v3", "TRAIN", "total parameters: 27161264"},
        {"inception-v3", "TEST", "total parameters: 23834568"}, /* without its head */
        {"lstm", "TRAIN", "total parameters: 81674"},
    };

    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(run("$POSEIDON summary --model=%s/%s/train_val.prototxt --phase %s %s", models,
                  cases[i].name, cases[i].phase, TEST_IS_SANITIZED ? "--batch 1" : "") == 0);
        CHECK_TEXT(cases[i].last, last_line(run_out));
    }
}

static void a_row_has_shape_parameters_work_and_memory(void)
{
    start();
    CHECK(run("$POSEIDON summary --model=%s/alexnet/train_val.prototxt --batch 2", models) == 0);
    CHECK(strstr(run_out, "data   Data             2x3x227x227 2           0            0.000"));
    CHECK(strstr(run_out, "conv1  Convolution      2x96x55x55          34944          105.415"));
    CHECK(strstr(run_out,
                 "relu1  ReLU             2x96x55x55              0            0.000       "
                 "0.00\n"));
    CHECK(strstr(run_out, "\nalexnet: 24 layers, phase TRAIN, batch 2\n"));
    CHECK(strstr(run_out, "multiply-adds: 724406816 for a sample, 1448813632 for a batch"));
    CHECK(strstr(run_out, "MiB: parameters 232.56 and their gradients 232.56, blobs"));
}

/* A net whose training would take 90 GiB. A sanitizer has notes of its own on memory, which it takes. */
static void memory_is_not_taken(void)
{
    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer takes memory for what it notes");
    start();
    CHECK(run("$POSEIDON summary --model=%s/resnet152/train_val.prototxt --batch 128", models) ==
          0);
    CHECK(strstr(run_out, "memory: 9"));
    CHECK_TEXT("total parameters: 60192808", last_line(run_out));
}

static void what_cannot_be_shown_is_told(void)
{
    start();
    CHECK(run("$POSEIDON summary") == 2);
    CHECK(strstr(run_err, "a net is needed: --model FILE"));
    CHECK(run("$POSEIDON summary --model nothing.prototxt") == 1);
    CHECK(strstr(run_err, "nothing.prototxt"));
    CHECK(run("$POSEIDON summary --model=%s/lenet/train_val.prototxt --input-shape 1x3x3",
              models) == 1);
    CHECK(strstr(run_err, "layer conv1:"));
    CHECK(run("$POSEIDON draw --model=%s/lenet/train_val.prototxt --out no/net.svg", models) == 1);
    CHECK(strstr(run_err, "no/net.svg"));
}

static void a_net_is_drawn(void)
{
    start();
    CHECK(run("$POSEIDON draw --model=%s/googlenet/train_val.prototxt --out net.svg", models) == 0);
    CHECK(run("grep -c '<rect class' net.svg") == 0);
    CHECK(strcmp(run_out, "95\n") == 0);
    CHECK(run("grep '>reads label<' net.svg | wc -l") == 0);
    CHECK(strcmp(run_out, "3\n") == 0);
    CHECK(run("$POSEIDON draw --model=%s/googlenet/train_val.prototxt | cmp - net.svg", models) ==
          0);
}

int main(int argc, char **argv)
{
    RUN(parameters_are_as_published)
    RUN(a_row_has_shape_parameters_work_and_memory)
    RUN(memory_is_not_taken)
    RUN(what_cannot_be_shown_is_told)
    RUN(a_net_is_drawn)
}
