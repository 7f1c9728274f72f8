/* 05-train-a-net.c - train a net on samples that the program has in memory.
 *
 *     cc 05-train-a-net.c $(pkg-config --cflags --libs poseidon)
 *
 * A solver file and a net file are Caffe's, the net's data layer is a MemoryData layer, and the program
 * steps the solver as often as it likes, looking at the loss and at any parameter on the way.
 * SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 64, INPUTS = 4 };

static const char net[] =
    "layer { name: 'data' type: 'MemoryData' top: 'x' top: 'class'"
    "        memory_data_param { batch_size: 16 channels: 4 height: 1 width: 1 } }\n"
    "layer { name: 'score' type: 'InnerProduct' bottom: 'x' top: 'score'"
    "        inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } }\n"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'score' bottom: 'class' top: 'loss' }\n";

static const char solver[] = "net: 'net.prototxt' base_lr: 0.5 momentum: 0.9 lr_policy: 'fixed'\n"
                             "max_iter: 200 random_seed: 1 snapshot_prefix: 'ours'\n";

static void check(psd_status status)
{
    if (status == PSD_OK)
        return;
    fprintf(stderr, "%s\n", psd_error());
    abort();
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

/* The class of a sample is whether its first two inputs are larger than its last two. */
static void make_samples(float x[SAMPLES][INPUTS], float class[SAMPLES])
{
    unsigned state = 1;

    for (unsigned i = 0; i < SAMPLES; i++) {
        for (unsigned k = 0; k < INPUTS; k++) {
            state = state * 1103515245u + 12345u;
            x[i][k] = (float)(state >> 16 & 1023) / 1023;
        }
        class[i] = x[i][0] + x[i][1] > x[i][2] + x[i][3] ? 1 : 0;
    }
}

int main(void)
{
    static float x[SAMPLES][INPUTS], class[SAMPLES];
    char folder[] = "/tmp/train-XXXXXX";
    struct psd_engine *engine = NULL;
    float loss = 0;

    if (!mkdtemp(folder) || chdir(folder) != 0)
        abort();
    write_file("net.prototxt", net);
    write_file("solver.prototxt", solver);
    make_samples(x, class);
    check(psd_engine_open(&(struct psd_engine_options){.solver = "solver.prototxt"}, &engine));
    check(psd_engine_feed(engine, "data", x[0], class, SAMPLES));
    for (int i = 0; i < 4; i++) {
        check(psd_engine_step(engine, 50, &loss));
        printf("after %lld iterations the loss is %.4f\n", (long long)psd_engine_iteration(engine),
               (double)loss);
    }
    check(psd_engine_save(engine, "ours.caffemodel"));
    psd_engine_close(engine);
    remove("net.prototxt"), remove("solver.prototxt"), remove("ours.caffemodel");
    return rmdir(folder) != 0 || loss > 0.2f;
}
