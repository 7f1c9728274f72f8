/* schedule_test.c - credit is kept, the urgent overtakes, and everything leaves in the end. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/layout.h"
#include "comm/schedule.h"
#include "test.h"

enum { RANKS = 6, OWN = 2, MOST = 3000 };

/* A transport that keeps what it is given until it is told to let go. */
struct wire {
    struct psd_schedule *schedule;
    struct psd_send *flying[MOST];
    size_t n_flying;
    uint64_t bytes[PSD_SEND_CLASSES];
    unsigned sends[PSD_SEND_CLASSES];
    unsigned to[RANKS][PSD_SEND_CLASSES];
    uint32_t subjects[MOST]; /* of all that was ever emitted, in that order */
    size_t n_subjects;
    unsigned dropped; /* messages that were taken back, all to this rank */
    unsigned lost;
};

static void fly(void *arg, struct psd_send *send)
{
    struct wire *wire = arg;
    struct psd_message seen;

    CHECK_OK(psd_message_decode(send->frame.header, &seen));
    CHECK(seen.subject == send->message.subject && seen.length == send->message.length);
    CHECK(wire->n_flying < MOST && wire->n_subjects < MOST);
    wire->flying[wire->n_flying++] = send;
    wire->bytes[send->class] += send->message.length;
    wire->sends[send->class]++;
    wire->to[send->to][send->class]++;
    wire->subjects[wire->n_subjects++] = send->message.subject;
}

static void land(struct wire *wire, size_t index)
{
    struct psd_send *send = wire->flying[index];

    wire->flying[index] = wire->flying[--wire->n_flying];
    wire->bytes[send->class] -= send->message.length;
    wire->sends[send->class]--;
    wire->to[send->to][send->class]--;
    psd_schedule_sent(wire->schedule, send);
}

static struct wire *new_wire(size_t credit)
{
    struct wire *wire = calloc(1, sizeof *wire);

    CHECK(wire);
    CHECK_OK(psd_schedule_create(RANKS, OWN, credit, fly, wire, &wire->schedule));
    return wire;
}

static void free_wire(struct wire *wire)
{
    psd_schedule_destroy(wire->schedule);
    free(wire);
}

static void queue(struct wire *wire, enum psd_send_class class, uint32_t to, uint32_t urgency,
                  size_t bytes, uint32_t subject)
{
    struct psd_send *send = psd_schedule_take(wire->schedule);

    CHECK(send && !send->owned && send->urgency == 0 && send->message.length == 0);
    send->message =
        (struct psd_message){.kind = PSD_MESSAGE_PUSH, .subject = subject, .length = bytes};
    send->frame.payload[0].bytes = bytes / 2;
    send->frame.payload[1].bytes = bytes - bytes / 2;
    send->class = class;
    send->to = to;
    send->urgency = urgency;
    psd_schedule_queue(wire->schedule, send);
}

static void push(struct wire *wire, uint32_t to, uint32_t urgency, size_t bytes, uint32_t subject)
{
    queue(wire, PSD_SEND_PUSH, to, urgency, bytes, subject);
}

static void a_send_leaves_at_once_while_there_is_credit(void)
{
    struct wire *wire = new_wire(100);

    push(wire, 3, 0, 60, 1);
    push(wire, 4, 0, 40, 2);
    CHECK(wire->n_flying == 2 && wire->bytes[PSD_SEND_PUSH] == 100);
    push(wire, 5, 0, 1, 3);
    CHECK(wire->n_flying == 2 && psd_schedule_pending(wire->schedule) == 3);
    land(wire, 1);
    CHECK(wire->n_flying == 2 && psd_schedule_pending(wire->schedule) == 2);
    land(wire, 0);
    land(wire, 0);
    CHECK(wire->n_subjects == 3 && psd_schedule_pending(wire->schedule) == 0);
    free_wire(wire);
}

static void pushes_and_values_have_credit_of_their_own(void)
{
    struct wire *wire = new_wire(100);

    push(wire, 3, 0, 100, 1);
    queue(wire, PSD_SEND_VALUE, 3, 0, 100, 2);
    CHECK(wire->n_flying == 2);
    push(wire, 4, 0, 1, 3);
    queue(wire, PSD_SEND_VALUE, 4, 0, 1, 4);
    CHECK(wire->n_flying == 2);
    free_wire(wire);
}

static void control_needs_no_credit(void)
{
    struct wire *wire = new_wire(100);

    push(wire, 3, 0, 100, 1);
    push(wire, 3, 0, 100, 2);
    for (uint32_t i = 0; i < 50; i++)
        queue(wire, PSD_SEND_CONTROL, 3, 0, 1000, 10 + i);
    CHECK(wire->n_flying == 51 && wire->subjects[50] == 59);
    while (wire->n_flying > 1)
        land(wire, 1);
    CHECK(psd_schedule_pending(wire->schedule) == 2);
    free_wire(wire);
}

static void the_default_credit_follows_from_the_ranks(void)
{
    struct wire *wire = new_wire(0);

    for (uint32_t i = 0; i < 10; i++)
        push(wire, 3, 0, PSD_LAYOUT_MOST, i);
    CHECK(wire->n_flying == RANKS / 2 + 2);
    free_wire(wire);
}

static void one_send_may_go_however_large(void)
{
    struct wire *wire = new_wire(10);

    push(wire, 3, 0, 1000, 1);
    push(wire, 4, 0, 1, 2);
    CHECK(wire->n_flying == 1);
    land(wire, 0);
    CHECK(wire->n_flying == 1 && wire->subjects[1] == 2);
    push(wire, 5, 0, 1000, 3);
    CHECK(wire->n_flying == 1);
    land(wire, 0);
    CHECK(wire->n_flying == 1 && wire->subjects[2] == 3);
    free_wire(wire);
}

static void a_large_send_is_not_passed_by_small_ones(void)
{
    struct wire *wire = new_wire(10);

    push(wire, 3, 0, 6, 1);
    push(wire, 4, 0, 8, 2);
    push(wire, 5, 0, 2, 3); /* there is credit for it, and it would keep the large one waiting */
    CHECK(wire->n_flying == 1);
    land(wire, 0);
    CHECK(wire->n_flying == 2 && wire->subjects[1] == 2 && wire->subjects[2] == 3);
    free_wire(wire);
}

static void the_urgent_overtakes_what_still_waits(void)
{
    struct wire *wire = new_wire(1);

    push(wire, 3, 9, 1, 1);
    push(wire, 4, 8, 1, 2);
    push(wire, 5, 7, 1, 3);
    push(wire, 0, 1, 1, 4);
    for (size_t i = 0; i < 4; i++)
        land(wire, 0);
    static const uint32_t want[] = {1, 4, 3, 2};
    CHECK(memcmp(wire->subjects, want, sizeof want) == 0);
    free_wire(wire);
}

static void of_equal_urgency_the_order_counts_and_then_who_came_first(void)
{
    struct wire *wire = new_wire(1);
    static const uint64_t order[] = {0, 5, 3, 3, 4};

    for (uint32_t i = 0; i < 5; i++) {
        struct psd_send *send = psd_schedule_take(wire->schedule);
        send->message = (struct psd_message){.kind = PSD_MESSAGE_PUSH, .subject = i, .length = 1};
        send->frame.payload[0].bytes = 1;
        send->to = 1;
        send->order = order[i];
        psd_schedule_queue(wire->schedule, send);
    }
    for (size_t i = 0; i < 5; i++)
        land(wire, 0);
    static const uint32_t want[] = {0, 2, 3, 4, 1};
    CHECK(memcmp(wire->subjects, want, sizeof want) == 0);
    free_wire(wire);
}

static void members_start_with_the_next_one_and_go_around(void)
{
    struct wire *wire = new_wire(1);

    push(wire, 3, 0, PSD_LAYOUT_LEAST, 0); /* while it is in flight the others gather */
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t to = 0; to < RANKS; to++) {
            if (to != OWN)
                push(wire, to, 7, PSD_LAYOUT_LEAST, 10 * round + to);
        }
    }
    while (wire->n_flying)
        land(wire, 0);
    /* 3 has been served: it comes after the others in each round. */
    static const uint32_t want[] = {0, 4, 5, 0, 1, 3, 14, 15, 10, 11, 13, 24, 25, 20, 21, 23};
    CHECK(wire->n_subjects == sizeof want / sizeof *want);
    CHECK(memcmp(wire->subjects, want, sizeof want) == 0);
    free_wire(wire);
}

static void a_slow_destination_does_not_use_all_credit(void)
{
    struct wire *wire = new_wire(4);

    push(wire, 0, 9, 4, 0);
    for (uint32_t i = 0; i < 8; i++) {
        push(wire, 3, 1, 1, 100 + i); /* more urgent, and nothing of it ever lands */
        push(wire, 4, 5, 1, 200 + i);
    }
    land(wire, 0);
    while (wire->n_subjects < 10) {
        CHECK(wire->to[3][PSD_SEND_PUSH] < 4);
        size_t index = 0;
        while (index < wire->n_flying && wire->flying[index]->to != 4)
            index++;
        CHECK(index < wire->n_flying);
        land(wire, index);
    }
    free_wire(wire);
}

/* The transport lets go of what is to rank 4 at once, and of what is to rank 3 when all else is out. */
static void a_fast_destination_does_not_run_away_from_a_slow_one(void)
{
    struct wire *wire = new_wire(0);
    unsigned fast = 0;

    for (uint32_t i = 0; i < 40; i++) {
        push(wire, 3, 5, PSD_LAYOUT_MOST, 100 + i);
        push(wire, 4, 5, PSD_LAYOUT_MOST, 200 + i);
    }
    while (wire->n_flying) {
        size_t index = 0;
        while (index < wire->n_flying - 1 && wire->flying[index]->to != 4)
            index++;
        fast = wire->flying[index]->to == 4 ? fast + 1 : 0;
        CHECK(fast <= RANKS);
        land(wire, index);
    }
    CHECK(wire->n_subjects == 80);
    free_wire(wire);
}

static void hear_dropped(void *arg, const struct psd_message *message, unsigned to)
{
    struct wire *wire = arg;

    CHECK(message->kind != 0 && to == wire->lost);
    wire->dropped++;
}

/* The connection to `rank` is gone. */
static void lose(struct wire *wire, uint32_t rank)
{
    for (size_t i = wire->n_flying; i-- > 0;) {
        struct psd_send *send = wire->flying[i];
        if (send->to != rank)
            continue;
        wire->flying[i] = wire->flying[--wire->n_flying];
        wire->bytes[send->class] -= send->message.length;
        wire->sends[send->class]--;
        wire->to[rank][send->class]--;
    }
    wire->lost = rank;
    psd_schedule_forget(wire->schedule, rank, hear_dropped);
}

static void a_lost_rank_is_forgotten_and_others_go_on(void)
{
    struct wire *wire = new_wire(2);

    push(wire, 3, 0, 2, 1);
    for (uint32_t i = 0; i < 10; i++) {
        push(wire, 3, 0, 2, 2);
        queue(wire, PSD_SEND_VALUE, 3, 0, 2, 3);
    }
    queue(wire, PSD_SEND_CONTROL, 3, 0, 2, 5);
    push(wire, 4, 9, 2, 4);
    CHECK(psd_schedule_pending(wire->schedule) == 23 && wire->n_flying == 3);
    lose(wire, 3);
    CHECK(psd_schedule_pending(wire->schedule) == 1 && wire->n_flying == 1);
    CHECK(wire->flying[0]->to == 4);
    CHECK(wire->dropped == 22); /* queued or in flight, each is told of */
    land(wire, 0);
    CHECK(psd_schedule_pending(wire->schedule) == 0);
    free_wire(wire);
}

static void forgetting_lets_go_what_waited_behind(void)
{
    struct wire *wire = new_wire(4);

    push(wire, 3, 0, 3, 1);
    push(wire, 4, 0, 2, 2); /* no credit for it, */
    push(wire, 5, 9, 1, 3); /* and none passes it */
    CHECK(wire->n_flying == 1);
    lose(wire, 4);
    CHECK(wire->n_flying == 2 && wire->subjects[1] == 3);
    push(wire, 4, 0, 1, 4);
    push(wire, 4, 0, 1, 5);
    CHECK(wire->n_flying == 2);
    lose(wire, 3); /* whose credit others have now */
    CHECK(wire->n_flying == 3 && wire->subjects[2] == 4);
    free_wire(wire);
}

/* Rank 3 keeps its first piece; what is to rank 4 lands until nothing more may leave. */
static void others_catch_up_when_the_slowest_is_lost(void)
{
    struct wire *wire = new_wire((size_t)4 * PSD_LAYOUT_MOST);

    push(wire, 3, 5, PSD_LAYOUT_MOST, 0);
    for (uint32_t i = 1; i < 20; i++)
        push(wire, 4, 5, PSD_LAYOUT_MOST, i);
    while (wire->n_flying > 1)
        land(wire, 1);
    CHECK(wire->n_subjects == RANKS && psd_schedule_pending(wire->schedule) == 20 - RANKS + 1);
    lose(wire, 3);
    CHECK(wire->n_flying == 4 && wire->dropped == 1);
    while (wire->n_flying)
        land(wire, 0);
    CHECK(wire->n_subjects == 20);
    free_wire(wire);
}

static void queue_owned(struct wire *wire, enum psd_send_class class, uint32_t to)
{
    struct psd_send *send = psd_schedule_take(wire->schedule);

    send->message.kind = PSD_MESSAGE_END;
    send->message.length = send->frame.payload[0].bytes = 10;
    send->owned = psd_alloc(10);
    send->class = class;
    send->to = to;
    psd_schedule_queue(wire->schedule, send);
}

/* The sanitizer finds what is not freed. */
static void what_a_send_owns_is_freed_with_it(void)
{
    struct wire *wire = new_wire(10);

    for (uint32_t i = 0; i < 3; i++) {
        queue_owned(wire, PSD_SEND_PUSH, 4);
        queue_owned(wire, PSD_SEND_PUSH, 5);
        queue_owned(wire, PSD_SEND_CONTROL, 3);
    }
    land(wire, 0);
    wire->lost = 4;
    psd_schedule_forget(wire->schedule, 4, hear_dropped);
    CHECK(wire->dropped == 2);
    free_wire(wire); /* some are in flight and some wait */
}

static void sends_come_back_to_the_store(void)
{
    struct wire *wire = new_wire(100);

    for (uint32_t round = 0; round < 50; round++) {
        if (round == 1)
            psd_alloc_fail_at(0); /* nothing is allocated any more */
        wire->n_subjects = 0;
        for (uint32_t i = 0; i < 200; i++)
            push(wire, (i + 3) % RANKS == OWN ? 3 : (i + 3) % RANKS, i % 7, 1 + i % 50, i);
        while (wire->n_flying)
            land(wire, wire->n_flying / 2);
    }
    CHECK(!psd_alloc_fail_at(-1));
    CHECK(psd_schedule_pending(wire->schedule) == 0);
    free_wire(wire);
}

static uint32_t draw(uint64_t seed, uint64_t index, uint32_t below)
{
    return (uint32_t)psd_random_below(seed, 1, index, below);
}

static void check_credit(const struct wire *wire, size_t credit)
{
    for (size_t class = 0; class < PSD_SEND_CONTROL; class ++)
        CHECK(wire->bytes[class] <= credit || wire->sends[class] == 1);
}

/* Queues and lands in the order of the seed; some sends are larger than the credit. */
static struct wire *run_random(uint64_t seed, size_t credit, uint32_t count)
{
    struct wire *wire = new_wire(credit);
    uint32_t queued = 0;

    for (uint64_t step = 0; queued < count || wire->n_flying; step++) {
        uint32_t chance = draw(seed, 4 * step, 10);
        if (queued < count && (chance < 5 || !wire->n_flying)) {
            uint32_t to = (OWN + 1 + draw(seed, 4 * step + 1, RANKS - 1)) % RANKS;
            queue(wire, (enum psd_send_class)draw(seed, 4 * step + 2, 2), to,
                  draw(seed, 4 * step + 3, 5), 1 + draw(seed, 7000 + 4 * step, 120), queued++);
        } else {
            land(wire, draw(seed, 4 * step + 1, (uint32_t)wire->n_flying));
        }
        check_credit(wire, credit);
        CHECK(wire->n_flying > 0 || psd_schedule_pending(wire->schedule) == 0);
    }
    return wire;
}

static void random_orders_keep_the_credit_and_starve_nobody(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        bool left[1000] = {false};
        struct wire *wire = run_random(seed, 1 + draw(seed, 9999999, 300), 1000);
        CHECK(wire->n_subjects == 1000);
        for (size_t i = 0; i < wire->n_subjects; i++) {
            CHECK(!left[wire->subjects[i]]);
            left[wire->subjects[i]] = true;
        }
        free_wire(wire);
    }
}

static void the_same_calls_emit_in_the_same_order(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct wire *a = run_random(seed, 200, 1000), *b = run_random(seed, 200, 1000);
        CHECK(memcmp(a->subjects, b->subjects, sizeof a->subjects) == 0);
        free_wire(a);
        free_wire(b);
    }
}

static void create_survives_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_schedule *schedule = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_schedule_create(RANKS, OWN, 0, fly, NULL, &schedule);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (schedule == NULL));
        psd_schedule_destroy(schedule);
    }
}

static void what_is_reserved_needs_no_memory(void)
{
    struct wire *wire = new_wire(100);

    push(wire, 3, 0, 1, 1);
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_schedule_reserve(wire->schedule, 1000));
    CHECK_OK(psd_schedule_reserve(wire->schedule, 1000));
    psd_alloc_fail_at(0);
    for (uint32_t i = 0; i < 999; i++)
        push(wire, 4, 0, 1, i);
    CHECK(!psd_alloc_fail_at(-1));
    free_wire(wire);
}

static void take_survives_a_failed_allocation(void)
{
    struct wire *wire = new_wire(1);

    psd_alloc_fail_at(0);
    CHECK(!psd_schedule_take(wire->schedule));
    psd_alloc_fail_at(-1);
    push(wire, 3, 0, 1, 1);
    CHECK(wire->n_flying == 1);
    free_wire(wire);
}

int main(int argc, char **argv)
{
    RUN(a_send_leaves_at_once_while_there_is_credit)
    RUN(pushes_and_values_have_credit_of_their_own)
    RUN(control_needs_no_credit)
    RUN(the_default_credit_follows_from_the_ranks)
    RUN(one_send_may_go_however_large)
    RUN(a_large_send_is_not_passed_by_small_ones)
    RUN(the_urgent_overtakes_what_still_waits)
    RUN(of_equal_urgency_the_order_counts_and_then_who_came_first)
    RUN(members_start_with_the_next_one_and_go_around)
    RUN(a_slow_destination_does_not_use_all_credit)
    RUN(a_fast_destination_does_not_run_away_from_a_slow_one)
    RUN(a_lost_rank_is_forgotten_and_others_go_on)
    RUN(forgetting_lets_go_what_waited_behind)
    RUN(others_catch_up_when_the_slowest_is_lost)
    RUN(what_a_send_owns_is_freed_with_it)
    RUN(sends_come_back_to_the_store)
    RUN(random_orders_keep_the_credit_and_starve_nobody)
    RUN(the_same_calls_emit_in_the_same_order)
    RUN(create_survives_every_failed_allocation)
    RUN(what_is_reserved_needs_no_memory)
    RUN(take_survives_a_failed_allocation)
}
