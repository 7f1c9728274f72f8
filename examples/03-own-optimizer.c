/* 03-own-optimizer.c - the library adds gradients; the optimizer is the program's own.
 *
 *     cc 03-own-optimizer.c $(pkg-config --cflags --libs poseidon-comm) -pthread
 *
 * In sum mode the sum of all workers' gradients comes back, here in the place of the gradient itself,
 * and each process applies it as it likes: all do the same, so their values stay the same. One process
 * hosts two workers and the other one; the bits do not depend on that. A small all-reduce tells
 * everybody the loss.
 * SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/comm.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 2, WORKERS = 3, VALUES = 4, ITERATIONS = 100 };

static void check(psd_status status)
{
    if (status == PSD_OK)
        return;
    fprintf(stderr, "%s\n", psd_error());
    abort();
}

/* Each worker pulls the values towards its own number; together they agree on the mean. */
static float compute_gradient(unsigned worker, const float *value, float *grad)
{
    float loss = 0;

    for (unsigned i = 0; i < VALUES; i++) {
        grad[i] = value[i] - (float)worker;
        loss += grad[i] * grad[i] / 2;
    }
    return loss;
}

static void train(struct psd_comm *comm, int id, float grads[][VALUES])
{
    float value[VALUES] = {0}, loss[WORKERS] = {0};
    unsigned count = 0;
    const unsigned *workers = psd_comm_hosted(comm, &count);

    for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
        check(psd_comm_begin(comm, iteration, 0)); /* the rate is ours to know */
        for (unsigned i = 0; i < count; i++) {
            loss[i] = compute_gradient(workers[i], value, grads[i]);
            check(psd_comm_sync(comm, id, workers[i], grads[i]));
        }
        check(psd_comm_wait(comm, id)); /* now grads[0] is the sum */
        for (unsigned i = 0; i < VALUES; i++)
            value[i] -= 0.1f * grads[0][i] / WORKERS;
    }
    check(psd_comm_reduce(comm, loss, 1));
    printf("values %.3f, total loss %.3f, %u workers here\n", (double)value[0], (double)loss[0],
           count);
}

static void *take_part(void *arg)
{
    float grads[WORKERS][VALUES];
    struct psd_comm_options options = {.coordinator = "inproc://mean",
                                       .rank = *(const unsigned *)arg,
                                       .ranks = RANKS,
                                       .workers = WORKERS,
                                       .mode = PSD_COMM_SUM};
    struct psd_comm_param param = {.name = "value", .rows = 1, .cols = VALUES, .value = grads[0]};
    struct psd_comm *comm = NULL;
    int id = 0;

    check(psd_comm_open(&options, &comm));
    check(psd_comm_add(comm, &param, &id));
    check(psd_comm_start(comm));
    train(comm, id, grads);
    psd_comm_close(comm);
    return NULL;
}

int main(void)
{
    unsigned ranks[RANKS];
    pthread_t threads[RANKS];

    for (unsigned i = 0; i < RANKS; i++) {
        ranks[i] = i;
        if (pthread_create(&threads[i], NULL, take_part, &ranks[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < RANKS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
