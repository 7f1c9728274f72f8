/* steady_test.c - a job that has found its stride allocates nothing.
 *
 *     iterations   0 1 2 | 3 .................. 19 |
 *     allocations        |          none           |     of the whole process: callers, loops, helpers
 *
 * The program puts itself before the C library's malloc and counts its calls. A sanitizer has a malloc
 * of its own, which must not be taken from it. */
#include "crew.h"

enum { RANKS = 2, WARM = 3, END = 20 };

static atomic_bool counts;
static atomic_long calls;

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

static void check_steady(const struct crew_case *c)
{
    struct job job = {.c = c};

    if (TEST_IS_SANITIZED)
        SKIP("a sanitizer has its own malloc");
    check_counting();
    crew_name(job.name);
    pthread_barrier_init(&job.all, NULL, RANKS);
    atomic_store(&calls, 0);
    crew_each(RANKS, take_part, &job);
    pthread_barrier_destroy(&job.all);
    if (atomic_load(&calls))
        TEST_FAIL("%ld allocations in %d iterations", atomic_load(&calls), END - WARM);
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
}
