/* 04-run-a-net.c - load a net, feed it, and look at what it says and why.
 *
 *     cc 04-run-a-net.c $(pkg-config --cflags --libs poseidon)
 *
 * The net is an XOR of two inputs whose weights the program writes itself; one of a file of weights
 * would be named in options.weights. Any blob and parameter can be read and written, and backward gives
 * the gradient of an output by each input.
 * SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char net[] =
    "layer { name: 'in' type: 'Input' top: 'in' input_param { shape { dim: 4 dim: 2 } } }\n"
    "layer { name: 'both' type: 'InnerProduct' bottom: 'in' top: 'both'"
    "        inner_product_param { num_output: 2 } }\n"
    "layer { name: 'relu' type: 'ReLU' bottom: 'both' top: 'both' }\n"
    "layer { name: 'xor' type: 'InnerProduct' bottom: 'both' top: 'xor'"
    "        inner_product_param { num_output: 1 } }\n";

static void check(psd_status status)
{
    if (status == PSD_OK)
        return;
    fprintf(stderr, "%s\n", psd_error());
    abort();
}

/* Writes `count` values into a blob or a parameter. */
static void set(struct psd_engine *engine, const char *name, const float *values, size_t count)
{
    struct psd_engine_array array;

    check(psd_engine_find(engine, name, &array));
    if (array.count != count)
        abort();
    memcpy(array.values, values, count * sizeof *values);
}

/* The net as a file, since that is how nets come. */
static void write_net(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(net, file) < 0 || fclose(file) != 0)
        abort();
}

static void run(struct psd_engine *engine)
{
    static const float inputs[] = {0, 0, 0, 1, 1, 0, 1, 1};
    struct psd_engine_array in, out;

    set(engine, "both[0]", (float[]){1, 1, 1, 1}, 4); /* a + b, and what is above 1 of it */
    set(engine, "both[1]", (float[]){0, -1}, 2);
    set(engine, "xor[0]", (float[]){1, -2}, 2);
    set(engine, "in", inputs, 8);
    check(psd_engine_find(engine, "in", &in));
    check(psd_engine_find(engine, "xor", &out));
    check(psd_engine_forward(engine, NULL));
    for (size_t i = 0; i < out.count; i++)
        out.gradient[i] = 1;
    check(psd_engine_backward(engine));
    for (size_t i = 0; i < out.count; i++)
        printf("%g xor %g = %g, slopes %g and %g\n", (double)in.values[2 * i],
               (double)in.values[2 * i + 1], (double)out.values[i], (double)in.gradient[2 * i],
               (double)in.gradient[2 * i + 1]);
}

int main(void)
{
    char path[] = "/tmp/xor-XXXXXX";
    struct psd_engine *engine = NULL;
    int file = mkstemp(path);

    if (file < 0)
        abort();
    write_net(path);
    check(psd_engine_open(&(struct psd_engine_options){.model = path, .all_gradients = true},
                          &engine));
    remove(path);
    run(engine);
    psd_engine_close(engine);
}
