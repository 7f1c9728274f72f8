/* 02-join-a-job.c - two seats of one job learn together, each in a thread of its own.
 *
 *     cc 02-join-a-job.c $(pkg-config --cflags --libs poseidon-comm)
 *
 * A real job has a process for each seat; the calls are the same. Each worker's gradient pulls the
 * value towards a target of its own, so both end at the mean of the two. SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/comm.h>

#include <pthread.h>
#include <stdio.h>

enum { RANKS = 2, COUNT = 4, ITERATIONS = 200 };

static psd_status learn(struct psd_comm *comm, unsigned rank, float *value)
{
    struct psd_comm_param param = {.name = "weight", .rows = 1, .cols = COUNT};
    float grad[COUNT];
    int weight = 0;

    param.value = value;
    psd_status status = psd_comm_add(comm, &param, &weight);
    if (status == PSD_OK)
        status = psd_comm_start(comm); /* all begin with what worker 0 has */
    for (unsigned t = 0; status == PSD_OK && t < ITERATIONS; t++) {
        for (int i = 0; i < COUNT; i++)
            grad[i] = value[i] - (float)rank; /* worker 0 wants zeros, worker 1 ones */
        status = psd_comm_begin(comm, t, 0.1f);
        if (status == PSD_OK)
            status = psd_comm_sync(comm, weight, rank, grad);
        if (status == PSD_OK)
            status = psd_comm_wait(comm, weight);
    }
    return status;
}

static void *take_part(void *arg)
{
    unsigned rank = *(unsigned *)arg;
    struct psd_comm_options options = {
        .coordinator = "inproc://example", .rank = rank, .ranks = RANKS};
    struct psd_comm *comm = NULL;
    float value[COUNT] = {4, 3, 2, 1};

    psd_status status = psd_comm_open(&options, &comm);
    if (status == PSD_OK)
        status = learn(comm, rank, value);
    if (status != PSD_OK)
        fprintf(stderr, "rank %u: %s\n", rank, psd_error());
    else
        printf("rank %u ends with %.3f %.3f %.3f %.3f\n", rank, (double)value[0], (double)value[1],
               (double)value[2], (double)value[3]);
    psd_comm_close(comm);
    return NULL;
}

int main(void)
{
    pthread_t threads[RANKS];
    unsigned ranks[RANKS] = {0, 1};

    for (int i = 0; i < RANKS; i++)
        pthread_create(&threads[i], NULL, take_part, &ranks[i]);
    for (int i = 0; i < RANKS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
