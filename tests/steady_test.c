/* steady_test.c - a job that has found its stride allocates nothing, and locks the loop's queue alone.
 *
 *     iterations   0 1 2 | 3 .................. 19 |
 *     allocations        |          none           |     of the whole process: callers, loops, helpers
 *     locks              |       once a call       |     however many pieces a gradient travels in
 *
 * The program puts itself before the C library's malloc and pthread_mutex_lock and counts their calls. A
 * sanitizer has its own, which must not be taken from it. */
#include "crew.h"

#include <dlfcn.h>

enum { RANKS = 2, WARM = 3, END = 20, LARGE = 4 << 20 /* floats */ };

static atomic_bool counts;
static atomic_long calls, locks;

#if !TEST_IS_SANITIZED
/* NOLINTBEGIN: the names are glibc's, which offers the first four to whoever puts himself before it. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count(void)
{
    if (atomic_load(&counts))
        atomic_fetch_add(&calls, 1);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count();
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    count();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}
/* NOLINTEND */

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static _Atomic(void *) next; /* the C library's; looked up long before anything is counted */
    int (*lock)(pthread_mutex_t *) = NULL;

    if (atomic_load(&counts))
        atomic_fetch_add(&locks, 1);
    if (!atomic_load(&next))
        atomic_store(&next, dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    void *found = atomic_load(&next);
    memcpy(&lock, &found, sizeof lock);
    return lock(mutex);
}
#endif

struct job {
    const struct crew_case *c;
    char name[32];
    pthread_barrier_t all;
    atomic_long messages; /* that were sent while it counted */
};

/* Counts between two iterations, with nobody in any of the others. */
static void count_between(struct job *job, unsigned rank, uint64_t iteration, struct psd_comm *comm)
{
    struct psd_comm_counters counters;

    if (iteration != WARM && iteration != END)
        return;
    pthread_barrier_wait(&job->all);
    if (rank == 0)
        atomic_store(&counts, false);
    pthread_barrier_wait(&job->all);
    psd_comm_count(comm, &counters); /* which locks, too */
    long sent = (long)counters.sent_messages;
    atomic_fetch_add(&job->messages, iteration == WARM ? -sent : sent);
    pthread_barrier_wait(&job->all);
    if (rank == 0)
        atomic_store(&counts, iteration == WARM);
    pthread_barrier_wait(&job->all);
}

static void take_part(void *arg, unsigned rank)
{
    struct job *job = arg;
    struct crew_seat seat = {.c = job->c};
    struct psd_comm_options options = crew_options(job->c, job->name, rank);

    crew_seat_init(&seat);
    CHECK_OK(psd_comm_open(&options, &seat.comm));
    crew_add_params(&seat);
    CHECK_OK(psd_comm_start(seat.comm));
    seat.hosted = psd_comm_hosted(seat.comm, &seat.n_hosted);
    while (seat.iteration < END) {
        crew_iterate(&seat);
        count_between(job, rank, seat.iteration, seat.comm);
    }
    psd_comm_close(seat.comm);
    crew_seat_fini(&seat);
}

/* Whether an allocation is seen at all. */
static void check_counting(void)
{
    atomic_store(&calls, 0);
    atomic_store(&counts, true);
    void *volatile memory = malloc(1);
    atomic_store(&counts, false);
    free(memory);
    CHECK(atomic_load(&calls) == 1);
}

/* How many messages were sent while it counted. */
static long count_steady(const struct crew_case *c, void (*take)(void *job, unsigned rank))
{
    struct job job = {.c = c};

    crew_name(job.name);
    pthread_barrier_init(&job.all, NULL, RANKS);
    atomic_store(&calls, 0);
    atomic_store(&locks, 0);
    crew_each(RANKS, take, &job);
    pthread_barrier_destroy(&job.all);
    return atomic_load(&job.messages);
}

static void check_steady(const struct crew_case *c)
{
    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own malloc");
    check_counting();
    count_steady(c, take_part);
    if (atomic_load(&calls))
        TEST_FAIL("%ld allocations in %d iterations", atomic_load(&calls), END - WARM);
}

/* Whoever posts locks the queue, and so does the loop that takes it. A call that waits for its answer locks
 * it once more on either side; a caller that sleeps until a value has come, and who wakes it, lock, too. All
 * that is by calls: a sync posts, begin and wait ask, a wait may sleep. */
static long most_locks(long params, long workers)
{
    long syncs = workers * params, sleeps = RANKS * params, asked = sleeps + RANKS;

    return (END - WARM) * (2 * syncs + 4 * asked + 2 * sleeps);
}

static void check_locks(long params, long workers)
{
    CHECK(atomic_load(&locks) >= (END - WARM) * params * workers); /* they are seen */
    if (atomic_load(&locks) > most_locks(params, workers))
        TEST_FAIL("%ld locks, not %ld at most", atomic_load(&locks), most_locks(params, workers));
}

static void a_sync_locks_the_loops_queue_once(void)
{
    struct crew_case c = {.ranks = RANKS, .workers = 5, .forms = CREW_DENSE};

    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own pthread_mutex_lock");
    count_steady(&c, take_part);
    check_locks(CREW_PARAMS, 5);
}

/* One parameter, which travels in many pieces. */
static void take_large_part(void *arg, unsigned rank)
{
    struct job *job = arg;
    float *value = calloc(LARGE, sizeof *value), *grad = calloc(LARGE, sizeof *grad);
    struct psd_comm_options options = crew_grounded((struct psd_comm_options){
        .coordinator = job->name, .rank = rank, .ranks = RANKS, .workers = RANKS});
    struct psd_comm_param param = {.name = "large", .rows = 1, .cols = LARGE, .value = value};
    struct psd_comm *comm = NULL;
    int id = -1;

    CHECK_OK(psd_comm_open(&options, &comm));
    CHECK_OK(psd_comm_add(comm, &param, &id));
    CHECK_OK(psd_comm_start(comm));
    for (uint64_t iteration = 0; iteration < END; iteration++) {
        CHECK_OK(psd_comm_begin(comm, iteration, 0.1f));
        CHECK_OK(psd_comm_sync(comm, id, rank, grad));
        CHECK_OK(psd_comm_wait(comm, id));
        count_between(job, rank, iteration + 1, comm);
    }
    psd_comm_close(comm);
    free(value);
    free(grad);
}

/* So many that the locks which calls may need are far fewer: one for each piece would be seen. */
static void pieces_lock_nothing(void)
{
    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own pthread_mutex_lock");
    long messages = count_steady(NULL, take_large_part);
    fprintf(stderr, "    %ld messages, %ld locks\n", messages, atomic_load(&locks));
    CHECK(messages > 2 * most_locks(1, RANKS));
    check_locks(1, RANKS);
}

static void dense_parameters_need_no_memory(void)
{
    check_steady(&(struct crew_case){.ranks = RANKS, .workers = 5, .forms = CREW_DENSE});
}

static void factors_need_no_memory_on_any_route(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED,
                                            PSD_ROUTE_SINGLE_OWNER};

    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        check_steady(&(struct crew_case){
            .ranks = RANKS, .workers = 4, .forms = CREW_FACTORED, .route = routes[i]});
}

static void sums_and_clipping_need_no_memory(void)
{
    check_steady(&(struct crew_case){
        .ranks = RANKS, .workers = 4, .forms = CREW_MIXED, .mode = PSD_COMM_SUM});
    check_steady(&(struct crew_case){.ranks = RANKS, .workers = 4, .forms = CREW_MIXED, .clip = 1});
}

static void sockets_need_no_memory_either(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++) {
        check_steady(&(struct crew_case){.ranks = RANKS, .workers = 4, .forms = CREW_DENSE});
        check_steady(&(struct crew_case){
            .ranks = RANKS, .workers = 4, .forms = CREW_MIXED, .mode = PSD_COMM_SUM});
    }
}

int main(int argc, char **argv)
{
    RUN(dense_parameters_need_no_memory)
    RUN(factors_need_no_memory_on_any_route)
    RUN(sums_and_clipping_need_no_memory)
    RUN(sockets_need_no_memory_either)
    RUN(a_sync_locks_the_loops_queue_once)
    RUN(pieces_lock_nothing)
}
