/* box_test.c - what is put in comes out once, in order, whoever puts and takes meanwhile. */
#include "base/box.h"
#include "test.h"

#include <pthread.h>

struct letter {
    struct psd_boxed boxed;
    char letter;
};

/* The letters of what was taken, in order; valid until the next call. */
static const char *spelled(const struct psd_boxed *taken)
{
    static char text[16];
    size_t length = 0;

    for (; taken; taken = taken->next)
        text[length++] = ((const struct letter *)taken)->letter;
    text[length] = 0;
    return text;
}

static void all_come_out_the_oldest_first(void)
{
    struct letter a = {.letter = 'a'}, b = {.letter = 'b'}, c = {.letter = 'c'};
    struct psd_box box = {.newest = NULL};

    CHECK(psd_box_is_empty(&box) && !psd_box_take(&box));
    CHECK(psd_box_put(&box, &a.boxed) == PSD_BOX_EMPTY);
    CHECK(psd_box_put(&box, &b.boxed) == PSD_BOX_FILLED);
    CHECK(psd_box_put(&box, &c.boxed) == PSD_BOX_FILLED);
    CHECK(!psd_box_is_empty(&box));
    CHECK_TEXT("abc", spelled(psd_box_take(&box)));
    CHECK(psd_box_is_empty(&box) && !psd_box_take(&box));
    CHECK(psd_box_put(&box, &c.boxed) == PSD_BOX_EMPTY);
    CHECK_TEXT("c", spelled(psd_box_take(&box)));
}

static void a_shut_box_gives_what_it_has_and_takes_no_more(void)
{
    struct letter a = {.letter = 'a'}, b = {.letter = 'b'}, c = {.letter = 'c'};
    struct psd_box box = {.newest = NULL};

    psd_box_put(&box, &a.boxed);
    psd_box_put(&box, &b.boxed);
    CHECK_TEXT("ab", spelled(psd_box_shut(&box)));
    CHECK(psd_box_put(&box, &c.boxed) == PSD_BOX_SHUT);
    CHECK(!psd_box_shut(&box));
}

enum { PUTTERS = 3, EACH = 20000 };

struct putter {
    struct psd_box *box;
    size_t first; /* how often its thing was the first */
    struct thing {
        struct psd_boxed boxed;
        struct putter *putter;
        size_t number;
    } things[EACH];
    size_t taken; /* taker's thread only */
};

static void *put_many(void *arg)
{
    struct putter *putter = arg;

    for (size_t i = 0; i < EACH; i++) {
        putter->things[i] = (struct thing){.putter = putter, .number = i};
        putter->first += psd_box_put(putter->box, &putter->things[i].boxed) == PSD_BOX_EMPTY;
    }
    return NULL;
}

/* Returns how many they are; each putter's are in its order. */
static size_t count_in_order(struct psd_boxed *taken)
{
    size_t count = 0;

    for (; taken; taken = taken->next, count++) {
        struct thing *thing = (struct thing *)taken;
        CHECK(thing->number == thing->putter->taken);
        thing->putter->taken++;
    }
    return count;
}

static void many_put_while_one_takes(void)
{
    static struct putter putters[PUTTERS];
    struct psd_box box = {.newest = NULL};
    pthread_t threads[PUTTERS];
    size_t takes = 0, first = 0;

    for (size_t i = 0; i < PUTTERS; i++) {
        putters[i].box = &box;
        CHECK(pthread_create(&threads[i], NULL, put_many, &putters[i]) == 0);
    }
    for (size_t count = 0, more; count < (size_t)PUTTERS * EACH; count += more) {
        more = count_in_order(psd_box_take(&box));
        takes += more > 0;
    }
    for (size_t i = 0; i < PUTTERS; i++) {
        pthread_join(threads[i], NULL);
        first += putters[i].first;
    }
    CHECK(first ==
          takes); /* so whoever wakes the taker when told to wakes it once for each batch */
}

int main(int argc, char **argv)
{
    RUN(all_come_out_the_oldest_first)
    RUN(a_shut_box_gives_what_it_has_and_takes_no_more)
    RUN(many_put_while_one_takes)
}
