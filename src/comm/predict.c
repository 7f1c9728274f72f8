/* predict.c - a small event simulation of one node.
 *
 *     ready --> PUSH --> SUM --> GATE --> WORK --> SEND --> FRESH        a part's life
 *               links    host    clip     device   links
 *
 * An event is the end of what a queue serves. Parts are numbered in forward order, so a part's
 * number is its urgency. A parameter's next push needs its value, so a part is under way once at
 * most. */
#include "comm/predict.h"
#include "base/alloc.h"
#include "base/status.h"
#include "comm/layout.h"
#include "comm/waiting.h"

#include <assert.h>
#include <math.h>

enum { PARTS = 8, ITERATIONS = 24 }; /* of a parameter, and of a run, at most */
enum queue { UP, DOWN, HOST, DEVICE, HOPS, QUEUES };
enum stage { PUSH, SUM, GATE, WORK, SEND, FRESH };

static const double settled = 1e-9; /* a relative change of the period that is none */

struct layer {
    double forward_s, backward_s;
    size_t first_param, params;
    uint32_t first_part, parts;
    uint32_t missing; /* parts that are not fresh */
};

/* A parameter, or one of a few equal parts of it. */
struct part {
    const struct psd_route_cost *cost; /* borrowed for the run */
    double share;
    uint32_t layer;
    enum stage stage;
    unsigned links; /* that it waits for */
};

struct psd_predict {
    double bandwidth, clip_s;
    struct layer *layers; /* owned, as all arrays here */
    size_t n_layers;
    uint32_t *most_parts; /* [params] */
    struct part *parts;
    uint32_t n_parts; /* and the number by which the device's own steps wait for it */
    uint32_t at_gate;

    double now;
    struct psd_waiting waiting[QUEUES];
    size_t step; /* of the 2 * n_layers of an iteration: forward, then backward */
    double began, period;
    unsigned iterations;
    bool steady;
};

/* Without a workload one layer that takes no time has all parameters. */
static struct layer layer_of(const struct psd_predict_options *options, size_t i)
{
    if (!options->workload)
        return (struct layer){.params = options->job->n_params};

    const struct psd_workload_layer *layer = &options->workload->layers[i];
    return (struct layer){.forward_s = layer->forward_s * options->times,
                          .backward_s = layer->backward_s * options->times,
                          .first_param = layer->first_param,
                          .params = layer->params};
}

/* As many as there are pieces of the largest size, up to a few. */
static uint32_t parts_of(const struct psd_job_param *param)
{
    size_t pieces = (psd_job_count(param) * sizeof(float) - 1) / PSD_LAYOUT_MOST + 1;

    return pieces < PARTS ? (uint32_t)pieces : PARTS;
}

static psd_status make_queues(struct psd_predict *predict, size_t most)
{
    for (enum queue i = UP; i < QUEUES; i++) {
        enum psd_waiting_kind kind = i == DEVICE ? PSD_WAITING_ORDER
                                     : i == HOPS ? PSD_WAITING_TOGETHER
                                                 : PSD_WAITING_URGENCY;
        PSD_TRY(psd_waiting_init(&predict->waiting[i], kind, most));
    }
    return PSD_OK;
}

static psd_status fill(struct psd_predict *predict, const struct psd_predict_options *options)
{
    size_t n_params = options->job->n_params, most = 1;

    predict->bandwidth = options->bandwidth;
    predict->n_layers = options->workload ? options->workload->n_layers : 1;
    predict->layers = psd_alloc_zero(predict->n_layers, sizeof *predict->layers);
    predict->most_parts = psd_alloc_zero(n_params, sizeof *predict->most_parts);
    if (!predict->layers || !predict->most_parts)
        return PSD_ENOMEM;
    for (size_t i = 0; i < predict->n_layers; i++)
        predict->layers[i] = layer_of(options, i);
    for (size_t i = 0; i < n_params; i++)
        most += predict->most_parts[i] = parts_of(&options->job->params[i]);
    predict->parts = psd_alloc_zero(most, sizeof *predict->parts);
    return predict->parts ? make_queues(predict, most) : PSD_ENOMEM;
}

psd_status psd_predict_create(const struct psd_predict_options *options, struct psd_predict **out)
{
    struct psd_predict *predict = psd_alloc_zero(1, sizeof *predict);
    psd_status status = predict ? fill(predict, options) : PSD_ENOMEM;

    if (status == PSD_OK)
        *out = predict;
    else
        psd_predict_destroy(predict);
    return status;
}

void psd_predict_destroy(struct psd_predict *predict)
{
    if (!predict)
        return;
    for (int i = 0; i < QUEUES; i++)
        psd_waiting_fini(&predict->waiting[i]);
    psd_alloc_free(predict->parts);
    psd_alloc_free(predict->most_parts);
    psd_alloc_free(predict->layers);
    psd_alloc_free(predict);
}

/* Here and below: whether the part waits for that. */
static bool serve(struct psd_predict *predict, enum queue queue, uint32_t part, double seconds)
{
    seconds *= predict->parts[part].share;
    if (seconds > 0)
        psd_waiting_add(&predict->waiting[queue], predict->now, part, seconds);
    return seconds > 0;
}

static bool travel(struct psd_predict *predict, uint32_t part, double up, double down)
{
    unsigned links = serve(predict, UP, part, up / predict->bandwidth);

    links += serve(predict, DOWN, part, down / predict->bandwidth);
    predict->parts[part].links = links;
    return links > 0;
}

/* Clipping lets nothing through before everything is there. */
static bool gate(struct psd_predict *predict)
{
    if (predict->clip_s < 0)
        return false;
    if (++predict->at_gate < predict->n_parts)
        return true;
    predict->at_gate = 0;
    for (uint32_t part = 0; part < predict->n_parts; part++)
        psd_waiting_add(&predict->waiting[HOPS], predict->now, part, predict->clip_s);
    return true;
}

static void begin_iteration(struct psd_predict *predict)
{
    double period = predict->now - predict->began;

    predict->steady = predict->iterations > 0 && fabs(period - predict->period) <= settled * period;
    predict->period = period;
    predict->began = predict->now;
    predict->iterations++;
}

/* The device is asked for the next step: forward only when the layer's values are fresh. */
static void ask(struct psd_predict *predict)
{
    size_t step = predict->step, n = predict->n_layers;

    if (step < n && predict->layers[step].missing > 0)
        return;
    if (step == 0)
        begin_iteration(predict);
    psd_waiting_add(&predict->waiting[DEVICE], predict->now, predict->n_parts,
                    step < n ? predict->layers[step].forward_s
                             : predict->layers[2 * n - 1 - step].backward_s);
}

static bool fresh(struct psd_predict *predict, uint32_t part)
{
    uint32_t layer = predict->parts[part].layer;

    if (--predict->layers[layer].missing == 0 && predict->step == layer)
        ask(predict);
    return true;
}

static bool begin_stage(struct psd_predict *predict, uint32_t part)
{
    const struct psd_route_cost *cost = predict->parts[part].cost;

    switch (predict->parts[part].stage) {
    case PUSH:
        return travel(predict, part, cost->push_up, cost->push_down);
    case SUM:
        return serve(predict, HOST, part, cost->host_s);
    case GATE:
        return gate(predict);
    case WORK:
        return serve(predict, DEVICE, part, cost->device_s);
    case SEND:
        return travel(predict, part, cost->up - cost->push_up, cost->down - cost->push_down);
    default:
        return fresh(predict, part);
    }
}

static void enter(struct psd_predict *predict, uint32_t part, enum stage stage)
{
    struct part *one = &predict->parts[part];

    for (one->stage = stage; !begin_stage(predict, part);)
        one->stage++;
}

/* After backward of a layer its gradients are ready. It counts as missing itself until all of them
 * are under way. */
static void end_step(struct psd_predict *predict)
{
    size_t step = predict->step, last = 2 * predict->n_layers - 1;

    predict->step = step < last ? step + 1 : 0;
    if (step >= predict->n_layers) {
        struct layer *layer = &predict->layers[last - step];
        layer->missing = layer->parts + 1;
        for (uint32_t i = 0; i < layer->parts; i++)
            enter(predict, layer->first_part + i, PUSH);
        layer->missing--;
    }
    ask(predict);
}

static void end_service(struct psd_predict *predict, enum queue queue)
{
    uint32_t part = psd_waiting_take(&predict->waiting[queue], predict->now);
    struct part *one = &predict->parts[part];

    if (part == predict->n_parts)
        end_step(predict);
    else if (queue > DOWN)
        enter(predict, part, one->stage + 1);
    else if (--one->links == 0)
        psd_waiting_add(&predict->waiting[HOPS], predict->now, part, one->cost->hop_s);
}

static void next_event(struct psd_predict *predict)
{
    enum queue next = UP;
    double first = psd_waiting_end(&predict->waiting[UP]);

    for (enum queue i = DOWN; i < QUEUES; i++) {
        double end = psd_waiting_end(&predict->waiting[i]);
        if (end < first) {
            next = i;
            first = end;
        }
    }
    assert(isfinite(first));
    predict->now = fmax(predict->now, first);
    end_service(predict, next);
}

static void add_parts(struct psd_predict *predict, uint32_t layer, uint32_t count,
                      const struct psd_route_cost *cost)
{
    for (uint32_t i = 0; i < count; i++)
        predict->parts[predict->n_parts++] =
            (struct part){.cost = cost, .share = 1.0 / count, .layer = layer};
}

static void reset(struct psd_predict *predict, const struct psd_plan_param *params,
                  const enum psd_route *routes)
{
    predict->n_parts = predict->at_gate = 0;
    for (uint32_t i = 0; i < predict->n_layers; i++) {
        struct layer *layer = &predict->layers[i];
        size_t end = layer->first_param + layer->params;
        layer->first_part = predict->n_parts;
        for (size_t p = layer->first_param; p < end; p++)
            add_parts(predict, i, routes[p] == PSD_ROUTE_SERVERS ? predict->most_parts[p] : 1,
                      &params[p].cost[routes[p]]);
        layer->parts = predict->n_parts - layer->first_part;
        layer->missing = 0;
    }
    for (int i = 0; i < QUEUES; i++)
        psd_waiting_reset(&predict->waiting[i]);
    predict->now = predict->began = predict->period = 0;
    predict->step = predict->iterations = 0;
}

double psd_predict_run(struct psd_predict *predict, const struct psd_plan_param *params,
                       const enum psd_route *routes, double clip_s)
{
    reset(predict, params, routes);
    predict->clip_s = clip_s;
    ask(predict);
    while (!predict->steady && predict->iterations <= ITERATIONS)
        next_event(predict);
    return predict->period;
}
