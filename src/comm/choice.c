/* choice.c - exhaustive search while it is cheap, else descent from several starts. */
#include "comm/choice.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

static const enum psd_route both[2] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED};

struct psd_choice_score psd_choice_score(const struct psd_choice *choice,
                                         const enum psd_route *routes)
{
    struct psd_choice_score score = {0};

    score.seconds = psd_predict_run(choice->predict, choice->params, routes, choice->clip_s);
    score.ticks = choice->grain > 0 ? round(score.seconds / choice->grain) : score.seconds;
    for (size_t i = 0; i < choice->n_params; i++) {
        const struct psd_route_cost *cost = &choice->params[i].cost[routes[i]];
        score.device_s += cost->device_s;
        score.bytes += cost->up + cost->down;
        score.memory += (double)cost->memory;
    }
    return score;
}

bool psd_choice_better(const struct psd_choice_score *a, const struct psd_choice_score *b)
{
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks;
    if (a->device_s != b->device_s)
        return a->device_s < b->device_s;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->memory < b->memory;
}

void psd_choice_set(const struct psd_choice *choice, size_t leader, enum psd_route route,
                    enum psd_route *routes)
{
    for (size_t i = 0; i < choice->n_params; i++) {
        if (choice->leader[i] == leader)
            routes[i] = route;
    }
}

/* Bit i of `combination` is the route of open[i]. */
static void set_all(const struct psd_choice *choice, uint32_t combination, enum psd_route *routes)
{
    for (size_t i = 0; i < choice->n_open; i++)
        psd_choice_set(choice, choice->open[i], both[combination >> i & 1], routes);
}

void psd_choice_exhaust(const struct psd_choice *choice, enum psd_route *routes)
{
    struct psd_choice_score best = {.ticks = HUGE_VAL};
    uint32_t best_one = 0;

    for (uint32_t i = 0; i < UINT32_C(1) << choice->n_open; i++) {
        set_all(choice, i, routes);
        struct psd_choice_score score = psd_choice_score(choice, routes);
        if (psd_choice_better(&score, &best)) {
            best = score;
            best_one = i;
        }
    }
    set_all(choice, best_one, routes);
}

/* A combination that gets better. */
struct descent {
    const struct psd_choice *choice;
    enum psd_route *routes;
    struct psd_choice_score score;
    unsigned left; /* predictions that it may still take */
};

static void flip(const struct descent *descent, size_t open)
{
    size_t leader = descent->choice->open[open];

    psd_choice_set(descent->choice, leader, both[descent->routes[leader] == both[0]],
                   descent->routes);
}

/* Changes one route, or two, if that helps. */
static bool change(struct descent *descent, size_t a, size_t b)
{
    if (descent->left == 0)
        return false;
    descent->left--;
    flip(descent, a);
    if (b != a)
        flip(descent, b);
    struct psd_choice_score score = psd_choice_score(descent->choice, descent->routes);
    if (psd_choice_better(&score, &descent->score)) {
        descent->score = score;
        return true;
    }
    flip(descent, a);
    if (b != a)
        flip(descent, b);
    return false;
}

static bool change_one(struct descent *descent)
{
    bool helped = false;

    for (size_t i = 0; i < descent->choice->n_open; i++)
        helped |= change(descent, i, i);
    return helped;
}

static bool change_two(struct descent *descent)
{
    for (size_t i = 0; i < descent->choice->n_open; i++) {
        for (size_t j = i + 1; j < descent->choice->n_open; j++) {
            if (change(descent, i, j))
                return true;
        }
    }
    return false;
}

/* The starts: each of the two routes for all, for each parameter the one that is faster alone, and
 * then by lot. The paper's rule takes broadcast for all, or is of no help: it knows no rows. */
enum { STARTS = 16 };

static enum psd_route start_route(const struct psd_choice *choice, unsigned start, size_t open)
{
    const struct psd_route_cost *cost = choice->params[choice->open[open]].cost;

    if (start < 2)
        return both[start];
    if (start == 2)
        return both[cost[both[1]].seconds < cost[both[0]].seconds];
    return both[psd_random_u32(0, start, open) & 1];
}

static void begin(struct descent *descent, unsigned start)
{
    const struct psd_choice *choice = descent->choice;

    for (size_t i = 0; i < choice->n_open; i++)
        psd_choice_set(choice, choice->open[i], start_route(choice, start, i), descent->routes);
    descent->score = psd_choice_score(choice, descent->routes);
}

/* Each start goes down by changing routes one by one; the best of them goes on by twos, with half of
 * the predictions at least. */
void psd_choice_descend(const struct psd_choice *choice, enum psd_route *routes)
{
    struct descent descent = {.choice = choice, .routes = choice->spare, .left = PSD_CHOICE_MOST};
    struct descent best = {.choice = choice, .routes = routes, .score = {.ticks = HUGE_VAL}};
    size_t size = choice->n_params * sizeof *routes;

    memcpy(descent.routes, routes, size);
    for (unsigned start = 0; start < STARTS && descent.left > PSD_CHOICE_MOST / 2; start++) {
        begin(&descent, start);
        while (change_one(&descent))
            ;
        if (psd_choice_better(&descent.score, &best.score)) {
            best.score = descent.score;
            memcpy(routes, descent.routes, size);
        }
    }
    best.left = descent.left;
    while (change_one(&best) || change_two(&best))
        ;
}

void psd_choice_make(const struct psd_choice *choice, enum psd_route *routes)
{
    if (choice->n_open < 32 && UINT32_C(1) << choice->n_open <= PSD_CHOICE_MOST)
        psd_choice_exhaust(choice, routes);
    else
        psd_choice_descend(choice, routes);
}
