/* 02-join-a-job.c - two processes learn one model together.
 *
 *     cc 02-join-a-job.c $(pkg-config --cflags --libs poseidon-comm) -pthread
 *
 * Each of them has half of the samples of y = 3x + 1 and computes the gradient of its own half; the
 * library adds the two and updates the values of both alike. The processes are threads here, which
 * meet at inproc://line; on two machines they would meet at tcp://10.0.0.1:7070 and have a key in common,
 * and nothing else would change.
 * SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/comm.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 2, SAMPLES = 8, ITERATIONS = 300 };

static void check(psd_status status)
{
    if (status == PSD_OK)
        return;
    fprintf(stderr, "%s\n", psd_error());
    abort();
}

/* Backward: the gradient of the squared error over this rank's samples. */
static void compute_gradient(unsigned rank, const float line[2], float grad[2])
{
    grad[0] = grad[1] = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        float x = (float)(rank * SAMPLES + i) / (RANKS * SAMPLES), y = 3 * x + 1;
        float error = line[0] * x + line[1] - y;
        grad[0] += 2 * error * x / SAMPLES;
        grad[1] += 2 * error / SAMPLES;
    }
}

static void *take_part(void *arg)
{
    unsigned rank = *(const unsigned *)arg;
    float line[2] = {0}, grad[2];
    struct psd_comm_options options = {
        .coordinator = "inproc://line", .rank = rank, .ranks = RANKS, .update = {.momentum = 0.9f}};
    struct psd_comm_param param = {.name = "line", .rows = 1, .cols = 2, .value = line};
    struct psd_comm *comm = NULL;
    int id = 0;

    check(psd_comm_open(&options, &comm));
    check(psd_comm_add(comm, &param, &id));
    check(psd_comm_start(comm));
    for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
        check(psd_comm_begin(comm, iteration, 0.05f));
        compute_gradient(rank, line, grad);
        check(psd_comm_sync(comm, id, rank, grad)); /* a rank hosts one worker, of its own number */
        check(psd_comm_wait(comm, id));
    }
    printf("rank %u has learned y = %.3fx + %.3f\n", rank, (double)line[0], (double)line[1]);
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
