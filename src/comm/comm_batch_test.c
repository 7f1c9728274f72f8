/* comm_batch_test.c - workers whose factors have batches of their own. */
#include "comm/hosting.h"
#include "crew.h"

enum { WORKERS = 5, ROWS = 20, COLS = 12, VALUES = ROWS * COLS, LARGEST = 4 };

static const size_t batches[WORKERS] = {1, 4, 2, 3, 1};

struct job {
    char name[32];
    unsigned ranks;
    bool named;                    /* members name the workers that they host */
    float values[WORKERS][VALUES]; /* that each rank ends with */
};

/* What rank `rank` hosts, when workers are dealt out evenly, and with which batches. */
static unsigned find_hosted(const struct job *job, unsigned rank, unsigned *hosted, size_t *sizes)
{
    unsigned host[WORKERS], count = 0;

    psd_hosting_even(job->ranks, WORKERS, host);
    for (unsigned w = 0; w < WORKERS; w++) {
        if (host[w] != rank)
            continue;
        sizes[count] = batches[w];
        hosted[count++] = w;
    }
    return count;
}

static void sync_worker(struct psd_comm *comm, int id, unsigned worker, uint64_t iteration)
{
    float u[LARGEST * ROWS], v[LARGEST * COLS];
    uint64_t stream = iteration * WORKERS + worker;

    psd_random_fill_normal(5, stream, 0, batches[worker] * ROWS, u);
    psd_random_fill_normal(6, stream, 0, batches[worker] * COLS, v);
    CHECK_OK(psd_comm_sync_factors(comm, id, worker, u, v, batches[worker]));
}

static struct psd_comm *take_seat(struct job *job, unsigned rank, unsigned *hosted, unsigned *count)
{
    size_t sizes[WORKERS];
    struct psd_comm *comm = NULL;

    *count = find_hosted(job, rank, hosted, sizes);
    CHECK_OK(psd_comm_open(&(struct psd_comm_options){.coordinator = job->name,
                                                      .rank = rank,
                                                      .ranks = job->ranks,
                                                      .workers = WORKERS,
                                                      .hosted = job->named ? hosted : NULL,
                                                      .n_hosted = *count,
                                                      .batches = sizes,
                                                      .update = {.momentum = 0.9f}},
                           &comm));
    memset(sizes, 0, sizeof sizes); /* they are copied */
    return comm;
}

static int start(struct psd_comm *comm, float *value)
{
    int id = -1;

    CHECK_OK(psd_comm_add(comm,
                          &(struct psd_comm_param){.name = "fc",
                                                   .rows = ROWS,
                                                   .cols = COLS,
                                                   .value = value,
                                                   .factors = true,
                                                   .form = PSD_FORM_FACTORED},
                          &id));
    CHECK_OK(psd_comm_start(comm));
    return id;
}

static void take_part(void *arg, unsigned rank)
{
    struct job *job = arg;
    unsigned hosted[WORKERS], count = 0;
    struct psd_comm *comm = take_seat(job, rank, hosted, &count);
    int id = start(comm, job->values[rank]);

    for (uint64_t t = 0; t < 3; t++) {
        CHECK_OK(psd_comm_begin(comm, t, 0.1f));
        for (unsigned i = 0; i < count; i++)
            sync_worker(comm, id, hosted[i], t);
        CHECK_OK(psd_comm_wait(comm, id));
    }
    psd_comm_close(comm);
}

static void train(struct job *job)
{
    crew_name(job->name);
    crew_each(job->ranks, take_part, job);
}

static void workers_of_one_seat_may_have_batches_of_their_own(void)
{
    static struct job alone, together;

    alone.ranks = 1;
    train(&alone);
    CHECK(alone.values[0][0] != 0);
    for (unsigned i = 2; i <= 2 * WORKERS; i++) {
        memset(together.values, 0, sizeof together.values);
        together.ranks = i / 2;
        together.named = i % 2;
        train(&together);
        for (unsigned rank = 0; rank < together.ranks; rank++)
            CHECK(crew_equal(alone.values[0], together.values[rank], VALUES));
    }
}

static void another_batch_than_a_worker_s_own_is_refused(void)
{
    struct job job = {.ranks = 1};
    unsigned hosted[WORKERS], count = 0;
    static float value[VALUES], u[LARGEST * ROWS], v[LARGEST * COLS];

    crew_name(job.name);
    struct psd_comm *comm = take_seat(&job, 0, hosted, &count);
    int id = start(comm, value);
    CHECK_OK(psd_comm_begin(comm, 0, 1));
    CHECK_OK(psd_comm_sync_factors(comm, id, 1, u, v, 4));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync_factors(comm, id, 2, u, v, 4));
    CHECK_TEXT("rank 0: worker 2 syncs fc with 4 samples; 2 were agreed", psd_error());
    psd_comm_close(comm);
}

int main(int argc, char **argv)
{
    RUN(workers_of_one_seat_may_have_batches_of_their_own)
    RUN(another_batch_than_a_worker_s_own_is_refused)
}
