/* lone_node.h - one node and nobody else: what it asks for is kept, and answered by hand.
 *
 *     struct node_test *test = node_of(&(struct node_case){.ranks = 2, .workers = 2});
 *     node_begin(test, 0);
 *     node_sync(test, 0, 0, 1.0f);                  the caller's side
 *     node_sent(test, PSD_MESSAGE_PUSH, 1);         must be what it sends next, and has left
 *     node_work(test, PSD_WORK_UPDATE);             must be what it orders next, and is done
 *     node_deliver(test, message, floats);          a peer's side
 *     node_refuses(test, message, "sentence");      a mistake of a peer changes nothing
 *     node_end(test);                               nothing was left unlooked at
 *
 * Unless the case says otherwise a job is in sum mode, so that values are what one can add up, and has
 * two parameters of three values, each with a piece to itself: "conv", which rank 1 owns (if there is
 * one), and "fc", which rank 0 owns. */
#ifndef PSD_TESTS_LONE_NODE_H
#define PSD_TESTS_LONE_NODE_H

#include "base/alloc.h"
#include "comm/node_state.h"
#include "net/payload.h"
#include "test.h"

enum { NODE_PARAMS = 70, NODE_WORKERS = 16, NODE_SENDS = 1024, NODE_WORKS = 64 };
enum { NODE_RATE_BITS = 0x3f800000 }; /* of 1, with which node_begin begins */
enum { CONV, FC };                    /* the parameters, and their pieces and parts */

struct node_param {
    const char *name;
    size_t rows, cols;
    enum psd_route route; /* AUTO: servers */
    int bias_of;          /* 1 + the weight */
    bool averaged;        /* in update mode */
};

/* A field left zero takes its default. */
struct node_case {
    unsigned rank, ranks, workers; /* 0 ranks or workers: 1 */
    const unsigned *host;          /* [workers]; NULL: dealt out evenly */
    const size_t *batch;           /* [workers]; NULL: 1 each */
    bool updates;                  /* update mode */
    struct psd_comm_update update;
    const struct node_param *params; /* NULL: two dense ones */
    size_t n_params;
    size_t most; /* bytes of a piece; 0: so few that none is shared */
    size_t credit;
    bool sizes_only;
};

struct node_test {
    struct psd_job *job; /* owned, as are the next three */
    struct psd_layout *layout;
    struct psd_merge *merge;
    struct psd_node *node;
    float *values[NODE_PARAMS];              /* owned; zero at first */
    float *grads[NODE_PARAMS][NODE_WORKERS]; /* owned; of the latest sync */

    struct psd_send *sends[NODE_SENDS]; /* in flight, and not yet looked at */
    size_t n_sends;
    struct psd_work *works[NODE_WORKS]; /* the same */
    size_t n_works;
    unsigned fresh[NODE_PARAMS]; /* how often each was */
    unsigned collected, ended, warned;
    psd_status status; /* that it ended with, and its sentence */
    char sentence[4096];
    char warning[1024];
};

static const struct node_param node_params[] = {{.name = "conv", .rows = 1, .cols = 3},
                                                {.name = "fc", .rows = 1, .cols = 3}};

static inline void node_hear_send(void *context, struct psd_send *send)
{
    struct node_test *test = context;

    CHECK(test->n_sends < NODE_SENDS);
    test->sends[test->n_sends++] = send;
}

static inline void node_hear_work(void *context, struct psd_work *work)
{
    struct node_test *test = context;

    CHECK(test->n_works < NODE_WORKS);
    test->works[test->n_works++] = work;
}

static inline void node_hear_fresh(void *context, size_t param)
{
    struct node_test *test = context;

    test->fresh[param]++;
}

static inline void node_hear_collected(void *context)
{
    struct node_test *test = context;

    test->collected++;
}

static inline void node_hear_ended(void *context, psd_status status, const char *sentence)
{
    struct node_test *test = context;

    test->ended++;
    test->status = status;
    snprintf(test->sentence, sizeof test->sentence, "%s", sentence);
}

static inline void node_hear_warning(void *context, const char *sentence)
{
    struct node_test *test = context;

    test->warned++;
    snprintf(test->warning, sizeof test->warning, "%s", sentence);
}

static const struct psd_node_driver node_driver = {.send = node_hear_send,
                                                   .work = node_hear_work,
                                                   .fresh = node_hear_fresh,
                                                   .collected = node_hear_collected,
                                                   .ended = node_hear_ended,
                                                   .warn = node_hear_warning};

/* --- made and ended ------------------------------------------------------------------------------
 */

static inline void node_add_param(struct psd_job *job, const struct node_param *param)
{
    bool factored = param->route != PSD_ROUTE_AUTO && param->route != PSD_ROUTE_SERVERS;

    CHECK_OK(psd_job_add(job, &(struct psd_comm_param){.name = param->name,
                                                       .rows = param->rows,
                                                       .cols = param->cols,
                                                       .factors = factored && !param->bias_of,
                                                       .bias_of = param->bias_of,
                                                       .averaged = param->averaged,
                                                       .route = param->route}));
    struct psd_job_param *added = &job->params[job->n_params - 1];
    if (param->bias_of) {
        added->form = job->params[added->bias_of].form;
        added->route = job->params[added->bias_of].route;
    } else if (!factored) {
        added->form = PSD_FORM_DENSE;
        added->route = PSD_ROUTE_SERVERS;
    }
}

static inline struct psd_job *node_job(const struct node_case *c)
{
    enum psd_comm_mode mode = c->updates ? PSD_COMM_UPDATE : PSD_COMM_SUM;
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(c->ranks ? c->ranks : 1, c->workers ? c->workers : 1, 1, mode,
                            &c->update, &job));
    for (unsigned w = 0; w < c->workers; w++) {
        job->host[w] = c->host ? c->host[w] : job->host[w];
        job->batch[w] = c->batch ? c->batch[w] : 1;
    }
    for (size_t i = 0; i < (c->params ? c->n_params : 2); i++)
        node_add_param(job, c->params ? &c->params[i] : &node_params[i]);
    CHECK(job->n_params <= NODE_PARAMS && job->workers <= NODE_WORKERS);
    return job;
}

/* All but the node, so that its making can be tested. */
static inline struct node_test *node_prepare(const struct node_case *c,
                                             struct psd_node_options *options)
{
    struct node_test *test = calloc(1, sizeof *test);

    test->job = node_job(c);
    CHECK_OK(psd_layout_create(test->job, c->most ? c->most : 1, &test->layout));
    CHECK_OK(psd_merge_create(test->job, &test->merge));
    for (size_t i = 0; i < test->job->n_params && !c->sizes_only; i++) {
        size_t count = psd_job_count(&test->job->params[i]);
        test->values[i] = calloc(count, sizeof(float));
        for (unsigned w = 0; w < test->job->workers; w++)
            test->grads[i][w] = calloc(count, sizeof(float));
    }
    *options = (struct psd_node_options){.job = test->job,
                                         .layout = test->layout,
                                         .merge = test->merge,
                                         .rank = c->rank,
                                         .credit = c->credit,
                                         .sizes_only = c->sizes_only,
                                         .driver = &node_driver,
                                         .context = test};
    return test;
}

/* A node that is not started yet. */
static inline struct node_test *node_unstarted(const struct node_case *c)
{
    struct psd_node_options options;
    struct node_test *test = node_prepare(c, &options);

    CHECK_OK(psd_node_create(&options, &test->node));
    for (size_t i = 0; i < test->job->n_params; i++)
        psd_node_set_value(test->node, i, test->values[i]);
    return test;
}

/* One whose values are fresh. */
static inline struct node_test *node_of(const struct node_case *c)
{
    struct node_test *test = node_unstarted(c);

    CHECK_OK(psd_node_start(test->node, true));
    for (size_t i = 0; i < test->job->n_params; i++)
        CHECK(test->fresh[i]-- == 1);
    return test;
}

static inline void node_free(struct node_test *test)
{
    psd_node_destroy(test->node);
    psd_merge_destroy(test->merge);
    psd_layout_destroy(test->layout);
    for (size_t i = 0; i < test->job->n_params; i++) {
        free(test->values[i]);
        for (unsigned w = 0; w < test->job->workers; w++)
            free(test->grads[i][w]);
    }
    psd_job_destroy(test->job);
    free(test);
}

/* Nothing was sent or ordered that was not looked at. */
static inline void node_is_quiet(const struct node_test *test)
{
    if (test->n_sends)
        TEST_FAIL("%s to rank %u", psd_message_name(test->sends[0]->message.kind),
                  test->sends[0]->to);
    CHECK(test->n_works == 0);
}

static inline void node_end(struct node_test *test)
{
    node_is_quiet(test);
    CHECK(!psd_node_busy(test->node) && test->ended == 0);
    node_free(test);
}

/* --- what the node asks for ----------------------------------------------------------------------
 */

/* What it has sent next is of this kind and to that rank; still in flight. */
static inline struct psd_send *node_sends(struct node_test *test, enum psd_message_kind kind,
                                          unsigned to)
{
    if (test->n_sends == 0)
        TEST_FAIL("nothing is sent, and no %s to rank %u", psd_message_name(kind), to);
    struct psd_send *send = test->sends[0];
    if (send->message.kind != kind || send->to != to)
        TEST_FAIL("%s is sent to rank %u, and no %s to rank %u",
                  psd_message_name(send->message.kind), send->to, psd_message_name(kind), to);
    memmove(test->sends, test->sends + 1, --test->n_sends * sizeof *test->sends);
    return send;
}

/* The same, and it has left; its payload is where it was. */
static inline struct psd_send node_sent(struct node_test *test, enum psd_message_kind kind,
                                        unsigned to)
{
    struct psd_send *send = node_sends(test, kind, to), copy = *send;

    psd_node_sent(test->node, send);
    return copy;
}

static inline const float *node_floats(const struct psd_send *send)
{
    return send->frame.payload[0].data;
}

/* The i-th of the works it has ordered is of this kind; it is done. */
static inline struct psd_work node_work_at(struct node_test *test, size_t i,
                                           enum psd_work_kind kind)
{
    CHECK(i < test->n_works && test->works[i]->kind == kind);
    struct psd_work *work = test->works[i], copy = *work;
    memmove(test->works + i, test->works + i + 1,
            (--test->n_works - i) * sizeof(struct psd_work *));
    if (work->run)
        work->run(work);
    psd_node_done(test->node, work);
    return copy;
}

/* The first of them. */
static inline struct psd_work node_work(struct node_test *test, enum psd_work_kind kind)
{
    return node_work_at(test, 0, kind);
}

/* Everything that was asked for happens, until nothing is left. */
static inline void node_settle(struct node_test *test)
{
    while (test->n_sends || test->n_works) {
        if (test->n_works)
            node_work(test, test->works[0]->kind);
        else
            node_sent(test, test->sends[0]->message.kind, test->sends[0]->to);
    }
}

/* --- the caller's side ---------------------------------------------------------------------------
 */

static inline void node_begin(struct node_test *test, uint64_t iteration)
{
    CHECK_OK(psd_node_begin(test->node, iteration, 1)); /* NODE_RATE_BITS */
}

/* A gradient whose values are all `number`. */
static inline float *node_grad(struct node_test *test, size_t param, unsigned worker, float number)
{
    float *grad = test->grads[param][worker];

    for (size_t i = 0; grad && i < psd_job_count(&test->job->params[param]); i++)
        grad[i] = number;
    return grad;
}

static inline psd_status node_try_sync(struct node_test *test, size_t param, unsigned worker,
                                       float number)
{
    return psd_node_sync(test->node, param, worker, node_grad(test, param, worker, number));
}

static inline void node_sync(struct node_test *test, size_t param, unsigned worker, float number)
{
    CHECK_OK(node_try_sync(test, param, worker, number));
}

/* Factors whose values are all `u` and all `v`. */
static inline void node_sync_factors(struct node_test *test, size_t param, unsigned worker, float u,
                                     float v)
{
    const struct psd_job_param *weight = &test->job->params[param];
    size_t batch = test->job->batch[worker];
    float *us = calloc(batch * weight->rows, sizeof *us);
    float *vs = calloc(batch * weight->cols, sizeof *vs);

    for (size_t i = 0; i < batch * weight->rows; i++)
        us[i] = u;
    for (size_t i = 0; i < batch * weight->cols; i++)
        vs[i] = v;
    psd_node_copy_factors(test->node, param, worker, test->node->iteration, us, vs, batch);
    free(us);
    free(vs);
    CHECK_OK(psd_node_sync_factors(test->node, param, worker, batch));
}

/* All values of a parameter are this one, and it has become fresh `times` in all. */
static inline void node_has(const struct node_test *test, size_t param, float number,
                            unsigned times)
{
    for (size_t i = 0; i < psd_job_count(&test->job->params[param]); i++)
        CHECK_NEAR(test->values[param][i], number, 0);
    CHECK(test->fresh[param] == times);
}

/* Two arrays have the same bits. */
static inline bool node_same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* --- the peers' side -----------------------------------------------------------------------------
 */

static inline void node_move(const void *data, const struct psd_message *message,
                             const struct psd_place *place)
{
    struct psd_frame frame = {.payload = {{data, message->length}}};

    CHECK_OK(psd_payload_move(&frame, place));
}

/* What a peer says of the rate: the one with which the iteration has begun here, or that of node_begin. */
static inline uint32_t node_peers_rate(const struct node_test *test, uint64_t iteration)
{
    const struct psd_node_rate *known = &test->node->rates[iteration % PSD_NODE_RATES];

    return known->is_known && known->iteration == iteration ? known->bits : NODE_RATE_BITS;
}

/* A message of `message.from` comes, with its payload; a rate that it does not have is filled in. */
static inline void node_deliver(struct node_test *test, struct psd_message message,
                                const void *data)
{
    unsigned before = test->ended;
    struct psd_place place;

    psd_node_place(test->node, message.from, &message, &place);
    if (test->ended != before)
        TEST_FAIL("%s", test->sentence);
    CHECK(!place.later);
    node_move(data, &message, &place);
    if (!message.rate)
        message.rate = node_peers_rate(test, message.iteration);
    psd_node_arrived(test->node, &message);
}

/* The same with a payload of floats that are all `number`. */
static inline void node_hears(struct node_test *test, struct psd_message message, float number)
{
    float *floats = calloc(message.length / sizeof *floats + 1, sizeof *floats);

    for (size_t i = 0; i < message.length / sizeof *floats; i++)
        floats[i] = number;
    node_deliver(test, message, floats);
    free(floats);
}

/* The bytes of parts [first, first + count) of a piece. */
static inline uint64_t node_bytes(const struct node_test *test, uint32_t piece, uint32_t first,
                                  uint32_t count)
{
    const struct psd_part *part =
        &test->layout->parts[test->layout->pieces[piece].first_part + first];
    size_t values = 0;

    for (uint32_t i = 0; i < count; i++)
        values += part[i].count;
    return values * sizeof(float);
}

/* A push by, or value of, a whole piece of one part. */
static inline struct psd_message node_message(const struct node_test *test,
                                              enum psd_message_kind kind, unsigned from,
                                              uint32_t piece, uint32_t which, uint64_t iteration)
{
    uint32_t parts = test->layout->pieces[piece].parts;

    return (struct psd_message){.kind = kind,
                                .from = from,
                                .iteration = iteration,
                                .subject = piece,
                                .which = which,
                                .count = parts,
                                .length = node_bytes(test, piece, 0, parts)};
}

/* The first piece of a parameter. */
static inline uint32_t node_piece(const struct node_test *test, size_t param)
{
    return test->layout->params[param].first_piece;
}

/* --- what a node is made of, in a number that changes with it ------------------------------------
 */

static inline void node_mix(uint64_t *sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; at && i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        *sum = (*sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        *sum ^= *sum >> 32;
    }
}

static inline void node_mix_syncers(const struct node_test *test, uint64_t *sum)
{
    const struct psd_syncers *syncers = &test->node->syncers;
    size_t params = test->job->n_params, parts = test->layout->n_parts;

    node_mix(sum, syncers, sizeof *syncers);
    node_mix(sum, syncers->all, params * sizeof *syncers->all);
    node_mix(sum, syncers->leaves, params * test->node->n_hosted * sizeof *syncers->leaves);
    node_mix(sum, syncers->is_fresh, parts * sizeof *syncers->is_fresh);
    node_mix(sum, syncers->is_coming, parts * sizeof *syncers->is_coming);
    node_mix(sum, syncers->leaving, parts * sizeof *syncers->leaving);
    for (size_t i = 0; i < params; i++)
        node_mix(sum, test->values[i], psd_job_count(&test->job->params[i]) * sizeof(float));
}

static inline void node_mix_shareds(const struct node_test *test, uint64_t *sum)
{
    const struct psd_node *node = test->node;
    uint32_t inputs = psd_merge_inputs(node->merge, node->rank);

    for (size_t i = 0; i < node->shareds.count; i++) {
        const struct psd_shared *shared = &node->shareds.all[i];
        size_t bytes = test->layout->pieces[shared->piece].count * sizeof(float);
        node_mix(sum, shared, sizeof *shared);
        node_mix(sum, shared->ready, inputs * sizeof *shared->ready);
        node_mix(sum, shared->gone, inputs * sizeof *shared->gone);
        node_mix(sum, shared->staging, node->n_hosted * bytes);
        node_mix(sum, shared->values, bytes);
    }
}

static inline void node_mix_shards(const struct node_test *test, uint64_t *sum)
{
    size_t nodes = 2 * test->merge->n_inputs - 1;

    for (size_t i = 0; i < test->node->shards.count; i++) {
        const struct psd_shard *shard = &test->node->shards.all[i];
        const struct psd_piece *piece = &test->layout->pieces[shard->piece];
        node_mix(sum, shard, sizeof *shard);
        node_mix(sum, shard->parts, piece->parts * sizeof *shard->parts);
        node_mix(sum, shard->at, piece->parts * nodes * sizeof *shard->at);
        node_mix(sum, shard->slots, shard->n_slots * piece->count * sizeof(float));
        for (size_t k = 0; k < 4; k++)
            node_mix(sum, shard->states[k], piece->count * sizeof(float));
    }
}

static inline void node_mix_exchanges(const struct node_test *test, uint64_t *sum)
{
    for (size_t i = 0; i < test->node->exchanges.count; i++) {
        const struct psd_exchange *exchange = &test->node->exchanges.all[i];
        node_mix(sum, exchange, sizeof *exchange);
        for (size_t k = 0; k < 2; k++)
            node_mix(sum, exchange->gathers[k].here,
                     test->job->workers * sizeof *exchange->gathers[k].here);
    }
}

static inline void node_mix_others(const struct node_test *test, uint64_t *sum)
{
    const struct psd_node *node = test->node;
    const struct psd_clip *clip = &node->clip;

    node_mix(sum, clip, sizeof *clip);
    node_mix(sum, clip->here, test->job->ranks * sizeof *clip->here);
    for (unsigned i = 0; clip->all && i < test->job->ranks; i++)
        node_mix(sum, clip->all[i], clip->n_all[i] * sizeof(double));
    node_mix(sum, &node->collects, sizeof node->collects);
    for (size_t i = 0; i < 2; i++) {
        const struct psd_gathering *gathering = &node->collects.gatherings[i];
        node_mix(sum, gathering->here, test->job->ranks * sizeof *gathering->here);
        node_mix(sum, gathering->rows, gathering->room);
    }
    if (node->states.parts)
        node_mix(sum, node->states.parts, test->layout->n_parts);
    node_mix(sum, node->inquiries.answers, test->job->ranks * sizeof(unsigned));
    node_mix(sum, node->leaves.all, test->job->ranks * sizeof *node->leaves.all);
    node_mix(sum, node->gone, test->job->ranks * sizeof *node->gone);
}

static inline uint64_t node_sum(const struct node_test *test)
{
    const struct psd_node *node = test->node;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    size_t asked[] = {psd_schedule_pending(node->schedule),
                      test->n_sends,
                      test->n_works,
                      test->collected,
                      test->ended,
                      test->warned};

    node_mix(&sum, node, sizeof *node);
    node_mix(&sum, asked, sizeof asked);
    node_mix(&sum, test->fresh, sizeof test->fresh);
    node_mix_syncers(test, &sum);
    node_mix_shareds(test, &sum);
    node_mix_shards(test, &sum);
    node_mix_exchanges(test, &sum);
    node_mix_others(test, &sum);
    return sum;
}

/* The header is refused, with a sentence that has these words, and nothing has changed. */
static inline void node_refuses(struct node_test *test, struct psd_message message,
                                const char *words)
{
    uint64_t before = node_sum(test);
    struct psd_place place = {.add = false};

    CHECK_STATUS(PSD_EPEER, psd_node_find_place(test->node, message.from, &message, &place));
    if (!strstr(psd_error(), words))
        TEST_FAIL("\"%s\", and not \"%s\"", psd_error(), words);
    CHECK(node_sum(test) == before);
}

/* A message that is wrong in one field, and the words with which it is refused. */
struct node_twist {
    size_t at, size; /* of the field */
    uint64_t is;     /* what it is instead */
    const char *words;
};
#define NODE_TWIST(field, number, text)                                                           \
    {                                                                                             \
        .at = offsetof(struct psd_message, field), .size = sizeof((struct psd_message){0}.field), \
        .is = (number), .words = (text)                                                           \
    }

static inline void node_refuses_all(struct node_test *test, struct psd_message good,
                                    const struct node_twist *twists, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct psd_message bad = good;
        uint32_t narrow = (uint32_t)twists[i].is;
        fprintf(stderr, "    %s\n", twists[i].words);
        memcpy((char *)&bad + twists[i].at,
               twists[i].size == sizeof narrow ? (const void *)&narrow : &twists[i].is,
               twists[i].size);
        node_refuses(test, bad, twists[i].words);
    }
}

/* The job has ended with this sentence, which all others are told. */
static inline void node_ends(struct node_test *test, psd_status status, const char *sentence)
{
    CHECK(test->ended == 1 && test->status == status);
    CHECK_TEXT(sentence, test->sentence);
    for (unsigned i = 1; i < test->job->ranks; i++) {
        unsigned to = (test->node->rank + i) % test->job->ranks;
        struct psd_send end = node_sent(test, PSD_MESSAGE_END, to);
        CHECK(end.message.length == strlen(sentence) && end.message.which == (uint32_t)-status);
        CHECK(memcmp(end.frame.payload[0].data, sentence, strlen(sentence)) == 0);
    }
}

#endif
