/* line_test.c - which of many destinations is next. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/layout.h"
#include "comm/line.h"
#include "test.h"

enum { RANKS = 9, OWN = 3, MOST = 400 };

static uint32_t draw(uint64_t seed, uint64_t index, uint32_t below)
{
    return (uint32_t)psd_random_below(seed, 1, index, below);
}

static struct psd_line new_line(void)
{
    struct psd_line line;

    CHECK_OK(psd_line_init(&line, RANKS, OWN));
    return line;
}

static void check_next(struct psd_line *line, unsigned to)
{
    CHECK(psd_line_first(line) && psd_line_first(line)->to == to);
    psd_line_take(line);
}

static void the_rank_after_our_own_is_first_and_then_all_around(void)
{
    struct psd_line line = new_line();
    struct psd_send sends[RANKS] = {0};

    for (uint32_t to = 0; to < RANKS; to++) {
        sends[to].to = to;
        if (to != OWN)
            psd_line_put(&line, &sends[to]);
    }
    for (uint32_t i = 1; i < RANKS; i++)
        check_next(&line, (OWN + i) % RANKS);
    CHECK(!psd_line_first(&line));
    psd_line_fini(&line);
}

static void of_equally_urgent_ones_the_one_served_longest_ago_is_next(void)
{
    struct psd_line line = new_line();
    struct psd_send sends[] = {{.to = 4}, {.to = 5}, {.to = 4, .number = 1}, {.to = 6}};

    for (size_t i = 0; i < 4; i++)
        sends[i].message.length = PSD_LAYOUT_LEAST;
    psd_line_put(&line, &sends[0]);
    psd_line_put(&line, &sends[1]);
    psd_line_put(&line, &sends[2]);
    check_next(&line, 4);
    psd_line_land(&line, &sends[0]);
    psd_line_put(&line, &sends[3]);
    check_next(&line, 5); /* 4 is nearer but was served */
    check_next(&line, 6);
    check_next(&line, 4);
    psd_line_fini(&line);
}

static void small_sends_are_no_turn_until_they_are_as_much_as_a_piece(void)
{
    struct psd_line line = new_line();
    struct psd_send sends[] = {
        {.to = 4}, {.to = 4, .number = 1}, {.to = 4, .number = 2}, {.to = 5}};

    for (size_t i = 0; i < 4; i++) {
        sends[i].message.length = PSD_LAYOUT_LEAST / 2;
        psd_line_put(&line, &sends[i]);
    }
    check_next(&line, 4);
    psd_line_land(&line, &sends[0]);
    check_next(&line, 4);
    psd_line_land(&line, &sends[1]);
    check_next(&line, 5);
    check_next(&line, 4);
    psd_line_fini(&line);
}

static void the_more_urgent_one_overtakes(void)
{
    struct psd_line line = new_line();
    struct psd_send sends[] = {
        {.to = 4, .urgency = 5}, {.to = 8, .urgency = 4}, {.to = 4, .urgency = 3}};

    psd_line_put(&line, &sends[0]);
    psd_line_put(&line, &sends[1]);
    CHECK(psd_line_first(&line) == &sends[1]);
    psd_line_put(&line, &sends[2]);
    CHECK(psd_line_first(&line) == &sends[2]);
    psd_line_fini(&line);
}

static void a_rank_with_something_in_flight_lets_others_go_first(void)
{
    struct psd_line line = new_line();
    struct psd_send sends[] = {{.to = 4, .urgency = 1},
                               {.to = 4, .urgency = 2},
                               {.to = 5, .urgency = 9},
                               {.to = 5, .urgency = 9, .number = 1}};

    for (size_t i = 0; i < 4; i++)
        psd_line_put(&line, &sends[i]);
    check_next(&line, 4);
    check_next(&line, 5);
    check_next(&line, 4); /* nobody else waits */
    psd_line_land(&line, &sends[0]);
    CHECK(psd_line_first(&line) == &sends[3]); /* one is still in flight to both */
    psd_line_fini(&line);
}

static void what_waits_can_be_removed(void)
{
    struct psd_line line = new_line();
    struct psd_send sends[] = {{.to = 4}, {.to = 4, .number = 1}, {.to = 5}};

    for (size_t i = 0; i < 3; i++)
        psd_line_put(&line, &sends[i]);
    CHECK(psd_line_remove(&line, 4) == &sends[0]);
    CHECK(psd_line_remove(&line, 4) == &sends[1]);
    CHECK(!psd_line_remove(&line, 4) && !psd_line_remove(&line, 0));
    check_next(&line, 5);
    CHECK(!psd_line_first(&line));
    psd_line_fini(&line);
}

/* The same line with nothing clever in it. */
struct plain {
    struct psd_send sends[MOST];
    bool waits[MOST];
    unsigned in_flight[RANKS];
    uint64_t served[RANKS], small[RANKS], turns;
};

static bool comes_before(const struct plain *plain, const struct psd_send *a,
                         const struct psd_send *b)
{
    if (a->to == b->to)
        return a->urgency != b->urgency ? a->urgency < b->urgency : a->number < b->number;
    if (!plain->in_flight[a->to] != !plain->in_flight[b->to])
        return !plain->in_flight[a->to];
    if (a->urgency != b->urgency)
        return a->urgency < b->urgency;
    if (plain->served[a->to] != plain->served[b->to])
        return plain->served[a->to] < plain->served[b->to];
    return (a->to + RANKS - OWN) % RANKS < (b->to + RANKS - OWN) % RANKS;
}

/* The first of its rank, of the ranks' first ones the one that is next. */
static struct psd_send *find_next(struct plain *plain, uint32_t put)
{
    struct psd_send *first[RANKS] = {NULL}, *next = NULL;

    for (uint32_t i = 0; i < put; i++) {
        struct psd_send *send = &plain->sends[i];
        if (plain->waits[i] && (!first[send->to] || comes_before(plain, send, first[send->to])))
            first[send->to] = send;
    }
    for (unsigned rank = 0; rank < RANKS; rank++) {
        if (first[rank] && (!next || comes_before(plain, first[rank], next)))
            next = first[rank];
    }
    return next;
}

static void put_one(struct psd_line *line, struct plain *plain, uint64_t seed, uint32_t index)
{
    struct psd_send *send = &plain->sends[index];

    send->to = (OWN + 1 + draw(seed, 1000 + index, RANKS - 1)) % RANKS;
    send->urgency = draw(seed, 2000 + index, 4);
    send->number = index;
    send->message.length = (uint64_t)PSD_LAYOUT_LEAST * draw(seed, 100000 + index, 5) / 2;
    plain->waits[index] = true;
    psd_line_put(line, send);
}

static void take_one(struct psd_line *line, struct plain *plain)
{
    struct psd_send *send = psd_line_first(line);

    plain->waits[send - plain->sends] = false;
    plain->in_flight[send->to]++;
    plain->small[send->to] += send->message.length;
    if (plain->small[send->to] >= PSD_LAYOUT_LEAST) {
        plain->served[send->to] = ++plain->turns;
        plain->small[send->to] = 0;
    }
    psd_line_take(line);
}

static void land_one(struct psd_line *line, struct plain *plain, unsigned to)
{
    if (plain->in_flight[to] == 0)
        return;
    plain->in_flight[to]--;
    psd_line_land(line, &(struct psd_send){.to = to});
}

static void remove_one(struct psd_line *line, struct plain *plain, unsigned to)
{
    struct psd_send *send = psd_line_remove(line, to);

    if (send)
        plain->waits[send - plain->sends] = false;
}

static void any_mixture_of_calls_agrees_with_a_plain_search(void)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct psd_line line = new_line();
        struct plain plain = {0};
        uint32_t put = 0;
        for (uint64_t step = 0; put < MOST || psd_line_first(&line); step++) {
            uint32_t what = draw(seed, 3000 + 2 * step, 20);
            uint32_t to = draw(seed, 3001 + 2 * step, RANKS);
            if (what < 8 && put < MOST)
                put_one(&line, &plain, seed, put++);
            else if (what < 13 && psd_line_first(&line))
                take_one(&line, &plain);
            else if (what < 19)
                land_one(&line, &plain, to);
            else
                remove_one(&line, &plain, to);
            CHECK(psd_line_first(&line) == find_next(&plain, put));
        }
        psd_line_fini(&line);
    }
}

static void an_empty_queue_is_small(void)
{
    CHECK(sizeof(struct psd_line_queue) + sizeof(struct psd_line_entry) <= 48);
}

static void init_survives_every_failed_allocation(void)
{
    for (long n = 0; n < 2; n++) {
        struct psd_line line;
        psd_alloc_fail_at(n);
        CHECK_STATUS(PSD_ENOMEM, psd_line_init(&line, RANKS, OWN));
        CHECK(psd_alloc_fail_at(-1));
        psd_line_fini(&line);
    }
}

int main(int argc, char **argv)
{
    RUN(the_rank_after_our_own_is_first_and_then_all_around)
    RUN(of_equally_urgent_ones_the_one_served_longest_ago_is_next)
    RUN(small_sends_are_no_turn_until_they_are_as_much_as_a_piece)
    RUN(the_more_urgent_one_overtakes)
    RUN(a_rank_with_something_in_flight_lets_others_go_first)
    RUN(what_waits_can_be_removed)
    RUN(any_mixture_of_calls_agrees_with_a_plain_search)
    RUN(an_empty_queue_is_small)
    RUN(init_survives_every_failed_allocation)
}
