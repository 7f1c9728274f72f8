/* letters_test.c - letters go out as copies and come into an inbox. */
#include "base/alloc.h"
#include "comm/letters.h"
#include "net/sim/sim.h"
#include "test.h"

enum { RANKS = 3 };

struct member {
    struct psd_mesh *mesh;
    struct psd_letters letters;
    struct psd_message last;
    unsigned joined, arrived, sent;
};

struct post {
    struct psd_sim *sim;
    struct member members[RANKS];
};

static void joined(void *user, unsigned from)
{
    struct member *member = user;

    (void)from;
    member->joined++;
}

static psd_status place(void *user, unsigned from, const struct psd_message *message,
                        struct psd_place *out)
{
    struct member *member = user;

    CHECK(message->from == from);
    return psd_letters_place(&member->letters, message, out);
}

static psd_status arrived(void *user, unsigned from, const struct psd_message *message)
{
    struct member *member = user;

    (void)from;
    CHECK(psd_letters_arrived(&member->letters, message));
    member->last = *message;
    member->arrived++;
    return PSD_OK;
}

static void sent(void *user, struct psd_frame *frame)
{
    struct member *member = user;
    struct psd_frame other;

    CHECK(!psd_letters_sent(&member->letters, &other));
    CHECK(psd_letters_sent(&member->letters, frame));
    member->sent++;
}

static void lost(void *user, unsigned from, const char *why)
{
    struct member *member = user;

    (void)why;
    psd_letters_forget(&member->letters, from);
}

static const struct psd_mesh_handler handler = {
    .joined = joined, .place = place, .arrived = arrived, .sent = sent, .lost = lost};

static const char *const addresses[RANKS] = {"a", "b", "c"};

static void run(struct post *post)
{
    while (psd_sim_step(post->sim))
        ;
    CHECK_OK(psd_sim_status(post->sim));
}

static void open_member(struct post *post, unsigned rank)
{
    struct member *member = &post->members[rank];
    struct psd_mesh_options options = {.transport = &psd_transport_sim,
                                       .address = addresses[rank],
                                       .world = post->sim,
                                       .rank = rank,
                                       .ranks = RANKS,
                                       .handler = &handler,
                                       .user = member};

    CHECK_OK(psd_letters_init(&member->letters, rank, RANKS));
    CHECK_OK(psd_mesh_open(&options, &member->mesh));
    member->letters.mesh = member->mesh;
}

/* All know each other. */
static struct post *new_post(void)
{
    struct post *post = calloc(1, sizeof *post);

    CHECK(post);
    CHECK_OK(psd_sim_create(&(struct psd_sim_options){.latency_ns = 10}, &post->sim));
    for (unsigned i = 0; i < RANKS; i++)
        open_member(post, i);
    for (unsigned i = 0; i < RANKS; i++) {
        for (unsigned k = 0; k < i; k++)
            CHECK_OK(psd_mesh_connect(post->members[i].mesh, k, addresses[k]));
    }
    run(post);
    return post;
}

static void free_post(struct post *post)
{
    for (unsigned i = 0; i < RANKS; i++) {
        psd_mesh_close(post->members[i].mesh);
        psd_letters_fini(&post->members[i].letters);
    }
    psd_sim_destroy(post->sim);
    free(post);
}

static void a_letter_comes_whole_and_ends_in_nul(void)
{
    struct post *post = new_post();
    struct member *from = &post->members[2], *to = &post->members[0];
    char words[] = "words";

    CHECK_OK(psd_letters_send(&from->letters, PSD_MESSAGE_END, 7, 0, words, 5));
    memset(words, 'x', 5); /* a copy is on its way */
    CHECK(psd_letters_busy(&from->letters));
    run(post);
    CHECK(!psd_letters_busy(&from->letters) && from->sent == 1);
    CHECK(to->arrived == 1 && to->last.kind == PSD_MESSAGE_END && to->last.which == 7);
    CHECK(psd_letters_inbox(&to->letters, 2)->length == 5);
    CHECK_TEXT("words", (const char *)psd_letters_inbox(&to->letters, 2)->bytes);
    CHECK(!psd_letters_inbox(&to->letters, 1)->bytes && post->members[1].arrived == 0);
    free_post(post);
}

static void a_letter_to_all_goes_to_all_others(void)
{
    struct post *post = new_post();

    CHECK_OK(psd_letters_send(&post->members[1].letters, PSD_MESSAGE_PLAN, 0, RANKS, NULL, 0));
    run(post);
    CHECK(post->members[0].arrived == 1 && post->members[2].arrived == 1);
    CHECK(post->members[1].arrived == 0 && post->members[1].sent == 2);
    CHECK_TEXT("", (const char *)psd_letters_inbox(&post->members[0].letters, 1)->bytes);
    free_post(post);
}

static void letters_to_who_is_lost_are_forgotten(void)
{
    struct post *post = new_post();
    struct psd_letters *letters = &post->members[0].letters;

    CHECK_OK(psd_letters_send(letters, PSD_MESSAGE_PLAN, 0, RANKS, "abc", 3));
    psd_sim_kill(post->sim, "c");
    run(post);
    CHECK(!psd_letters_busy(letters) && post->members[0].sent == 1);
    CHECK_OK(psd_letters_send(letters, PSD_MESSAGE_PLAN, 0, 2, "abc", 3));
    CHECK(!psd_letters_busy(letters)); /* there is nobody to send to */
    free_post(post);
}

static void letters_on_their_way_are_freed_at_the_end(void)
{
    struct post *post = new_post();

    CHECK_OK(psd_letters_send(&post->members[1].letters, PSD_MESSAGE_PLAN, 0, RANKS, "abc", 3));
    free_post(post);
}

static void a_letter_that_is_too_long_is_refused(void)
{
    struct psd_letters letters = {.mesh = NULL};
    struct psd_message message = {
        .kind = PSD_MESSAGE_PARAMS, .from = 1, .length = (UINT64_C(64) << 20) + 1};
    struct psd_place out = {.later = false};

    CHECK_OK(psd_letters_init(&letters, 0, 2));
    CHECK_STATUS(PSD_EPEER, psd_letters_place(&letters, &message, &out));
    CHECK_TEXT("rank 1 sends params of 67108865 bytes; 67108864 is the most", psd_error());
    psd_letters_fini(&letters);
    psd_letters_fini(&letters); /* all zero is fine */
}

/* As on two streams, of which one is slower. */
static void a_letter_waits_for_the_one_before_from_the_same_sender(void)
{
    struct psd_letters letters = {.mesh = NULL};
    struct psd_message plan = {.kind = PSD_MESSAGE_PLAN, .from = 0, .length = 9};
    struct psd_message end = {.kind = PSD_MESSAGE_END, .from = 0, .length = 4};
    struct psd_place first = {.later = false}, second = {.later = false}, third = {.later = false};

    CHECK_OK(psd_letters_init(&letters, 1, 2));
    CHECK_OK(psd_letters_place(&letters, &plan, &first));
    CHECK(first.spans[0].bytes == 9 && !first.later);
    CHECK_OK(psd_letters_place(&letters, &end, &second));
    CHECK(second.later && !second.spans[0].data);
    CHECK(!psd_letters_arrived(&letters, &end) && psd_letters_arrived(&letters, &plan));
    CHECK(!psd_letters_arrived(&letters, &plan));
    CHECK_OK(psd_letters_place(&letters, &end, &third));
    CHECK(third.spans[0].bytes == 4 && !third.later);
    psd_letters_forget(&letters, 0); /* it is lost half-way */
    CHECK(!psd_letters_arrived(&letters, &end));
    psd_letters_fini(&letters);
}

static psd_status send_and_receive(struct psd_letters *letters)
{
    struct psd_message message = {.kind = PSD_MESSAGE_PARAMS, .from = 1, .length = 10};
    struct psd_place out = {.later = false};
    psd_status status = psd_letters_init(letters, 0, 2);

    return status == PSD_OK ? psd_letters_place(letters, &message, &out) : status;
}

static void letters_survive_every_failed_allocation(void)
{
    struct post *post = new_post();
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_letters letters = {.mesh = NULL};
        psd_alloc_fail_at(n);
        psd_status status = send_and_receive(&letters);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_letters_fini(&letters);
    }
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM,
                 psd_letters_send(&post->members[1].letters, PSD_MESSAGE_END, 0, 0, "abc", 3));
    CHECK(psd_alloc_fail_at(-1) && !psd_letters_busy(&post->members[1].letters));
    free_post(post);
}

int main(int argc, char **argv)
{
    RUN(a_letter_comes_whole_and_ends_in_nul)
    RUN(a_letter_to_all_goes_to_all_others)
    RUN(letters_to_who_is_lost_are_forgotten)
    RUN(letters_on_their_way_are_freed_at_the_end)
    RUN(a_letter_that_is_too_long_is_refused)
    RUN(a_letter_waits_for_the_one_before_from_the_same_sender)
    RUN(letters_survive_every_failed_allocation)
}
