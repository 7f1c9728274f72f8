/* comm_end_test.c - one rank ends the job, and every other hears why, wherever it is. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "crew.h"

enum { RANKS = 3, VALUES = 40 };

/* Where the others are when it happens. */
enum spot { WAITING, REDUCING, IN_A_BARRIER, TAKING_A_COPY, STARTING, BETWEEN_CALLS, SPOTS };

struct scene {
    char name[32];
    enum spot spot;
    unsigned culprit;
    atomic_uint there; /* others that are about to be there */
    atomic_bool over;  /* the culprit has ended it */
    float values[RANKS][VALUES], grads[RANKS][VALUES];
};

/* A seat of the scene, started unless that is where the others are. */
static struct psd_comm *sit_down(struct scene *scene, unsigned rank)
{
    struct psd_comm_options options = crew_grounded((struct psd_comm_options){
        .coordinator = scene->name, .rank = rank, .ranks = RANKS, .timeout_ms = 60000});
    struct psd_comm_param param = {
        .name = "p", .rows = 1, .cols = VALUES, .value = scene->values[rank]};
    struct psd_comm *comm = NULL;
    int id = -1;

    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &param, &id));
    if (scene->spot != STARTING)
        CHECK_OK(psd_comm_start(comm));
    return comm;
}

/* A value that never comes, as the culprit does not sync. */
static psd_status wait_for_value(struct scene *scene, struct psd_comm *comm, unsigned rank)
{
    PSD_TRY(psd_comm_begin(comm, 0, 1));
    PSD_TRY(psd_comm_sync(comm, 0, rank, scene->grads[rank]));
    return psd_comm_wait(comm, 0);
}

static psd_status be_there(struct scene *scene, struct psd_comm *comm, unsigned rank)
{
    float numbers[4] = {1};

    switch (scene->spot) {
    case WAITING:
        return wait_for_value(scene, comm, rank);
    case REDUCING:
        return psd_comm_reduce(comm, numbers, 4);
    case IN_A_BARRIER:
        return psd_comm_barrier(comm);
    case TAKING_A_COPY:
        return psd_comm_broadcast(comm, scene->values[rank], sizeof scene->values[rank]);
    case STARTING:
        return psd_comm_start(comm);
    default:
        while (!atomic_load(&scene->over) || psd_comm_begin(comm, 0, 1) == PSD_OK)
            psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
        return psd_comm_wait(comm, 0);
    }
}

static void end_it(struct scene *scene, struct psd_comm *comm)
{
    while (atomic_load(&scene->there) < RANKS - 1)
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    psd_clock_sleep_until(psd_clock_now() + 10 * PSD_CLOCK_MS);
    psd_fail(PSD_ECONFIG, "the disk is full");
    psd_comm_end(comm, psd_error());
    CHECK_TEXT("the disk is full", psd_error());
    psd_comm_end(comm, "and again"); /* which nobody hears */
    atomic_store(&scene->over, true);
}

static void play(void *arg, unsigned rank)
{
    struct scene *scene = arg;
    struct psd_comm *comm = sit_down(scene, rank);
    char words[64];

    snprintf(words, sizeof words, "rank %u: the disk is full", scene->culprit);
    if (rank == scene->culprit)
        end_it(scene, comm);
    else
        atomic_fetch_add(&scene->there, 1);
    for (int i = 0; i < 2; i++) { /* once more, and all calls answer so */
        CHECK_STATUS(PSD_EPEER,
                     rank == scene->culprit ? psd_comm_start(comm) : be_there(scene, comm, rank));
        CHECK_TEXT(words, psd_error());
    }
    psd_comm_close(comm);
}

static void end_everywhere(void)
{
    for (unsigned i = 0; i < SPOTS * RANKS; i++) {
        struct scene scene = {.spot = (enum spot)(i / RANKS), .culprit = i % RANKS};
        if (scene.spot == TAKING_A_COPY && scene.culprit != 0)
            continue; /* the giver of a copy does not wait for the others */
        fprintf(stderr, "    rank %u ends it at spot %d\n", scene.culprit, (int)scene.spot);
        crew_name(scene.name);
        crew_each(RANKS, play, &scene);
    }
}

static void every_rank_hears_of_the_end_wherever_it_is(void)
{
    end_everywhere();
}

static void so_it_does_over_sockets(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        end_everywhere();
}

static void a_job_of_one_ends_too(void)
{
    static float value[4];
    struct psd_comm_param param = {.name = "p", .rows = 1, .cols = 4, .value = value};
    struct psd_comm *comm = NULL;
    char name[32], words[4096];
    int id = -1;

    CHECK_OK(psd_comm_open(&(struct psd_comm_options){.coordinator = crew_name(name)}, &comm));
    CHECK_OK(psd_comm_add(comm, &param, &id));
    CHECK_OK(psd_comm_start(comm));
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    psd_comm_end(comm, words); /* a long story is cut */
    CHECK_STATUS(PSD_EPEER, psd_comm_barrier(comm));
    CHECK(strncmp(psd_error(), "rank 0: xxx", 11) == 0 && strlen(psd_error()) < sizeof words);
    psd_comm_close(comm);
}

/* A failed allocation may delay the end; it never takes it away. */
static void an_end_survives_every_failed_allocation(void)
{
    static float value[4];
    struct psd_comm_param param = {.name = "p", .rows = 1, .cols = 4, .value = value};
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_comm *comm = NULL;
        char name[32];
        int id = -1;
        CHECK_OK(psd_comm_open(&(struct psd_comm_options){.coordinator = crew_name(name)}, &comm));
        CHECK_OK(psd_comm_add(comm, &param, &id));
        CHECK_OK(psd_comm_start(comm));
        psd_alloc_fail_at(n);
        psd_comm_end(comm, "enough");
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(PSD_EPEER, psd_comm_barrier(comm));
        psd_comm_close(comm);
    }
}

int main(int argc, char **argv)
{
    RUN(every_rank_hears_of_the_end_wherever_it_is)
    RUN(so_it_does_over_sockets)
    RUN(a_job_of_one_ends_too)
    RUN(an_end_survives_every_failed_allocation)
}
