/* node_fuzz.c - any messages in any order, between any calls: a node ends the job, and nothing else.
 *
 * An input is a case and then eight bytes for each event: what the caller does, or a header whose fields
 * are small or absurd; most of its lengths are right, so that what comes after the first checks is
 * reached. Payloads go where the node says; a sanitizer sees when that is nowhere. */
#include "fuzz.h"
#include "lone_node.h"

enum { EVENT = 8, SYNC = PSD_MESSAGE_KINDS, BEGIN, WAIT, OVERDUE, SUM, COPY, LOST, LEAVE, EVENTS };

static const struct node_param params[] = {
    {.name = "conv", .rows = 1, .cols = 5000},
    {.name = "scale", .rows = 1, .cols = 7},
    {.name = "shift", .rows = 1, .cols = 7},
    {.name = "fc6", .rows = 40, .cols = 3, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc6.bias", .rows = 1, .cols = 40, .bias_of = 4},
    {.name = "fc7", .rows = 40, .cols = 3, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "fc7.bias", .rows = 1, .cols = 40, .bias_of = 6},
    {.name = "fc8", .rows = 40, .cols = 3, .route = PSD_ROUTE_SINGLE_OWNER},
};

static struct node_test *new_test(uint8_t kind)
{
    return node_of(&(struct node_case){.rank = kind % 3,
                                       .ranks = 3,
                                       .workers = 5,
                                       .updates = kind & 16,
                                       .update = {.clip = kind & 32 ? 1 : 0},
                                       .params = params,
                                       .n_params = sizeof params / sizeof *params,
                                       .most = 1 << 14});
}

/* The length that the message should have, as far as it says what it is. */
static uint64_t right_length(const struct node_test *test, const struct psd_message *message)
{
    const struct psd_layout *layout = test->layout;
    uint64_t length = 0;

    if (message->kind == PSD_MESSAGE_FACTORS && message->subject < test->job->n_params) {
        struct psd_rows rows = psd_layout_rows(layout, message->subject, test->node->rank);
        return (rows.end - rows.first + test->job->params[message->subject].cols) * sizeof(float);
    }
    if (message->kind == PSD_MESSAGE_SQUARES)
        return test->node->clip.n_all ? test->node->clip.n_all[message->from] * sizeof(double) : 0;
    if (message->kind == PSD_MESSAGE_GIVE)
        return message->count * sizeof(float) * psd_job_hosted(test->job, message->from);
    if (message->kind > PSD_MESSAGE_INITIAL || message->subject >= layout->n_pieces)
        return message->kind == PSD_MESSAGE_TAKE ? sizeof(float) : 0;
    const struct psd_piece *piece = &layout->pieces[message->subject];
    for (uint32_t k = message->first; k < piece->parts && k < message->first + message->count; k++)
        length += layout->parts[piece->first_part + k].count * sizeof(float);
    return length;
}

static struct psd_message header_of(const struct node_test *test, const uint8_t *event)
{
    struct psd_message message = {.kind = (enum psd_message_kind)event[0],
                                  .from = (test->node->rank + 1 + event[1] % 2) % 3,
                                  .iteration = event[2] & 15,
                                  .subject = event[3],
                                  .which = event[4],
                                  .first = event[5],
                                  .count = event[6]};

    message.length = event[7] < 200 ? right_length(test, &message) : event[7] - 200u;
    if (event[7] > 250)
        message.length = UINT64_MAX / 2;
    if (event[2] > 250)
        message.iteration = UINT64_MAX;
    if (event[4] > 250)
        message.which = UINT32_MAX;
    return message;
}

static void hear(struct node_test *test, const uint8_t *event)
{
    struct psd_message message = header_of(test, event), back;
    unsigned char header[PSD_MESSAGE_SIZE];
    struct psd_place place;

    psd_message_encode(&message, header);
    if (psd_message_decode(header, &back) != PSD_OK)
        return;
    psd_node_place(test->node, back.from, &back, &place);
    if (place.later)
        return;
    if (place.spans[0].bytes + place.spans[1].bytes != back.length)
        abort();
    for (size_t i = 0; i < 2; i++) {
        if (place.spans[i].data)
            memset(place.spans[i].data, event[7] & 1 ? 0x3e : 0x20, place.spans[i].bytes);
    }
    psd_node_arrived(test->node, &back);
}

static void sync_one(struct node_test *test, const uint8_t *event)
{
    static const float factors[40];
    size_t param = event[1] % test->job->n_params;
    unsigned hosted = test->node->hosted[event[2] % test->node->n_hosted];
    bool is_first = test->node->syncers.all[param].due == 0;

    if (!psd_job_is_factored(test->job, param)) {
        (void)psd_node_sync(test->node, param, hosted, test->grads[param][hosted]);
        return;
    }
    if (test->node->begun && is_first && !psd_job_follows(test->job, param))
        psd_node_copy_factors(test->node, param, hosted, test->node->iteration, factors, factors,
                              1);
    (void)psd_node_sync_factors(test->node, param, hosted, event[3] > 250 ? 2 : 1);
}

/* The caller's side. */
static void call(struct node_test *test, const uint8_t *event)
{
    static float data[5][8];
    size_t param = event[1] % test->job->n_params;

    if (event[0] == SYNC)
        sync_one(test, event);
    else if (event[0] == BEGIN)
        (void)psd_node_begin(test->node, test->node->iteration + test->node->begun, 0.5f);
    else if (event[0] == WAIT)
        psd_node_waits(test->node, param);
    else if (event[0] == OVERDUE)
        psd_node_overdue(test->node, event[2] & 1 ? PSD_NODE_ALL : param);
    else if (event[0] == SUM || event[0] == COPY)
        (void)psd_node_collect(test->node,
                               event[0] == SUM ? PSD_COLLECTIVE_SUM : PSD_COLLECTIVE_COPY, data[0],
                               event[1] % 9 * sizeof(float));
    else if (event[0] == LOST)
        psd_node_lost(test->node, (test->node->rank + 1 + event[1] % 2) % 3, "a test");
    else
        psd_node_leave(test->node);
}

/* What the node has asked for happens; some of it later. Sends to a rank that is gone never leave. */
static void answer(struct node_test *test, uint8_t when)
{
    while (test->n_works > when % 4)
        node_work(test, test->works[0]->kind);
    for (size_t i = 0; i < test->n_sends; i++) {
        if (!test->node->gone[test->sends[i]->to])
            psd_node_sent(test->node, test->sends[i]);
    }
    test->n_sends = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct node_test *test = new_test(data[0]);
    for (size_t i = 1; i + EVENT <= size && i < 300 * EVENT; i += EVENT) {
        uint8_t event[EVENT];
        memcpy(event, data + i, EVENT);
        event[0] %= EVENTS;
        if (event[0] < PSD_MESSAGE_KINDS)
            hear(test, event);
        else
            call(test, event);
        answer(test, event[6]);
    }
    if (test->ended > 1)
        abort(); /* it is said once */
    node_free(test);
    return 0;
}
