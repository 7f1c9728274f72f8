/* node_fuzz.c - any bytes as what happens to a node: no crash, what is refused changes nothing, and
 * what is under way stays bounded.
 *
 *     byte 0    which member of which job
 *     then      events: a byte that says what happens, and the bytes that it needs
 *
 * Peers may say anything; the caller keeps to node.h, but makes mistakes that it may make. So that
 * inputs come far, some events are a peer that does everything right for an iteration. */
#define TEST_STOP() abort()

#include "fuzz.h"
#include "lone_node.h"

enum { HALF_THERE = 6, BATCH = 2, MOST_SENDS = 256, RATE = 0x3f000000 /* the bits of 0.5 */ };

/* The input, byte by byte; 0 behind its end. */
struct bytes {
    const uint8_t *at, *end;
};

/* A message whose payload is on its way. */
struct half {
    struct psd_message message;
    struct psd_place place;
};

struct fuzz {
    struct bytes in;
    struct node_test *test;
    struct half halves[HALF_THERE];
    size_t n_halves;
    void *collect;   /* owned; what the collective under way is about; freed when it has ended */
    bool left;       /* the caller has closed its seat */
    unsigned ended;  /* how often it had when the event began */
    unsigned result; /* collectives that had ended */
    size_t memory;   /* of the node, which never changes */
};

static uint8_t next(struct fuzz *fuzz)
{
    return fuzz->in.at < fuzz->in.end ? *fuzz->in.at++ : 0;
}

/* Parameters that share a piece, that do not, and one of every factored route. */
static const struct node_param params[] = {
    {.name = "x", .rows = 1, .cols = 2},
    {.name = "y", .rows = 1, .cols = 1},
    {.name = "long", .rows = 1, .cols = 20},
    {.name = "fc", .rows = 20, .cols = 2, .route = PSD_ROUTE_BROADCAST},
    {.name = "fc.bias", .rows = 1, .cols = 20, .bias_of = 4},
    {.name = "fd", .rows = 40, .cols = 1, .route = PSD_ROUTE_ROW_SHARDED},
    {.name = "fd.bias", .rows = 1, .cols = 40, .bias_of = 6},
    {.name = "fe", .rows = 4, .cols = 2, .route = PSD_ROUTE_SINGLE_OWNER},
};
enum { COUNT = sizeof params / sizeof *params };

static struct node_test *make(uint8_t which)
{
    static const unsigned host[] = {0, 0, 1, 0, 2, 2};
    static const size_t batch[] = {1, BATCH, 1, BATCH, 1, 1};
    struct node_param mixed[COUNT];
    struct node_case c = {.rank = which % 3,
                          .ranks = 3,
                          .workers = 6,
                          .host = host,
                          .batch = batch,
                          .updates = which & 4,
                          .update = {.momentum = 0.5f, .clip = which & 8 ? 1 : 0},
                          .params = mixed,
                          .n_params = COUNT,
                          .most = 64,
                          .credit = which & 16 ? 1 : 0};
    memcpy(mixed, params, sizeof mixed);
    for (size_t i = 0; i < 3; i++)
        mixed[i].averaged = c.updates && which & 64 << (i == 1);
    struct node_test *test = node_unstarted(&c);

    CHECK_OK(psd_node_start(test->node, which & 32));
    return test;
}

/* --- peers ---------------------------------------------------------------------------------------
 */

/* The length that a message of its kind has, when the rest of it makes sense. */
static uint64_t right_length(const struct node_test *test, const struct psd_message *message)
{
    const struct psd_layout *layout = test->layout;
    const struct psd_node *node = test->node;

    switch (message->kind) {
    case PSD_MESSAGE_PUSH:
    case PSD_MESSAGE_VALUE:
    case PSD_MESSAGE_INITIAL:
        if (message->subject >= layout->n_pieces ||
            (uint64_t)message->first + message->count > layout->pieces[message->subject].parts)
            return 12;
        return node_bytes(test, message->subject, message->first, message->count);
    case PSD_MESSAGE_FACTORS:
        if (message->subject < COUNT && message->which < test->job->workers) {
            struct psd_rows rows = psd_layout_rows(layout, message->subject, node->rank);
            size_t floats = test->job->batch[message->which] *
                            (rows.end - rows.first + params[message->subject].cols);
            struct psd_cut cut = psd_cut_of(floats * sizeof(float), layout->most);
            return message->first < cut.count ? psd_cut_length(cut, message->first) : 4;
        }
        return 4;
    case PSD_MESSAGE_SQUARES:
        return node->clip.n_all ? node->clip.n_all[message->from] * sizeof(double) : 8;
    case PSD_MESSAGE_GIVE:
        return message->count * sizeof(float) * psd_job_hosted(test->job, message->from);
    case PSD_MESSAGE_TAKE:
        return node->collects.bytes;
    case PSD_MESSAGE_STATE:
        return message->subject < layout->n_parts
                   ? layout->parts[message->subject].count * sizeof(float)
                   : 4;
    default:
        return 0;
    }
}

/* Whether it may come; if so, it is half there. What is refused has changed nothing. */
static bool place(struct fuzz *fuzz, const struct psd_message *message)
{
    struct node_test *test = fuzz->test;
    struct half *half = &fuzz->halves[fuzz->n_halves];
    uint64_t before = node_sum(test);

    *half = (struct half){.message = *message};
    if (psd_node_find_place(test->node, message->from, message, &half->place) != PSD_OK) {
        CHECK(test->node->ended || node_sum(test) == before);
        return false;
    }
    size_t room = half->place.spans[0].bytes + half->place.spans[1].bytes;
    CHECK(half->place.later || room == message->length);
    return !half->place.later;
}

/* The payload of the i-th is in place. */
static void arrive(struct fuzz *fuzz, size_t i)
{
    struct half half = fuzz->halves[i];

    for (size_t k = 0; k < 2; k++) {
        if (half.place.spans[k].data && half.place.spans[k].bytes)
            memset(half.place.spans[k].data, half.place.add ? 0 : 1, half.place.spans[k].bytes);
    }
    fuzz->halves[i] = fuzz->halves[--fuzz->n_halves];
    psd_node_arrived(fuzz->test->node, &half.message);
}

static void come(struct fuzz *fuzz, const struct psd_message *message)
{
    if (fuzz->n_halves < HALF_THERE && message->from != fuzz->test->node->rank &&
        !fuzz->test->node->gone[message->from] && place(fuzz, message))
        fuzz->n_halves++;
}

/* Any message. */
static void speak(struct fuzz *fuzz)
{
    const struct psd_node *node = fuzz->test->node;
    uint8_t how = next(fuzz);
    struct psd_message message = {.kind = (enum psd_message_kind)(next(fuzz) % PSD_MESSAGE_KINDS),
                                  .from = how % 3,
                                  .subject = next(fuzz),
                                  .which = next(fuzz),
                                  .first = next(fuzz),
                                  .count = next(fuzz)};
    bool counts = message.kind == PSD_MESSAGE_GIVE || message.kind == PSD_MESSAGE_TAKE;

    message.iteration = counts ? node->collects.next[message.subject & 1] : node->iteration;
    message.iteration += (uint64_t)(how >> 2 & 3) - 1;
    message.rate = how & 128 ? 0 : RATE;
    if (how & 16)
        message.which = message.first = UINT32_MAX - message.which;
    message.length =
        how & 32 ? (uint64_t)next(fuzz) << (next(fuzz) & 15) : right_length(fuzz->test, &message);
    if (how & 64 && message.kind != PSD_MESSAGE_END && fuzz->n_halves < HALF_THERE) {
        struct psd_place unused; /* as a driver does it: what is refused ends the job */
        unsigned from = (node->rank + 1) % 3;
        message.from = node->rank;
        if (!node->ended && !node->gone[from]) {
            psd_node_place(fuzz->test->node, from, &message, &unused);
            CHECK(node->ended && fuzz->test->ended == 1);
        }
        return;
    }
    come(fuzz, &message);
}

/* A peer that does everything right: what may come of it, comes. */
static void come_whole(struct fuzz *fuzz, struct psd_message message)
{
    message.length = right_length(fuzz->test, &message);
    size_t before = fuzz->n_halves;

    come(fuzz, &message);
    if (fuzz->n_halves > before)
        arrive(fuzz, before);
}

/* Parts of one piece, one by one. */
static void come_parts(struct fuzz *fuzz, struct psd_message message)
{
    const struct psd_piece *piece = &fuzz->test->layout->pieces[message.subject];

    message.count = 1;
    for (message.first = 0; message.first < piece->parts; message.first++)
        come_whole(fuzz, message);
}

static void push_all(struct fuzz *fuzz, unsigned from)
{
    const struct node_test *test = fuzz->test;
    struct psd_message message = {
        .kind = PSD_MESSAGE_PUSH, .from = from, .rate = RATE, .iteration = test->node->iteration};

    for (message.which = 0; message.which < test->merge->n_inputs; message.which++) {
        for (message.subject = 0; message.subject < test->layout->n_pieces; message.subject++) {
            if (test->merge->nodes[message.which].rank == from &&
                test->node->shards.of_piece[message.subject])
                come_parts(fuzz, message);
        }
    }
}

static void send_all_factors(struct fuzz *fuzz, unsigned from)
{
    const struct node_test *test = fuzz->test;
    struct psd_message message = {.kind = PSD_MESSAGE_FACTORS,
                                  .from = from,
                                  .rate = RATE,
                                  .iteration = test->node->iteration,
                                  .count = 1};

    for (message.which = 0; message.which < test->job->workers; message.which++) {
        for (message.subject = 0; message.subject < COUNT; message.subject++) {
            if (test->job->host[message.which] != from ||
                !test->node->exchanges.of_param[message.subject])
                continue;
            for (message.first = 0; right_length(test, &message) > 4; message.first++)
                come_whole(fuzz, message);
        }
    }
}

static void serve_all(struct fuzz *fuzz, unsigned from)
{
    static const enum psd_message_kind kinds[] = {PSD_MESSAGE_INITIAL, PSD_MESSAGE_VALUE};
    const struct node_test *test = fuzz->test;
    struct psd_message message = {
        .kind = PSD_MESSAGE_SQUARES, .from = from, .iteration = test->node->iteration};

    come_whole(fuzz, message);
    message.kind = PSD_MESSAGE_SCALE;
    message.which = RATE;
    come_whole(fuzz, message);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        message.kind = kinds[k];
        for (message.subject = 0; message.subject < test->layout->n_pieces; message.subject++) {
            unsigned server = test->layout->pieces[message.subject].server;
            if (server == from || server == test->node->rank)
                come_parts(fuzz, message);
        }
    }
}

/* A peer's part in the collective under way, or in the next; it may stay half there. */
static void take_part(struct fuzz *fuzz, uint8_t what)
{
    const struct psd_node *node = fuzz->test->node;
    const struct psd_collects *collects = &node->collects;
    enum psd_collective kind = what & 64 ? PSD_COLLECTIVE_COPY : PSD_COLLECTIVE_SUM;
    struct psd_message message = {.kind = PSD_MESSAGE_TAKE,
                                  .from = what % 3,
                                  .iteration = collects->next[kind] - collects->waiting,
                                  .subject = kind,
                                  .count = (uint32_t)(collects->bytes / sizeof(float))};

    if (node->rank == 0)
        message.kind = PSD_MESSAGE_GIVE;
    if (kind == PSD_COLLECTIVE_COPY)
        message.count = 0;
    message.length = right_length(fuzz->test, &message);
    if (what & 128)
        come(fuzz, &message);
    else
        come_whole(fuzz, message);
}

/* A peer's part in the save under way: it wants what is kept here, or sends what it keeps. */
static void keep_part(struct fuzz *fuzz, uint8_t what)
{
    const struct psd_node *node = fuzz->test->node;
    const struct psd_states *states = &node->states;
    const struct psd_layout_param *at = &fuzz->test->layout->params[states->param];
    struct psd_message message = {.kind = PSD_MESSAGE_FETCH,
                                  .from = (what >> 4) % 3,
                                  .iteration = node->iteration,
                                  .subject = (uint32_t)states->param,
                                  .which = states->kind};

    come_whole(fuzz, message);
    message.kind = PSD_MESSAGE_STATE;
    for (uint32_t i = 0; i < at->pieces; i++) {
        message.subject = at->first_part + i;
        come_whole(fuzz, message);
    }
}

/* --- the caller ----------------------------------------------------------------------------------
 */

/* Whether the factors of a worker may be copied: what comm.c checks before. */
static bool may_copy(const struct node_test *test, size_t param, unsigned worker)
{
    const struct psd_node *node = test->node;
    unsigned hosted = psd_node_hosted_index(node, worker);
    size_t bias =
        param + 1 < COUNT && psd_job_leader(test->job, param + 1) == param ? param + 1 : param;
    const struct psd_syncer *syncer = &node->syncers.all[param];
    bool opened = syncer->synced && syncer->iteration == node->iteration;

    return node->begun && !node->ended && hosted < node->n_hosted &&
           psd_job_is_factored(test->job, param) && !psd_job_follows(test->job, param) &&
           node->syncers.leaves[param * node->n_hosted + hosted].next != node->iteration + 1 &&
           (opened || (syncer->due == 0 && node->syncers.all[bias].due == 0));
}

static void sync_one(struct fuzz *fuzz, size_t param, unsigned worker, bool strange)
{
    struct node_test *test = fuzz->test;
    static const float u[BATCH * 40] = {1}, v[BATCH * 2] = {1};
    size_t batch = test->job->batch[worker];

    if (psd_job_is_factored(test->job, param) == strange) {
        (void)psd_node_sync(test->node, param, worker, test->grads[param][worker]);
        return;
    }
    if (may_copy(test, param, worker))
        psd_node_copy_factors(test->node, param, worker, test->node->iteration, u, v, batch);
    (void)psd_node_sync_factors(test->node, param, worker, batch);
}

/* All that is to be synced, unless that would be a mistake. */
static void sync_all(struct fuzz *fuzz)
{
    const struct psd_node *node = fuzz->test->node;

    for (size_t param = 0; param < COUNT && node->begun; param++) {
        for (unsigned i = 0; i < node->n_hosted; i++) {
            bool done =
                node->syncers.leaves[param * node->n_hosted + i].next == node->iteration + 1;
            if (!psd_job_follows(fuzz->test->job, param) && !done)
                sync_one(fuzz, param, node->hosted[i], false);
        }
    }
}

static void collect(struct fuzz *fuzz)
{
    uint8_t how = next(fuzz);
    size_t bytes = (how >> 1 & 7) * sizeof(float);

    if (fuzz->collect)
        return;
    fuzz->collect = calloc(1, bytes * fuzz->test->node->n_hosted + 1);
    psd_status status = psd_node_collect(
        fuzz->test->node, how & 1 ? PSD_COLLECTIVE_COPY : PSD_COLLECTIVE_SUM, fuzz->collect, bytes);
    if (status != PSD_OK && !fuzz->test->node->ended) {
        free(fuzz->collect);
        fuzz->collect = NULL;
    }
}

static void save(struct fuzz *fuzz, size_t param)
{
    uint8_t how = next(fuzz);

    if (fuzz->collect)
        return;
    fuzz->collect = calloc(40, sizeof(float));
    if (how & 2)
        (void)psd_node_load_state(fuzz->test->node, param, how & 1, fuzz->collect);
    psd_status status = psd_node_save_state(fuzz->test->node, param, how & 1, fuzz->collect);
    if (status != PSD_OK && !fuzz->test->node->ended) {
        free(fuzz->collect);
        fuzz->collect = NULL;
    }
}

static bool any_due(const struct node_test *test)
{
    bool any = false;

    for (size_t i = 0; i < COUNT; i++)
        any |= test->node->syncers.all[i].due > 0;
    return any;
}

/* --- the driver ----------------------------------------------------------------------------------
 */

/* The i-th send has left: until then its payload could be read. */
static void sent(struct node_test *test, size_t i)
{
    struct psd_send *send = test->sends[i];
    uint64_t sum = 0;

    for (size_t k = 0; k < 2; k++)
        node_mix(&sum, send->frame.payload[k].data, send->frame.payload[k].bytes);
    memmove(test->sends + i, test->sends + i + 1, (--test->n_sends - i) * sizeof *test->sends);
    psd_node_sent(test->node, send);
}

/* A peer's connection is gone, and with it what was in flight to it or half there from it. */
static void lose(struct fuzz *fuzz, unsigned rank)
{
    struct node_test *test = fuzz->test;

    if (rank == test->node->rank || test->node->gone[rank])
        return;
    for (size_t i = test->n_sends; i-- > 0;) {
        if (test->sends[i]->to == rank)
            memmove(test->sends + i, test->sends + i + 1,
                    (--test->n_sends - i) * sizeof *test->sends);
    }
    for (size_t i = fuzz->n_halves; i-- > 0;) {
        if (fuzz->halves[i].message.from == rank)
            fuzz->halves[i] = fuzz->halves[--fuzz->n_halves];
    }
    psd_node_lost(test->node, rank, "fuzz");
}

static void call(struct fuzz *fuzz, uint8_t event)
{
    struct node_test *test = fuzz->test;
    uint8_t what = next(fuzz);
    size_t param = what % COUNT;

    switch (event) {
    case 0:
        (void)psd_node_begin(test->node, test->node->iteration + !(what & 1), 0.5f);
        break;
    case 1:
        sync_one(fuzz, param, (what >> 3) % 6, what & 128);
        break;
    case 2:
        sync_all(fuzz);
        break;
    case 3:
        psd_node_waits(test->node, what & 8 ? PSD_NODE_ALL : param);
        break;
    case 4:
        collect(fuzz);
        break;
    case 5:
        psd_node_overdue(test->node, what & 8 ? PSD_NODE_ALL : param);
        break;
    default:
        if ((what & 7) == 7 && !any_due(test)) {
            psd_node_leave(test->node);
            fuzz->left = true;
        } else if ((what & 7) < 4) {
            save(fuzz, (what >> 3) % COUNT);
        }
    }
}

static void go_on(struct fuzz *fuzz, uint8_t event)
{
    struct node_test *test = fuzz->test;
    uint8_t what = next(fuzz);

    switch (event) {
    case 0:
        if (fuzz->n_halves)
            arrive(fuzz, what % fuzz->n_halves);
        break;
    case 1:
        push_all(fuzz, what % 3);
        send_all_factors(fuzz, what % 3);
        break;
    case 2:
        serve_all(fuzz, what % 3);
        break;
    case 3:
        if (test->n_sends)
            sent(test, what % test->n_sends);
        break;
    case 4:
        if (test->n_works)
            node_work_at(test, what % test->n_works, test->works[what % test->n_works]->kind);
        break;
    case 5:
        if ((what & 15) == 15)
            lose(fuzz, (what >> 4) % 3);
        else
            node_settle(test);
        break;
    default:
        if ((what & 15) == 15)
            psd_node_end(test->node, PSD_EPEER, "fuzz");
        else if ((what & 15) > 11)
            keep_part(fuzz, what);
        else
            take_part(fuzz, what);
    }
}

/* What holds after every event. */
static void check(struct fuzz *fuzz)
{
    struct node_test *test = fuzz->test;
    size_t answers = 0;

    CHECK(test->ended <= 1 && test->ended == test->node->ended);
    CHECK(psd_node_memory(test->node) == fuzz->memory);
    for (size_t i = 0; i < test->n_sends; i++)
        answers += test->sends[i]->message.kind == PSD_MESSAGE_MISSING;
    CHECK(answers <= (size_t)16 * 3);
    while (test->n_sends > MOST_SENDS) /* a caller that goes on without end */
        sent(test, 0);
    if (test->collected != fuzz->result) {
        CHECK(test->collected == fuzz->result + 1 && fuzz->collect);
        free(fuzz->collect);
        fuzz->collect = NULL;
        fuzz->result = test->collected;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz = {.in = {data, data + size}};

    fuzz.test = make(next(&fuzz));
    fuzz.memory = psd_node_memory(fuzz.test->node);
    for (size_t n = 0; fuzz.in.at < fuzz.in.end && n < 2000; n++) {
        uint8_t event = next(&fuzz) % 24;
        if (event < 7 && !fuzz.left)
            call(&fuzz, event);
        else if (event >= 7 && event < 14)
            go_on(&fuzz, event - 7);
        else
            speak(&fuzz);
        check(&fuzz);
    }
    free(fuzz.collect);
    node_free(fuzz.test);
    return 0;
}
