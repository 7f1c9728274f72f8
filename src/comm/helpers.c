/* helpers.c - a box of works for each thread, and one for what is done; no locks.
 *
 *     loop    order ---> [ box ] ---> helper 0 ---.
 *               '------> [ box ] ---> helper 1 ---+---> [ box ] ---> loop: done
 *
 * Who takes from a box takes all (base/box.h). So each helper has its own, and the loop gives a work to
 * the one that has the least to do. Short sums it does itself: to wake a thread takes longer, and the bytes
 * are in its cache. */
#include "comm/helpers.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { SHORT = 128 << 10 }; /* bytes of a sum: about ten microseconds */

/* A thread, and what it is to do. */
struct hand {
    struct psd_helpers *helpers; /* borrowed */
    struct psd_box box;          /* of works; borrowed */
    sem_t ready; /* counts how often the box was empty before something came, and the end */
    pthread_t thread;
    double given;            /* loop thread only: the cost of all that it was ordered */
    _Atomic(double) managed; /* of all that it has done */
};

struct psd_helpers {
    struct psd_loop *loop; /* borrowed, as is the context; outlives us, though perhaps stopped */
    void (*call)(void *context, struct psd_work *work);
    void *context;
    const struct psd_arithmetic
        *arithmetic;      /* borrowed; NULL: all is run; constant since the start */
    struct psd_box done;  /* works; borrowed */
    struct psd_note note; /* reports them; put by who puts the first */
    _Atomic(bool) over;
    unsigned count;      /* of hands that have a thread; constant since create */
    struct hand sleeper; /* for works that only take their time; where there is an arithmetic */
    struct hand hands[];
};

/* On the loop: everything that has run meanwhile. A work may be ordered again by its `done`. */
static void report_all(void *arg)
{
    struct psd_helpers *helpers = arg;
    struct psd_boxed *next = psd_box_take(&helpers->done);

    while (next) {
        struct psd_work *work = (struct psd_work *)next;
        next = next->next;
        helpers->call(helpers->context, work);
    }
}

/* A loop that is stopped wants no report. */
static void report(struct psd_helpers *helpers, struct psd_work *work)
{
    if (psd_box_put(&helpers->done, &work->boxed) == PSD_BOX_EMPTY)
        (void)psd_loop_put(helpers->loop, &helpers->note);
}

/* What a work takes, in no unit but the same for all: a product's two flops are about a byte's. */
static double cost_of(const struct psd_work *work)
{
    return 1 + work->bytes + work->flops / 2;
}

static void do_one(struct hand *hand, struct psd_work *work)
{
    double managed = atomic_load_explicit(&hand->managed, memory_order_relaxed);
    double cost = cost_of(work);

    if (work->until_ns)
        psd_clock_sleep_until(work->until_ns);
    else
        work->run(work);
    atomic_store_explicit(&hand->managed, managed + cost, memory_order_relaxed);
    report(hand->helpers, work);
}

static void wait_for_works(struct hand *hand)
{
    while (sem_wait(&hand->ready)) /* a signal; it is waited for again */
        ;
}

static void run(void *arg)
{
    struct hand *hand = arg;

    while (!atomic_load(&hand->helpers->over)) {
        wait_for_works(hand);
        struct psd_boxed *next = psd_box_take(&hand->box);
        while (next && !atomic_load(&hand->helpers->over)) {
            struct psd_work *work = (struct psd_work *)next;
            next = next->next;
            do_one(hand, work);
        }
    }
}

static psd_status start_hand(struct psd_helpers *helpers, struct hand *hand, const char *name)
{
    hand->helpers = helpers;
    sem_init(&hand->ready, 0, 0);
    psd_status status = psd_thread_start(name, run, hand, &hand->thread);
    if (status != PSD_OK)
        sem_destroy(&hand->ready);
    return status;
}

static void stop_hand(struct hand *hand)
{
    sem_post(&hand->ready);
    pthread_join(hand->thread, NULL);
    sem_destroy(&hand->ready);
}

static psd_status start(struct psd_helpers *helpers, unsigned threads)
{
    while (helpers->count < threads) {
        PSD_TRY(start_hand(helpers, &helpers->hands[helpers->count], "psd-helper"));
        helpers->count++;
    }
    return PSD_OK;
}

psd_status psd_helpers_create(unsigned threads, struct psd_loop *loop,
                              void (*done)(void *context, struct psd_work *work), void *context,
                              struct psd_helpers **out)
{
    struct psd_helpers *helpers =
        psd_alloc_zero(1, sizeof *helpers + threads * sizeof *helpers->hands);

    if (!helpers)
        return PSD_ENOMEM;
    helpers->loop = loop;
    helpers->call = done;
    helpers->context = context;
    helpers->note = (struct psd_note){.fn = report_all, .arg = helpers};
    psd_status status = start(helpers, threads);
    if (status == PSD_OK)
        *out = helpers;
    else
        psd_helpers_destroy(helpers);
    return status;
}

void psd_helpers_destroy(struct psd_helpers *helpers)
{
    if (!helpers)
        return;
    atomic_store(&helpers->over, true);
    for (unsigned i = 0; i < helpers->count; i++)
        stop_hand(&helpers->hands[i]);
    if (helpers->arithmetic)
        stop_hand(&helpers->sleeper);
    psd_alloc_free(helpers);
}

psd_status psd_helpers_pretend(struct psd_helpers *helpers, const struct psd_arithmetic *arithmetic)
{
    PSD_TRY(start_hand(helpers, &helpers->sleeper, "psd-sleeper"));
    helpers->arithmetic = arithmetic;
    return PSD_OK;
}

static struct hand *find_idlest(struct psd_helpers *helpers)
{
    struct hand *best = helpers->hands;
    double least = 0;

    for (unsigned i = 0; i < helpers->count; i++) {
        struct hand *hand = &helpers->hands[i];
        double left = hand->given - atomic_load_explicit(&hand->managed, memory_order_relaxed);
        if (i == 0 || left < least) {
            best = hand;
            least = left;
        }
    }
    return best;
}

static uint64_t until(const struct psd_arithmetic *arithmetic, const struct psd_work *work)
{
    return arithmetic ? arithmetic->until(arithmetic->context, work) : 0;
}

static bool is_short(const struct psd_work *work)
{
    return work->kind == PSD_WORK_SUM && work->bytes <= SHORT && !(work->flops > 0) &&
           !work->until_ns;
}

void psd_helpers_order(struct psd_helpers *helpers, struct psd_work *work)
{
    work->until_ns = until(helpers->arithmetic, work);
    if (is_short(work)) {
        work->run(work);
        report(helpers, work);
        return;
    }
    struct hand *hand = work->until_ns ? &helpers->sleeper : find_idlest(helpers);
    hand->given += cost_of(work);
    if (psd_box_put(&hand->box, &work->boxed) == PSD_BOX_EMPTY)
        sem_post(&hand->ready);
}
