/* sweep.c - tables for an image's way through a window, and the way itself. */
#include "ops/simd/sweep.h"
#include "base/alloc.h"
#include "ops/simd/simd.h"

#include <string.h>

enum { QUAD = 4 };

/* --- places ----------------------------------------------------------------------------------*/

static void add_place(struct psd_simd_sweep *s, size_t *count, size_t y, const size_t x[2],
                      const size_t below[2])
{
    struct psd_simd_place *place = &s->places[(*count)++];

    for (int i = 0; i < 2; i++) {
        place->from[i] = (y + below[i]) * s->padded[1] + x[i];
        place->to[i] = (y + below[i]) * s->out_width + x[i];
    }
}

/* A row is cut into quads from left to right:
 *
 *     whole   [0..3][4..7]                     as many pairs as there are
 *     lone    [8..11]                          joins that of the next row to one split place
 *     last    [9..12] over what is left        goes with the quad before it, which it overlaps: so
 *                                              both are computed from the same old values
 *
 * The order of places is whole ones of all rows, then split ones. */
static void find_places(struct psd_simd_sweep *s, bool split)
{
    static const size_t same_row[2] = {0, 0}, next_row[2] = {0, 1};
    size_t quads = s->out_width / QUAD, rest = s->out_width % QUAD;
    size_t free = rest ? quads - 1 : quads; /* quads not bound to the last one */
    size_t lone = (free - free % 2) * QUAD, last = s->out_width - QUAD;
    size_t *count = split ? &s->split_count : &s->whole_count;
    size_t before = split ? s->whole_count : 0, total = before;

    for (size_t y = 0; y < s->out_height; y++) {
        for (size_t q = 0; !split && q + 1 < free; q += 2)
            add_place(s, &total, y, (size_t[]){q * QUAD, (q + 1) * QUAD}, same_row);
        if (split && free % 2 && y % 2 == 0)
            add_place(s, &total, y, (size_t[]){lone, lone},
                      y + 1 < s->out_height ? next_row : same_row);
        if (split && rest)
            add_place(s, &total, y, (size_t[]){free * QUAD, last}, same_row);
    }
    *count = total - before;
}

/* --- init and fini ---------------------------------------------------------------------------*/

static void find_shifts(struct psd_simd_sweep *s)
{
    size_t *shift = s->shift;

    for (size_t c = 0; c < s->channels; c++) {
        for (size_t h = 0; h < s->kernel[0]; h++) {
            for (size_t w = 0; w < s->kernel[1]; w++)
                *shift++ = c * s->plane + h * s->dilation[0] * s->padded[1] + w * s->dilation[1];
        }
    }
}

/* A window of one pixel sees an image as one long row. */
static void flatten(struct psd_simd_sweep *s)
{
    if (s->kernel[0] * s->kernel[1] > 1 || s->pad[0] || s->pad[1])
        return;
    s->width *= s->height;
    s->out_width *= s->out_height;
    s->height = s->out_height = 1;
}

/* An odd number of cache lines, so that the same pixel of many channels is not always looked for in
 * the same few places of a cache. */
static size_t spread(size_t plane)
{
    const size_t line = PSD_SIMD_ALIGNMENT / sizeof(float), lines = psd_simd_pieces(plane, line);

    return (lines | 1) * line;
}

psd_status psd_simd_sweep_init(struct psd_simd_sweep *s, size_t groups)
{
    flatten(s);
    if (s->out_width < QUAD)
        return PSD_ENOSUP;
    s->padded[0] = s->out_height + (s->kernel[0] - 1) * s->dilation[0];
    s->padded[1] = s->out_width + (s->kernel[1] - 1) * s->dilation[1];
    s->plane = s->padded[0] * s->padded[1];
    if (psd_simd_sweep_pads(s))
        s->plane = spread(s->plane);
    s->steps = s->channels * s->kernel[0] * s->kernel[1];
    s->shift = psd_alloc(s->steps * sizeof *s->shift);
    s->places = psd_alloc((s->out_width / QUAD + 1) * s->out_height * sizeof *s->places);
    s->weights = psd_simd_floats(groups * s->outputs * s->steps);
    if (!s->shift || !s->places || !s->weights)
        return PSD_ENOMEM;
    find_shifts(s);
    find_places(s, false);
    find_places(s, true);
    s->columns = psd_simd_outer_columns(s->outputs, s->whole_count, s->split_count);
    s->pieces = psd_simd_pieces(s->outputs, psd_simd_rows(s->columns));
    return PSD_OK;
}

void psd_simd_sweep_fini(struct psd_simd_sweep *s)
{
    psd_alloc_free(s->shift);
    psd_alloc_free(s->places);
    psd_alloc_free(s->weights);
}

/* --- images and weights ----------------------------------------------------------------------*/

bool psd_simd_sweep_pads(const struct psd_simd_sweep *s)
{
    return s->padded[0] != s->height || s->padded[1] != s->width;
}

void psd_simd_sweep_pad(const struct psd_simd_sweep *s, size_t channels, const float *image,
                        float *padded)
{
    padded += s->pad[0] * s->padded[1] + s->pad[1];
    for (size_t c = 0; c < channels; c++, padded += s->plane) {
        for (size_t h = 0; h < s->height; h++, image += s->width)
            memcpy(padded + h * s->padded[1], image, s->width * sizeof *image);
    }
}

void psd_simd_sweep_pack(struct psd_simd_sweep *s, size_t groups, const float *w)
{
    float *to = s->weights;

    for (size_t g = 0; g < groups; g++, w += s->outputs * s->steps) {
        for (size_t i = 0; i < s->pieces; i++) {
            size_t first = psd_simd_piece(s->outputs, s->pieces, i);
            size_t end = psd_simd_piece(s->outputs, s->pieces, i + 1);
            for (size_t step = 0; step < s->steps; step++) {
                for (size_t o = first; o < end; o++)
                    *to++ = w[o * s->steps + step];
            }
        }
    }
}

/* One channel of a piece, its taps from the last to the first. Returns where the next one goes. */
static float *pack_turned_channel(const float *w, size_t taps, size_t outputs, float *to)
{
    for (size_t tap = taps; tap-- > 0;) {
        for (size_t o = 0; o < outputs; o++)
            *to++ = w[o * taps + tap];
    }
    return to;
}

void psd_simd_sweep_pack_turned(struct psd_simd_sweep *s, size_t groups, const float *w)
{
    size_t taps = s->kernel[0] * s->kernel[1];
    float *to = s->weights;

    for (size_t g = 0; g < groups; g++, w += s->channels * s->outputs * taps) {
        for (size_t i = 0; i < s->pieces; i++) {
            size_t first = psd_simd_piece(s->outputs, s->pieces, i);
            size_t count = psd_simd_piece(s->outputs, s->pieces, i + 1) - first;
            for (size_t channel = 0; channel < s->channels; channel++)
                to =
                    pack_turned_channel(w + (channel * s->outputs + first) * taps, taps, count, to);
        }
    }
}

void psd_simd_sweep_run(const struct psd_simd_sweep *s, size_t group, const float *padded,
                        const float *start, bool adds, float *result)
{
    const float *weights = s->weights + group * s->outputs * s->steps;
    size_t out_plane = s->out_height * s->out_width;

    for (size_t i = 0; i < s->pieces; i++) {
        size_t first = psd_simd_piece(s->outputs, s->pieces, i);
        size_t rows = psd_simd_piece(s->outputs, s->pieces, i + 1) - first;
        float *to = result + first * out_plane;
        struct psd_simd_outer job = {
            .scale = weights + first * s->steps,
            .scale_step = rows,
            .from = padded,
            .shift = s->shift,
            .steps = s->steps,
            .to = to,
            .to_step = out_plane,
            .start = start ? start + first : NULL,
            .adds = adds,
        };
        psd_simd_outer(&job, rows, s->columns, s->places, s->whole_count, false);
        psd_simd_outer(&job, rows, s->columns, s->places + s->whole_count, s->split_count, true);
    }
}
