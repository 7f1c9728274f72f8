/* conv_weights.c - the gradient of a convolution to its weights: dot products of dy and x.
 *
 *     dw[o][tap] = sum over images and pixels p:  dy[o][p] * x[p + shift of tap]
 *
 *                     taps 0 1 2   3 4 5   ...
 *     outputs 0..3        unit 0  unit 1               a unit is one tile; its sums of one block of
 *     outputs 4..7        unit 9  ...                  images are added to those of the last
 *
 * Tasks share out units, not images: no two add to the same weight. */
#include "base/alloc.h"
#include "ops/simd/conv.h"
#include "ops/simd/lanes.h"

#include <string.h>

/* --- plan ------------------------------------------------------------------------------------*/

/* Rows of a unit's tile. */
static const size_t unit_rows = 4;

/* Images of a block: enough steps to make up for adding lanes at its end, but no more than lets
 * dy and a plane of x stay in the fastest cache. */
static size_t choose_block(const struct psd_simd_conv *conv)
{
    enum { STEPS = 120, FLOATS = 6144 };
    size_t steps = conv->weights.steps, wanted = STEPS / steps;
    size_t most = FLOATS / (unit_rows * PSD_SIMD_LANES * steps + conv->forward.plane);
    size_t block = most < wanted ? most : wanted;

    return block < 1 ? 1 : block < conv->batch ? block : conv->batch;
}

static void find_places(const struct psd_simd_conv *conv)
{
    const struct psd_simd_conv_weights *w = &conv->weights;

    for (size_t i = 0; i < w->block * w->steps; i++) {
        size_t image = i / w->steps, row = i % w->steps / w->vectors, vector = i % w->vectors;
        w->place[i] =
            image * conv->padded_image + row * conv->forward.padded[1] + vector * PSD_SIMD_LANES;
    }
}

static void find_units(const struct psd_simd_conv *conv, size_t row_pieces, size_t column_pieces)
{
    struct psd_simd_conv_unit *unit = conv->weights.units;
    size_t outputs = conv->forward.outputs, taps = conv->forward.steps;

    for (size_t i = 0; i < conv->groups * row_pieces; i++) {
        size_t piece = i % row_pieces, first = psd_simd_piece(outputs, row_pieces, piece);
        for (size_t j = 0; j < column_pieces; j++, unit++) {
            unit->group = i / row_pieces;
            unit->output = unit->group * outputs + first;
            unit->rows = psd_simd_piece(outputs, row_pieces, piece + 1) - first;
            unit->tap = psd_simd_piece(taps, column_pieces, j);
            unit->columns = psd_simd_piece(taps, column_pieces, j + 1) - unit->tap;
        }
    }
}

static psd_status allocate(struct psd_simd_conv *conv)
{
    struct psd_simd_conv_weights *w = &conv->weights;
    size_t steps = w->block * w->steps;

    w->packed_size = steps * unit_rows * PSD_SIMD_LANES;
    w->packed = psd_simd_zero_floats(w->tasks * w->packed_size);
    w->place = psd_alloc(steps * sizeof *w->place);
    w->still = psd_alloc_zero(steps, sizeof *w->still);
    w->units = psd_alloc(w->unit_count * sizeof *w->units);
    w->sums = psd_simd_floats(conv->forward.steps * w->outputs);
    w->bias = psd_simd_floats(w->outputs);
    return w->packed && w->place && w->still && w->units && w->sums && w->bias ? PSD_OK
                                                                               : PSD_ENOMEM;
}

psd_status psd_simd_conv_weights_init(struct psd_op *op, struct psd_simd_conv *conv)
{
    struct psd_simd_conv_weights *w = &conv->weights;
    const struct psd_simd_sweep *s = &conv->forward;
    size_t row_pieces = psd_simd_pieces(s->outputs, unit_rows);
    size_t column_pieces = psd_simd_pieces(s->steps, PSD_SIMD_COLUMNS);

    w->outputs = conv->groups * s->outputs;
    w->vectors = psd_simd_pieces(s->out_width, PSD_SIMD_LANES);
    w->steps = s->out_height * w->vectors;
    w->block = choose_block(conv);
    w->unit_count = conv->groups * row_pieces * column_pieces;
    w->tasks = psd_simd_tasks(op, w->unit_count,
                              2.0 * (double)(conv->batch * conv->result) * (double)s->steps);
    PSD_TRY(allocate(conv));
    find_places(conv);
    find_units(conv, row_pieces, column_pieces);
    return PSD_OK;
}

void psd_simd_conv_weights_fini(struct psd_simd_conv_weights *w)
{
    psd_alloc_free(w->packed);
    psd_alloc_free(w->place);
    psd_alloc_free(w->still);
    psd_alloc_free(w->units);
    psd_alloc_free(w->sums);
    psd_alloc_free(w->bias);
}

/* --- work ------------------------------------------------------------------------------------*/

/* A row of dy in vectors; those of the tile's other rows lie in between. */
PSD_SIMD static void pack_row(const float *dy, size_t width, size_t step, float *to)
{
    for (; width >= PSD_SIMD_LANES; width -= PSD_SIMD_LANES) {
        _mm256_store_ps(to, _mm256_loadu_ps(dy));
        dy += PSD_SIMD_LANES;
        to += step;
    }
    if (width)
        _mm256_store_ps(to, _mm256_maskload_ps(dy, psd_simd_mask(width)));
}

/* dy of a unit's outputs in `count` images, as its tile reads it. */
static void pack(const struct psd_simd_conv *conv, const struct psd_simd_conv_unit *unit,
                 const float *dy, size_t count, float *to)
{
    const struct psd_simd_conv_weights *w = &conv->weights;
    size_t width = conv->forward.out_width, height = conv->forward.out_height;
    size_t step = unit->rows * PSD_SIMD_LANES;

    for (size_t n = 0; n < count; n++, dy += conv->result) {
        for (size_t t = 0; t < unit->rows; t++) {
            const float *from = dy + (unit->output + t) * height * width;
            float *first = to + n * w->steps * step + t * PSD_SIMD_LANES;
            for (size_t h = 0; h < height; h++)
                pack_row(from + h * width, width, step, first + h * w->vectors * step);
        }
    }
}

/* A unit's sums, column by column: units that are neighbours in dw are neighbours here. */
static float *sums_of(const struct psd_simd_conv *conv, const struct psd_simd_conv_unit *unit)
{
    return conv->weights.sums + unit->output * conv->forward.steps + unit->tap * unit->rows;
}

/* A unit's part of `count` images. The unit with the first tap adds up dy as well, as the dot
 * product with ones. */
static void run_unit(const struct psd_simd_conv *conv, const struct psd_simd_conv_unit *unit,
                     const float *x, const float *packed, size_t count, bool adds)
{
    static const float ones[PSD_SIMD_LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const size_t no_shift = 0;
    const struct psd_simd_conv_weights *w = &conv->weights;
    struct psd_simd_dot job = {
        .a = packed,
        .a_row = PSD_SIMD_LANES,
        .a_step = unit->rows * PSD_SIMD_LANES,
        .b = x + unit->group * conv->forward.channels * conv->forward.plane,
        .place = w->place,
        .steps = count * w->steps,
        .to = sums_of(conv, unit),
        .to_step = unit->rows,
        .adds = adds,
    };

    psd_simd_dot(&job, unit->rows, conv->forward.shift + unit->tap, unit->columns);
    if (unit->tap > 0)
        return;
    job.b = ones;
    job.place = w->still;
    job.to = w->bias + unit->output;
    psd_simd_dot(&job, unit->rows, &no_shift, 1);
}

static void put(struct psd_simd_diff diff, size_t i, float value)
{
    diff.to[i] = diff.adds ? diff.to[i] + value : value;
}

/* From the order of tiles to that of weights. */
static void finish_unit(const struct psd_simd_conv *conv, const struct psd_simd_conv_unit *unit,
                        struct psd_simd_diff dw, struct psd_simd_diff db)
{
    const float *sums = sums_of(conv, unit);

    for (size_t t = 0; t < unit->rows; t++) {
        size_t o = unit->output + t;
        for (size_t i = 0; dw.to && i < unit->columns; i++)
            put(dw, o * conv->forward.steps + unit->tap + i, sums[i * unit->rows + t]);
        if (db.to && unit->tap == 0)
            put(db, o, conv->weights.bias[o]);
    }
}

void psd_simd_conv_weights_run(const struct psd_simd_conv *conv, size_t task, const float *x,
                               const float *dy, struct psd_simd_diff dw, struct psd_simd_diff db)
{
    const struct psd_simd_conv_weights *w = &conv->weights;
    const struct psd_simd_conv_unit *unit;
    const struct psd_simd_conv_unit *begin =
        w->units + psd_simd_piece(w->unit_count, w->tasks, task);
    const struct psd_simd_conv_unit *end =
        w->units + psd_simd_piece(w->unit_count, w->tasks, task + 1);
    float *packed = w->packed + task * w->packed_size;

    for (size_t first = 0; first < conv->batch; first += w->block) {
        size_t left = conv->batch - first, count = left < w->block ? left : w->block;
        for (unit = begin; unit < end; unit++) {
            if (unit == begin || unit->output != unit[-1].output)
                pack(conv, unit, dy + first * conv->result, count, packed);
            run_unit(conv, unit, x + first * conv->padded_image, packed, count, first > 0);
        }
    }
    for (unit = begin; unit < end; unit++)
        finish_unit(conv, unit, dw, db);
}
