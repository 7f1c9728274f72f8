/* emulation.c - the program of a member, from its seat to its result. */
#include "cli/emulation.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "cli/pacer.h"
#include "comm/arithmetic.h"

#include <stdio.h>
#include <string.h>

/* A wait that takes longer has found a value that is still on its way. */
static const uint64_t blink_ns = 20 * PSD_CLOCK_US;
static const float rate = 0.01f;

struct player {
    const struct psd_emulation *emulation; /* borrowed */
    struct psd_pacer *pacer;               /* owned, as are the next three */
    struct psd_comm *comm;
    float *values;
    size_t *offsets; /* [params]: where each begins among values and gradients */
    unsigned worker; /* the one that it hosts */
    struct psd_arithmetic arithmetic;
    uint64_t begin_ns; /* of the iteration */
};

size_t psd_emulation_floats(const struct psd_workload *workload)
{
    size_t most = workload->values;

    for (size_t i = 0; i < workload->n_params; i++) {
        const struct psd_workload_param *param = &workload->params[i];
        size_t longer = param->rows > param->cols ? param->rows : param->cols;
        if (param->factors && longer * workload->batch > most)
            most = longer * workload->batch;
    }
    return most;
}

/* --- the seat ----------------------------------------------------------------------------------- */

static psd_status add_all(struct player *player)
{
    const struct psd_job *job = player->emulation->job;
    int id = 0;

    for (size_t i = 0; i < job->n_params; i++) {
        const struct psd_job_param *param = &job->params[i];
        PSD_TRY(psd_comm_add(player->comm,
                             &(struct psd_comm_param){.name = param->name,
                                                      .rows = param->rows,
                                                      .cols = param->cols,
                                                      .value = player->values + player->offsets[i],
                                                      .factors = param->factors,
                                                      .bias_of = param->bias_of + 1,
                                                      .form = param->form,
                                                      .route = param->route},
                             &id));
    }
    return PSD_OK;
}

static psd_status take_seat(struct player *player)
{
    const struct psd_emulation *emulation = player->emulation;
    unsigned hosted = 0;

    PSD_TRY(psd_comm_open(&emulation->seat, &player->comm));
    player->arithmetic = (struct psd_arithmetic){psd_pacer_until, player->pacer};
    if (!emulation->real)
        PSD_TRY(psd_arithmetic_set(player->comm, &player->arithmetic));
    PSD_TRY(add_all(player));
    PSD_TRY(psd_comm_start(player->comm));
    player->worker = psd_comm_hosted(player->comm, &hosted)[0];
    if (emulation->ready)
        PSD_TRY(emulation->ready(emulation->context));
    return psd_comm_barrier(player->comm);
}

/* --- an iteration ------------------------------------------------------------------------------- */

static psd_status sync_param(struct player *player, size_t i)
{
    const struct psd_emulation *emulation = player->emulation;
    const struct psd_job *job = emulation->job;
    float *gradients = emulation->gradients;

    if (psd_job_follows(job, i))
        return PSD_OK;
    if (psd_job_is_factored(job, i))
        return psd_comm_sync_factors(player->comm, (int)i, player->worker, gradients, gradients,
                                     emulation->workload->batch);
    return psd_comm_sync(player->comm, (int)i, player->worker, gradients + player->offsets[i]);
}

static psd_status sync_layer(struct player *player, const struct psd_workload_layer *layer)
{
    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++)
        psd_pacer_allow(player->pacer, i);
    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++)
        PSD_TRY(sync_param(player, i));
    return PSD_OK;
}

static psd_status wait_for(struct player *player, size_t first, size_t count)
{
    uint64_t before = psd_clock_now();

    for (size_t i = first; i < first + count; i++)
        PSD_TRY(psd_comm_wait(player->comm, (int)i));
    if (psd_clock_now() - before > blink_ns)
        psd_pacer_stall(player->pacer);
    return PSD_OK;
}

/* The iteration begins when the values that its first layer needs, or all, are there. The library hears
 * of it before, so that it sees the order of waits from the first on. */
static psd_status begin(struct player *player, uint64_t iteration)
{
    const struct psd_workload *workload = player->emulation->workload;
    size_t count = player->emulation->no_overlap ? workload->n_params : workload->layers[0].params;

    PSD_TRY(psd_comm_begin(player->comm, iteration, rate));
    PSD_TRY(wait_for(player, 0, count));
    if (iteration == 0)
        psd_pacer_stall(player->pacer);
    player->begin_ns = psd_pacer_line(player->pacer);
    return PSD_OK;
}

static psd_status forward(struct player *player)
{
    const struct psd_workload *workload = player->emulation->workload;

    for (size_t i = 0; i < workload->n_layers; i++) {
        const struct psd_workload_layer *layer = &workload->layers[i];
        if (i > 0)
            PSD_TRY(wait_for(player, layer->first_param, layer->params));
        psd_pacer_layer(player->pacer, layer->forward_s);
    }
    return PSD_OK;
}

static psd_status backward(struct player *player)
{
    const struct psd_workload *workload = player->emulation->workload;
    bool no_overlap = player->emulation->no_overlap;

    for (size_t i = workload->n_layers; i > 0; i--) {
        psd_pacer_layer(player->pacer, workload->layers[i - 1].backward_s);
        if (!no_overlap)
            PSD_TRY(sync_layer(player, &workload->layers[i - 1]));
    }
    for (size_t i = workload->n_layers; no_overlap && i > 0; i--)
        PSD_TRY(sync_layer(player, &workload->layers[i - 1]));
    return PSD_OK;
}

/* --- many ---------------------------------------------------------------------------------------- */

/* What has been counted so far; with `sign` -1 it is taken away, with 1 added. */
static void count(struct player *player, double sign, struct psd_emulation_result *out)
{
    struct psd_comm_counters counters;

    psd_comm_count(player->comm, &counters);
    out->sent += sign * (double)counters.sent_bytes;
    out->worked_s += sign * psd_pacer_worked(player->pacer);
}

static psd_status iterate(struct player *player, struct psd_emulation_result *out)
{
    unsigned measured = player->emulation->iterations;
    struct psd_busy busy = {0};

    for (unsigned i = 0; i <= PSD_EMULATION_WARM + measured; i++) {
        uint64_t before = player->begin_ns;
        PSD_TRY(begin(player, i));
        if (i > PSD_EMULATION_WARM)
            out->times[i - PSD_EMULATION_WARM - 1] =
                (double)(player->begin_ns - before) / (double)PSD_CLOCK_S;
        if (i == PSD_EMULATION_WARM) {
            busy = psd_busy_read();
            count(player, -1, out);
        }
        if (i == PSD_EMULATION_WARM + measured)
            break;
        PSD_TRY(forward(player));
        PSD_TRY(backward(player));
    }
    psd_busy_add_since(&out->busy, &busy);
    count(player, 1, out);
    return wait_for(player, 0, player->emulation->workload->n_params);
}

static uint64_t digest_of(const float *values, size_t count)
{
    uint64_t digest = 14695981039346656037U;
    uint32_t bits;

    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, &values[i], sizeof bits);
        digest = (digest ^ bits) * 1099511628211U;
    }
    return digest;
}

static psd_status make_room(struct player *player)
{
    const struct psd_job *job = player->emulation->job;
    size_t values = 0;

    player->offsets = psd_alloc_zero(job->n_params, sizeof *player->offsets);
    if (!player->offsets)
        return PSD_ENOMEM;
    for (size_t i = 0; i < job->n_params; i++) {
        player->offsets[i] = values;
        values += psd_job_count(&job->params[i]);
    }
    player->values = psd_alloc(values * sizeof *player->values);
    if (!player->values)
        return PSD_ENOMEM;
    for (size_t i = 0; i < values; i++)
        player->values[i] = 0.5f; /* every page is there from the start */
    return psd_pacer_create(player->emulation->workload, &player->pacer);
}

static psd_status play(struct player *player, struct psd_emulation_result *out)
{
    PSD_TRY(make_room(player));
    PSD_TRY(take_seat(player));
    PSD_TRY(iterate(player, out));
    if (player->emulation->real)
        out->digest = digest_of(player->values, player->emulation->workload->values);
    return PSD_OK;
}

psd_status psd_emulation_run(const struct psd_emulation *emulation,
                             struct psd_emulation_result *out)
{
    struct player player = {.emulation = emulation};
    char sentence[2000];

    psd_status status = play(&player, out);
    snprintf(sentence, sizeof sentence, "%s", psd_error()); /* closing may fail, too */
    psd_comm_close(player.comm);
    psd_pacer_destroy(player.pacer);
    psd_alloc_free(player.values);
    psd_alloc_free(player.offsets);
    return status == PSD_OK ? PSD_OK : psd_fail(status, "%s", sentence);
}
