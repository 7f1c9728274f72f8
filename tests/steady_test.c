/* steady_test.c - a job that has found its stride allocates nothing, and locks the loop's queue alone.
 *
 *     iterations   0 1 2 | 3 .................. 19 |
 *     allocations        |          none           |     of the whole process: callers, loops, helpers
 *     locks              |       once a call       |
 *
 * The program puts itself before the C library's malloc and pthread_mutex_lock and counts their calls. A
 * sanitizer has its own, which must not be taken from it. */
#include "crew.h"

#include <dlfcn.h>

enum { RANKS = 2, WARM = 3, END = 20 };

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
};

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
        if (seat.iteration == WARM || seat.iteration == END) {
            pthread_barrier_wait(&job->all);
            if (rank == 0)
                atomic_store(&counts, seat.iteration == WARM);
            pthread_barrier_wait(&job->all);
        }
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

static void count_steady(const struct crew_case *c)
{
    struct job job = {.c = c};

    crew_name(job.name);
    pthread_barrier_init(&job.all, NULL, RANKS);
    atomic_store(&calls, 0);
    atomic_store(&locks, 0);
    crew_each(RANKS, take_part, &job);
    pthread_barrier_destroy(&job.all);
}

static void check_steady(const struct crew_case *c)
{
    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own malloc");
    check_counting();
    count_steady(c);
    if (atomic_load(&calls))
        TEST_FAIL("%ld allocations in %d iterations", atomic_load(&calls), END - WARM);
}

/* Whoever posts locks the queue, and so does the loop that takes it. A call that waits for its answer locks
 * it once more on either side; a caller that sleeps until a value has come, and who wakes it, lock, too. */
static long most_locks(const struct crew_case *c)
{
    long syncs = (long)c->workers * CREW_PARAMS;
    long sleeps = (long)c->ranks * CREW_PARAMS, asked = sleeps + c->ranks; /* a wait each; begin */

    return (END - WARM) * (2 * syncs + 4 * asked + 2 * sleeps);
}

static void a_sync_locks_the_loops_queue_and_pieces_lock_nothing(void)
{
    struct crew_case c = {.ranks = RANKS, .workers = 5, .forms = CREW_DENSE};

    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own pthread_mutex_lock");
    count_steady(&c);
    CHECK(atomic_load(&locks) >= (long)(END - WARM) * 5 * CREW_PARAMS); /* they are seen */
    if (atomic_load(&locks) > most_locks(&c))
        TEST_FAIL("%ld locks, not %ld at most", atomic_load(&locks), most_locks(&c));
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
    RUN(a_sync_locks_the_loops_queue_and_pieces_lock_nothing)
}
