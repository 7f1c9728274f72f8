/* spread.c - tap by tap from dy to dx. */
#include "ops/simd/spread.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ops/simd/simd.h"

/* A quarter more pixels to sweep than to spread is about what reading and writing dx costs. */
bool psd_simd_spread_suits(const struct psd_simd_sweep *s)
{
    return !psd_simd_sweep_pads(s) && 4 * s->height * s->width > 5 * s->out_height * s->out_width;
}

static void find_places(struct psd_simd_spread *spread, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct psd_simd_place *there = &spread->sweep->places[i];
        for (int quad = 0; quad < 2; quad++) {
            spread->places[i].from[quad] = there->to[quad];
            spread->places[i].to[quad] = there->from[quad];
        }
    }
}

psd_status psd_simd_spread_init(struct psd_simd_spread *spread, const struct psd_simd_sweep *s,
                                size_t groups)
{
    size_t count = s->whole_count + s->split_count;

    spread->sweep = s;
    spread->taps = s->kernel[0] * s->kernel[1];
    spread->columns = psd_simd_outer_columns(s->channels, s->whole_count, s->split_count);
    spread->pieces = psd_simd_pieces(s->channels, psd_simd_rows(spread->columns));
    spread->shift = psd_alloc(s->outputs * sizeof *spread->shift);
    spread->places = psd_alloc(count * sizeof *spread->places);
    spread->weights = psd_simd_floats(groups * s->outputs * s->steps);
    if (!spread->shift || !spread->places || !spread->weights)
        return PSD_ENOMEM;
    for (size_t o = 0; o < s->outputs; o++)
        spread->shift[o] = o * s->out_height * s->out_width;
    find_places(spread, count);
    return PSD_OK;
}

void psd_simd_spread_fini(struct psd_simd_spread *spread)
{
    psd_alloc_free(spread->shift);
    psd_alloc_free(spread->places);
    psd_alloc_free(spread->weights);
}

/* The weights of one piece and tap, for all outputs. */
static float *pack_tap(const struct psd_simd_spread *spread, const float *w, size_t first,
                       size_t end, float *to)
{
    for (size_t o = 0; o < spread->sweep->outputs; o++, w += spread->sweep->steps) {
        for (size_t c = first; c < end; c++)
            *to++ = w[c * spread->taps];
    }
    return to;
}

void psd_simd_spread_pack(struct psd_simd_spread *spread, size_t groups, const float *w)
{
    const struct psd_simd_sweep *s = spread->sweep;
    float *to = spread->weights;

    for (size_t g = 0; g < groups; g++, w += s->outputs * s->steps) {
        for (size_t i = 0; i < spread->pieces; i++) {
            size_t first = psd_simd_piece(s->channels, spread->pieces, i);
            size_t end = psd_simd_piece(s->channels, spread->pieces, i + 1);
            for (size_t tap = 0; tap < spread->taps; tap++)
                to = pack_tap(spread, w + tap, first, end, to);
        }
    }
}

/* The rows of a tile are channels with the same tap, so no two of its sums meet in one pixel. */
void psd_simd_spread_run(const struct psd_simd_spread *spread, size_t group, const float *dy,
                         float *dx)
{
    const struct psd_simd_sweep *s = spread->sweep;
    const float *weights = spread->weights + group * s->outputs * s->steps;

    for (size_t i = 0; i < spread->pieces; i++) {
        size_t first = psd_simd_piece(s->channels, spread->pieces, i);
        size_t rows = psd_simd_piece(s->channels, spread->pieces, i + 1) - first;
        float *channel = dx + first * s->plane;
        for (size_t tap = 0; tap < spread->taps; tap++, weights += s->outputs * rows) {
            struct psd_simd_outer job = {
                .scale = weights,
                .scale_step = rows,
                .from = dy,
                .shift = spread->shift,
                .steps = s->outputs,
                .to = channel + s->shift[tap],
                .to_step = s->plane,
                .adds = true,
            };
            psd_simd_outer(&job, rows, spread->columns, spread->places, s->whole_count, false);
            psd_simd_outer(&job, rows, spread->columns, spread->places + s->whole_count,
                           s->split_count, true);
        }
    }
}
