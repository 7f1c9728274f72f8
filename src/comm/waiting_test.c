/* waiting_test.c - who is served, and until when. */
#include "base/alloc.h"
#include "comm/waiting.h"
#include "test.h"

static struct psd_waiting new_waiting(enum psd_waiting_kind kind)
{
    struct psd_waiting waiting;

    CHECK_OK(psd_waiting_init(&waiting, kind, 16));
    return waiting;
}

/* The next service ends at `end`, and it is that of `part`. */
static void check_next(struct psd_waiting *waiting, double end, uint32_t part)
{
    CHECK_NEAR(psd_waiting_end(waiting), end, 1e-12);
    CHECK(psd_waiting_take(waiting, end) == part);
}

static void nobody_waits_at_first_and_after_a_reset(void)
{
    struct psd_waiting waiting = new_waiting(PSD_WAITING_URGENCY);

    CHECK(isinf(psd_waiting_end(&waiting)));
    psd_waiting_add(&waiting, 3, 1, 2);
    psd_waiting_reset(&waiting);
    CHECK(isinf(psd_waiting_end(&waiting)));
    psd_waiting_add(&waiting, 0, 1, 2);
    check_next(&waiting, 2, 1);
    psd_waiting_fini(&waiting);
}

static void the_urgent_overtake_and_the_overtaken_keep_what_is_left(void)
{
    struct psd_waiting waiting = new_waiting(PSD_WAITING_URGENCY);

    psd_waiting_add(&waiting, 0, 5, 10);
    psd_waiting_add(&waiting, 4, 2, 3);
    psd_waiting_add(&waiting, 5, 7, 1);
    check_next(&waiting, 7, 2);
    check_next(&waiting, 13, 5);
    check_next(&waiting, 14, 7);
    CHECK(isinf(psd_waiting_end(&waiting)));
    psd_waiting_fini(&waiting);
}

static void whoever_came_first_is_served_to_the_end(void)
{
    struct psd_waiting waiting = new_waiting(PSD_WAITING_ORDER);

    psd_waiting_add(&waiting, 0, 5, 10);
    psd_waiting_add(&waiting, 4, 2, 3);
    psd_waiting_add(&waiting, 5, 1, 1);
    check_next(&waiting, 10, 5);
    check_next(&waiting, 13, 2);
    check_next(&waiting, 14, 1);
    psd_waiting_fini(&waiting);
}

static void those_served_together_end_after_their_own_time(void)
{
    struct psd_waiting waiting = new_waiting(PSD_WAITING_TOGETHER);

    psd_waiting_add(&waiting, 0, 5, 10);
    psd_waiting_add(&waiting, 4, 2, 3);
    psd_waiting_add(&waiting, 5, 9, 2);
    check_next(&waiting, 7, 2); /* of equal ends the smaller number first */
    check_next(&waiting, 7, 9);
    check_next(&waiting, 10, 5);
    psd_waiting_fini(&waiting);
}

static void many_come_out_in_order(void)
{
    struct psd_waiting waiting = new_waiting(PSD_WAITING_URGENCY);

    for (uint32_t i = 0; i < 16; i++)
        psd_waiting_add(&waiting, 0, i * 7 % 16, 1);
    for (uint32_t i = 0; i < 16; i++)
        check_next(&waiting, i + 1, i);
    psd_waiting_fini(&waiting);
}

static void a_failed_allocation_is_told(void)
{
    struct psd_waiting waiting;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_waiting_init(&waiting, PSD_WAITING_ORDER, 4));
    CHECK(psd_alloc_fail_at(-1));
    psd_waiting_fini(&waiting);
}

int main(int argc, char **argv)
{
    RUN(nobody_waits_at_first_and_after_a_reset)
    RUN(the_urgent_overtake_and_the_overtaken_keep_what_is_left)
    RUN(whoever_came_first_is_served_to_the_end)
    RUN(those_served_together_end_after_their_own_time)
    RUN(many_come_out_in_order)
    RUN(a_failed_allocation_is_told)
}
