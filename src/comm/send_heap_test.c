/* send_heap_test.c - what comes out is in order, whatever order it went in. */
#include "base/random.h"
#include "comm/send_heap.h"
#include "test.h"

enum { MOST = 300 };

static uint32_t draw(uint64_t seed, uint64_t index, uint32_t below)
{
    return (uint32_t)psd_random_below(seed, 1, index, below);
}

static bool is_in_order(const struct psd_send *a, const struct psd_send *b)
{
    if (a->urgency != b->urgency)
        return a->urgency < b->urgency;
    return a->order != b->order ? a->order < b->order : a->number < b->number;
}

static void all_come_out_once_and_in_order(void)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct psd_send sends[MOST] = {0}, *top = NULL, *last = NULL;
        uint32_t count = 1 + draw(seed, 0, MOST), out = 0;
        for (uint32_t i = 0; i < count; i++) {
            sends[i].urgency = draw(seed, 1 + 2 * i, 10);
            sends[i].order = draw(seed, 2 + 2 * i, 4);
            sends[i].number = i;
            top = psd_send_heap_put(top, &sends[i]);
        }
        for (; top; out++, last = top, top = psd_send_heap_drop(top))
            CHECK(!last || is_in_order(last, top));
        CHECK(out == count);
    }
}

/* The send that a look at all of them finds; `waits` says which are in the heap. */
static struct psd_send *find_first(struct psd_send *sends, const bool *waits, uint32_t count)
{
    struct psd_send *first = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (waits[i] && (!first || is_in_order(&sends[i], first)))
            first = &sends[i];
    }
    return first;
}

static void puts_and_drops_may_alternate(void)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct psd_send sends[MOST] = {0}, *top = NULL;
        bool waits[MOST] = {0};
        uint32_t put = 0;
        for (uint32_t step = 0; put < MOST || top; step++) {
            if (put < MOST && (!top || draw(seed, step, 5) < 3)) {
                sends[put].urgency = draw(seed, 5000 + put, 20);
                sends[put].number = put;
                waits[put] = true;
                top = psd_send_heap_put(top, &sends[put++]);
            } else {
                waits[top - sends] = false;
                top = psd_send_heap_drop(top);
            }
            CHECK(top == find_first(sends, waits, put));
        }
    }
}

static void equal_ones_keep_their_order_when_numbers_begin_again(void)
{
    struct psd_send sends[4] = {0}, *top = NULL;

    for (uint32_t i = 0; i < 4; i++) {
        sends[i].number = UINT32_MAX - 1 + i;
        top = psd_send_heap_put(top, &sends[i]);
    }
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(top == &sends[i]);
        top = psd_send_heap_drop(top);
    }
    CHECK(!top);
}

int main(int argc, char **argv)
{
    RUN(all_come_out_once_and_in_order)
    RUN(puts_and_drops_may_alternate)
    RUN(equal_ones_keep_their_order_when_numbers_begin_again)
}
