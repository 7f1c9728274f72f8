/* netns_slow_test.c - a job starts soon on a slow network, too, and knows how slow it is. */
#include "base/clock.h"
#include "base/thread.h"
#include "cli/busy.h"
#include "cli/netns.h"
#include "poseidon/comm.h"
#include "test.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { MOST = 8, TRIES = 12 };

/* What a rank has found; shared with the test. */
struct found {
    uint64_t took_ns; /* by psd_comm_start */
    double bandwidth; /* MB/s, as the plan has it */
};

/* A job on a network of its own. */
struct job {
    struct psd_netns *netns;
    unsigned ranks;
    struct found *found; /* [MOST] */
};

static void take_part(unsigned rank, unsigned ranks, struct found *out)
{
    static const char key[] = "what only this test knows";
    float value[4] = {0};
    struct psd_comm_options options = {.coordinator = "tcp://10.77.0.1:7070",
                                       .key = key,
                                       .key_size = sizeof key,
                                       .rank = rank,
                                       .ranks = ranks,
                                       .timeout_ms = 60000};
    struct psd_comm_param param = {.name = "p", .rows = 1, .cols = 4, .value = value};
    struct psd_comm *comm = NULL;
    int id = 0;

    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &param, &id));
    uint64_t begin = psd_clock_now();
    CHECK_OK(psd_comm_start(comm));
    out->took_ns = psd_clock_now() - begin;
    CHECK_OK(psd_comm_barrier(comm));
    const char *network = strstr(psd_comm_plan(comm), "network");
    if (rank == 0)
        CHECK(network && sscanf(network, "network %lf MB/s", &out->bandwidth) == 1);
    psd_comm_close(comm);
}

static void meet(const struct job *job)
{
    pid_t pids[MOST];
    int status = 0;

    for (unsigned rank = 0; rank < job->ranks; rank++) {
        pids[rank] = fork();
        CHECK(pids[rank] >= 0);
        if (pids[rank])
            continue;
        CHECK_OK(psd_netns_enter(job->netns, rank));
        take_part(rank, job->ranks, &job->found[rank]);
        _exit(0);
    }
    for (unsigned rank = 0; rank < job->ranks; rank++)
        CHECK(waitpid(pids[rank], &status, 0) == pids[rank] && status == 0);
}

/* As meet; whether the processors had time to spare meanwhile. */
static bool meet_calmly(const struct job *job)
{
    struct psd_busy before = psd_busy_read(), busy = {0};

    meet(job);
    psd_busy_add_since(&busy, &before);
    fprintf(stderr, "    %.2f processors are busy\n", psd_busy_cores(&busy));
    return !psd_busy_is_limit(&busy, psd_thread_processors());
}

static bool is_soon(const struct job *job, double rate, bool *was_calm)
{
    uint64_t longest_ns = 0;
    double bandwidth = 0;

    CHECK_OK(psd_netns_shape(job->netns, rate));
    *was_calm |= meet_calmly(job);
    for (unsigned rank = 0; rank < job->ranks; rank++) {
        if (job->found[rank].took_ns > longest_ns)
            longest_ns = job->found[rank].took_ns;
    }
    bandwidth = job->found[0].bandwidth;
    fprintf(stderr, "    %u ranks, %.0f Mbit/s: %.0f ms at most, measured %.1f MB/s\n", job->ranks,
            rate * 8e-6, (double)longest_ns * 1e-6, bandwidth);
    return longest_ns < PSD_CLOCK_S && bandwidth > rate * 0.7e-6 && bandwidth < rate * 1.3e-6;
}

/* A busy machine may be slow itself: one of several times is enough, and none if it was busy all the time. */
static void must_be_soon(const struct job *job, double rate)
{
    bool was_calm = false;

    for (unsigned k = 0; k < TRIES; k++) {
        if (is_soon(job, rate, &was_calm))
            return;
    }
    CHECK(!was_calm);
    psd_netns_close(job->netns);
    SKIP("the processors are busy all the time");
}

static void must_start_soon(unsigned ranks, const double *rates, size_t n_rates)
{
    struct job job = {.ranks = ranks};

    job.found = mmap(NULL, MOST * sizeof *job.found, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(job.found != MAP_FAILED);
    if (psd_netns_open(ranks, &job.netns) != PSD_OK)
        SKIP("there are no network namespaces to be had");
    for (size_t i = 0; i < n_rates; i++)
        must_be_soon(&job, rates[i]);
    psd_netns_close(job.netns);
    munmap(job.found, MOST * sizeof *job.found);
}

static const double rates[] = {10e6 / 8, 100e6 / 8, 1e9 / 8};

static void a_job_starts_within_a_second(void)
{
    must_start_soon(2, rates, sizeof rates / sizeof *rates);
}

static void a_job_of_many_starts_within_a_second(void)
{
    must_start_soon(MOST, rates + 1, sizeof rates / sizeof *rates - 1);
}

int main(int argc, char **argv)
{
    RUN(a_job_starts_within_a_second)
    RUN(a_job_of_many_starts_within_a_second)
}
