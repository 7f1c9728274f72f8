/* fc.c - fully connected layers: three products, with the weights where they are.
 *
 *     forward   y[row][o]  = sum over i    x[row][i]  * w[o][i]      dot: both run along i
 *     to x      dx[row][i] = sum over o    dy[row][o] * w[o][i]      outer: numbers of dy, vectors
 *     to w      dw[o][i]   = sum over row  dy[row][o] * x[row][i]    along i
 *
 * A task is a range of outputs forward and to w, and a range of inputs to x. */
#include "base/alloc.h"
#include "ops/simd/lanes.h"
#include "ops/simd/simd.h"
#include "ops/simd/tile.h"

enum {
    QUAD = 4,
    ROWS = 4,          /* of a tile, which has three columns */
    DOT_STEPS = 256,   /* forward, in one go: the tile's rows of w stay in the fastest cache */
    OUTER_STEPS = 128, /* to x: the strip of w that a tile's columns cut out stays there */
    STREAM_STEPS = 16  /* the same for a single piece of rows */
};

struct fc {
    size_t rows, inputs, outputs;
    size_t steps, tail; /* vectors of the inputs, and the lanes of one more */
    size_t *place;      /* owned; [steps + 1] */
    size_t *shift; /* owned; [rows or outputs, whichever are more]: from row to row of x or w */
    struct psd_simd_place *places; /* owned; the inputs: whole ones, and one split one for a tail */
    float *turned;                 /* owned; dy as [pieces][outputs][rows of the piece] */
    size_t output_pieces, row_pieces, strips;
    size_t output_tasks, strip_tasks;
    size_t outer_steps; /* to x: outputs in one go */
};

/* --- plan ------------------------------------------------------------------------------------*/

/* Many rows use a strip of w again and again. Few wait for it to come from memory: they read fewer rows
 * of w at a time, each of them a stream that the processor fetches ahead of. */
static size_t choose_outer_steps(size_t row_pieces)
{
    return row_pieces <= 2 ? row_pieces * STREAM_STEPS : OUTER_STEPS;
}

static void describe(const struct psd_op *op, struct fc *fc)
{
    const struct psd_fc_spec *s = &op->spec.fc;
    double flops = 2.0 * (double)(s->rows * s->inputs) * (double)s->outputs;

    *fc = (struct fc){
        .rows = s->rows,
        .inputs = s->inputs,
        .outputs = s->outputs,
        .steps = s->inputs / PSD_SIMD_LANES,
        .tail = s->inputs % PSD_SIMD_LANES,
        .output_pieces = psd_simd_pieces(s->outputs, ROWS),
        .row_pieces = psd_simd_pieces(s->rows, ROWS),
        .strips = psd_simd_pieces(s->inputs / PSD_SIMD_LANES, PSD_SIMD_COLUMNS),
    };
    fc->output_tasks = psd_simd_tasks(op, fc->output_pieces, flops);
    fc->strip_tasks = psd_simd_tasks(op, fc->strips, flops);
    fc->outer_steps = choose_outer_steps(fc->row_pieces);
}

static psd_status allocate(struct fc *fc)
{
    size_t most = fc->rows > fc->outputs ? fc->rows : fc->outputs;

    fc->place = psd_alloc((fc->steps + 1) * sizeof *fc->place);
    fc->shift = psd_alloc(most * sizeof *fc->shift);
    fc->places = psd_alloc((fc->steps + 1) * sizeof *fc->places);
    fc->turned = psd_simd_floats(fc->rows * fc->outputs);
    if (!fc->place || !fc->shift || !fc->places || !fc->turned)
        return PSD_ENOMEM;
    for (size_t i = 0; i < most; i++)
        fc->shift[i] = i * fc->inputs;
    for (size_t i = 0; i <= fc->steps; i++) {
        size_t at = i * PSD_SIMD_LANES, next = i < fc->steps ? at + QUAD : at;
        fc->place[i] = at;
        fc->places[i] = (struct psd_simd_place){{at, next}, {at, next}};
    }
    return PSD_OK;
}

static void destroy(struct fc *fc)
{
    psd_alloc_free(fc->place);
    psd_alloc_free(fc->shift);
    psd_alloc_free(fc->places);
    psd_alloc_free(fc->turned);
    psd_alloc_free(fc);
}

/* --- forward ---------------------------------------------------------------------------------*/

/* A call, as its tasks see it. */
struct call {
    const struct fc *fc;
    const float *x, *w, *b, *dy;
    float *y;
    struct psd_simd_diff dx, dw;
    size_t weight_tasks; /* 0: nobody wants dw */
};

/* Some outputs of all rows, from `steps` vectors of the inputs and perhaps the tail. */
static void forward_piece(const struct call *call, size_t first, size_t count, size_t step,
                          size_t steps)
{
    const struct fc *fc = call->fc;
    size_t pieces = psd_simd_pieces(fc->rows, PSD_SIMD_COLUMNS);
    struct psd_simd_dot job = {
        .a = call->w + first * fc->inputs + step * PSD_SIMD_LANES,
        .a_row = fc->inputs,
        .a_step = PSD_SIMD_LANES,
        .b = call->x,
        .place = fc->place + step,
        .steps = steps,
        .tail = step + steps == fc->steps ? fc->tail : 0,
        .to_step = fc->outputs,
        .start = call->b ? call->b + first : NULL,
        .adds = step > 0,
    };

    for (size_t i = 0; i < pieces; i++) {
        size_t row = psd_simd_piece(fc->rows, pieces, i);
        job.to = call->y + row * fc->outputs + first;
        psd_simd_dot(&job, count, fc->shift + row, psd_simd_piece(fc->rows, pieces, i + 1) - row);
    }
}

static psd_status forward_task(void *arg, size_t task)
{
    const struct call *call = arg;
    const struct fc *fc = call->fc;
    size_t begin = psd_simd_piece(fc->output_pieces, fc->output_tasks, task);
    size_t end = psd_simd_piece(fc->output_pieces, fc->output_tasks, task + 1);

    for (size_t i = begin; i < end; i++) {
        size_t first = psd_simd_piece(fc->outputs, fc->output_pieces, i);
        size_t count = psd_simd_piece(fc->outputs, fc->output_pieces, i + 1) - first;
        size_t step = 0;
        do {
            size_t left = fc->steps - step, steps = left < DOT_STEPS ? left : DOT_STEPS;
            forward_piece(call, first, count, step, steps);
            step += steps;
        } while (step < fc->steps);
    }
    return PSD_OK;
}

static psd_status forward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct fc *fc = op->plan;
    struct call call = {
        .fc = fc,
        .x = psd_tensor_host(values->in[0]),
        .w = psd_tensor_host(values->in[1]),
        .b = psd_tensor_host(values->in[2]),
        .y = psd_tensor_host(values->out[0]),
    };

    return psd_pool_each(psd_ops_pool(op->ops), fc->output_tasks, forward_task, &call);
}

/* --- backward --------------------------------------------------------------------------------*/

static void turn(const struct fc *fc, const float *dy)
{
    float *to = fc->turned;

    for (size_t i = 0; i < fc->row_pieces; i++) {
        size_t first = psd_simd_piece(fc->rows, fc->row_pieces, i);
        size_t end = psd_simd_piece(fc->rows, fc->row_pieces, i + 1);
        for (size_t o = 0; o < fc->outputs; o++) {
            for (size_t row = first; row < end; row++)
                *to++ = dy[row * fc->outputs + o];
        }
    }
}

/* dx of all rows at some places, from some outputs. */
static void inputs_piece(const struct call *call, const struct psd_simd_place *places, size_t count,
                         bool split, size_t output, size_t outputs)
{
    const struct fc *fc = call->fc;

    for (size_t i = 0; i < fc->row_pieces; i++) {
        size_t row = psd_simd_piece(fc->rows, fc->row_pieces, i);
        size_t rows = psd_simd_piece(fc->rows, fc->row_pieces, i + 1) - row;
        struct psd_simd_outer job = {
            .scale = fc->turned + row * fc->outputs + output * rows,
            .scale_step = rows,
            .from = call->w,
            .shift = fc->shift + output,
            .steps = outputs,
            .to = call->dx.to + row * fc->inputs,
            .to_step = fc->inputs,
            .adds = call->dx.adds || output > 0,
        };
        psd_simd_outer(&job, rows, PSD_SIMD_COLUMNS, places, count, split);
    }
}

/* The last task has the tail as well. */
static void inputs_task(const struct call *call, size_t task)
{
    const struct fc *fc = call->fc;
    size_t begin = psd_simd_piece(fc->strips, fc->strip_tasks, task);
    size_t end = psd_simd_piece(fc->strips, fc->strip_tasks, task + 1);

    for (size_t output = 0; output < fc->outputs; output += fc->outer_steps) {
        size_t left = fc->outputs - output;
        size_t outputs = left < fc->outer_steps ? left : fc->outer_steps;
        for (size_t i = begin; i < end; i++) {
            size_t first = psd_simd_piece(fc->steps, fc->strips, i);
            size_t count = psd_simd_piece(fc->steps, fc->strips, i + 1) - first;
            inputs_piece(call, fc->places + first, count, false, output, outputs);
        }
        if (fc->tail && task == fc->strip_tasks - 1)
            inputs_piece(call, fc->places + fc->steps, 1, true, output, outputs);
    }
}

static void weights_task(const struct call *call, size_t task)
{
    const struct fc *fc = call->fc;
    size_t begin = psd_simd_piece(fc->output_pieces, fc->output_tasks, task);
    size_t end = psd_simd_piece(fc->output_pieces, fc->output_tasks, task + 1);

    for (size_t i = begin; i < end; i++) {
        size_t first = psd_simd_piece(fc->outputs, fc->output_pieces, i);
        size_t count = psd_simd_piece(fc->outputs, fc->output_pieces, i + 1) - first;
        struct psd_simd_outer job = {
            .scale = call->dy + first,
            .scale_step = fc->outputs,
            .from = call->x,
            .shift = fc->shift,
            .steps = fc->rows,
            .to = call->dw.to + first * fc->inputs,
            .to_step = fc->inputs,
            .adds = call->dw.adds,
        };
        psd_simd_outer(&job, count, PSD_SIMD_COLUMNS, fc->places, fc->steps, false);
        psd_simd_outer(&job, count, PSD_SIMD_COLUMNS, fc->places + fc->steps, fc->tail ? 1 : 0,
                       true);
    }
}

static psd_status backward_task(void *arg, size_t task)
{
    const struct call *call = arg;

    if (task < call->weight_tasks)
        weights_task(call, task);
    else
        inputs_task(call, task - call->weight_tasks);
    return PSD_OK;
}

PSD_SIMD static void add_rows(const struct fc *fc, const float *dy, struct psd_simd_diff db)
{
    for (size_t o = 0; o < fc->outputs; o += PSD_SIMD_LANES) {
        __m256i mask =
            psd_simd_mask(fc->outputs - o < PSD_SIMD_LANES ? fc->outputs - o : PSD_SIMD_LANES);
        __m256 sum = db.adds ? _mm256_maskload_ps(db.to + o, mask) : _mm256_setzero_ps();
        for (size_t row = 0; row < fc->rows; row++)
            sum = _mm256_add_ps(sum, _mm256_maskload_ps(dy + row * fc->outputs + o, mask));
        _mm256_maskstore_ps(db.to + o, mask, sum);
    }
}

static psd_status backward(struct psd_op *op, const struct psd_op_values *values)
{
    const struct fc *fc = op->plan;
    struct psd_simd_diff db = psd_simd_diff(values, 2);
    struct call call = {
        .fc = fc,
        .x = psd_tensor_host(values->in[0]),
        .w = psd_tensor_host(values->in[1]),
        .dy = psd_tensor_host(values->out_diff[0]),
        .dx = psd_simd_diff(values, 0),
        .dw = psd_simd_diff(values, 1),
    };

    if (db.to)
        add_rows(fc, call.dy, db);
    if (call.dx.to)
        turn(fc, call.dy);
    call.weight_tasks = call.dw.to ? fc->output_tasks : 0;
    return psd_pool_each(psd_ops_pool(op->ops),
                         call.weight_tasks + (call.dx.to ? fc->strip_tasks : 0), backward_task,
                         &call);
}

static void drop(struct psd_op *op)
{
    destroy(op->plan);
}

static const struct psd_op_code code = {.forward = forward, .backward = backward, .drop = drop};

/* Inputs come in quads; weights the other way round are left to others. */
psd_status psd_simd_plan_fc(struct psd_op *op)
{
    if (op->spec.fc.transpose || op->spec.fc.inputs % QUAD || op->spec.fc.inputs < PSD_SIMD_LANES)
        return PSD_ENOSUP;
    struct fc *fc = psd_alloc_zero(1, sizeof *fc);
    if (!fc)
        return PSD_ENOMEM;
    describe(op, fc);
    psd_status status = allocate(fc);
    if (status != PSD_OK) {
        destroy(fc);
        return status;
    }
    op->code = &code;
    op->plan = fc;
    return PSD_OK;
}
