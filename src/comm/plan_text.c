/* plan_text.c - the plan as a table for people.
 *
 *     parameter  shape       form      route        M floats       ms   reason
 *     conv1[0]   96x363      dense     servers         0.131     0.11 * dense
 *     fc6[0]     4096x9216   factored  servers       113.246    90.64     (if dense)
 *                                      broadcast      12.779    10.22 p
 *                                      row-sharded    66.961    53.62 * fastest
 *
 * It is written twice: into nothing, to learn its length, and then into memory of that length. */
#include "base/alloc.h"
#include "comm/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_AND_SHAPE = 32 }; /* columns that are left for them when a line has 100 */

struct text {
    const struct psd_job *job;
    const struct psd_plan *plan;
    char *bytes; /* NULL: only the length is wanted */
    size_t size, length;
    int name_width, shape_width;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    char *to = text->bytes ? text->bytes + text->length : NULL;
    size_t room = text->bytes ? text->size - text->length : 0;
    va_list args;

    va_start(args, format);
    int written = vsnprintf(to, room, format, args);
    va_end(args);
    text->length += written > 0 ? (size_t)written : 0;
}

/* Eight columns, with as many digits behind the point as there is room for. */
static void put_number(struct text *text, double number)
{
    put(text, " %8.*f", number < 999 ? 3 : number < 99999 ? 1 : 0, number);
}

static int shape_of(const struct psd_job_param *param, char out[48])
{
    if (param->rows == 1)
        return snprintf(out, 48, "%zu", param->cols);
    return snprintf(out, 48, "%zux%zu", param->rows, param->cols);
}

static void measure(struct text *text)
{
    char shape[48];

    text->name_width = (int)strlen("parameter");
    text->shape_width = (int)strlen("shape");
    for (size_t i = 0; i < text->job->n_params; i++) {
        int name = (int)strlen(text->job->params[i].name);
        int width = shape_of(&text->job->params[i], shape);
        text->name_width = name > text->name_width ? name : text->name_width;
        text->shape_width = width > text->shape_width ? width : text->shape_width;
    }
    if (text->name_width > NAME_AND_SHAPE - text->shape_width)
        text->name_width = NAME_AND_SHAPE - text->shape_width;
}

static const char *form_of(const struct psd_job *job, size_t param)
{
    if (job->params[param].averaged)
        return "averaged";
    return psd_job_is_factored(job, param) ? "factored" : "dense";
}

/* What a parameter's first line begins with. Of a long name the end is shown: that is where names
 * differ. */
static void put_param(struct text *text, size_t param)
{
    const struct psd_job_param *one = &text->job->params[param];
    size_t length = strlen(one->name), width = (size_t)text->name_width;
    bool cut = length > width;
    char shape[48];

    shape_of(one, shape);
    put(text, "%s%-*s  %-*s  %-8s", cut ? ".." : "", text->name_width - (cut ? 2 : 0),
        cut ? one->name + length - width + 2 : one->name, text->shape_width, shape,
        form_of(text->job, param));
}

static void put_route(struct text *text, size_t param, enum psd_route route)
{
    const struct psd_plan_param *one = &text->plan->params[param];
    bool is_chosen = route == one->choice;

    put(text, "  %-12s", psd_plan_route_name(route));
    put_number(text, one->cost[route].floats / 1e6);
    put_number(text, one->cost[route].seconds * 1e3);
    if (is_chosen)
        put(text, "  * %s", one->reason);
    else if (route == one->paper)
        put(text, "  p");
    if (!is_chosen && !one->cost[route].possible)
        put(text, "%s(if %s)", route == one->paper ? " " : "    ",
            route == PSD_ROUTE_SERVERS ? "dense" : "factored");
    put(text, "\n");
}

/* What follows another parameter has no routes to compare, nor has one process. What has factors could
 * be of the other form. */
static bool is_shown(const struct text *text, size_t param, enum psd_route route)
{
    const struct psd_plan_param *one = &text->plan->params[param];

    if (psd_job_follows(text->job, param))
        return route == one->choice;
    if (route == one->choice || route == one->paper || one->cost[route].possible)
        return true;
    return text->job->params[param].factors && text->job->ranks > 1 && route != PSD_ROUTE_LOCAL;
}

static bool shows_other_form(const struct text *text)
{
    for (size_t i = 0; i < text->job->n_params; i++) {
        if (text->job->ranks > 1 && text->job->params[i].factors)
            return true;
    }
    return false;
}

static void put_routes(struct text *text, size_t param)
{
    int indent = text->name_width + text->shape_width + 12;
    bool first = true;

    for (enum psd_route route = PSD_ROUTE_SERVERS; route <= PSD_ROUTE_SINGLE_OWNER; route++) {
        if (!is_shown(text, param, route))
            continue;
        if (first)
            put_param(text, param);
        else
            put(text, "%*s", indent, "");
        put_route(text, param, route);
        first = false;
    }
}

static void put_totals(struct text *text)
{
    const struct psd_plan *plan = text->plan;
    double floats = 0;

    for (size_t i = 0; i < text->job->n_params; i++)
        floats += plan->params[i].cost[plan->params[i].choice].floats;
    put(text, "traffic    %.3f M floats across one member's link, both ways; %.3f MB up\n",
        floats / 1e6, plan->bytes / 1e6);
    put(text, "memory     %.3f MB for sums, factors, state and scratch on one member\n",
        (double)plan->memory / 1e6);
}

static void put_hosting(struct text *text)
{
    const struct psd_job *job = text->job;
    const struct psd_plan *plan = text->plan;

    put(text, "hosting    %u worker%s on %u member%s, %s: ", job->workers,
        job->workers > 1 ? "s" : "", job->ranks, job->ranks > 1 ? "s" : "",
        plan->aligned ? "no subtree is cut" : "subtrees are cut");
    if (plan->inputs_even == plan->inputs_aligned)
        put(text, "%u sum%s of a gradient\n", plan->inputs_even, plan->inputs_even > 1 ? "s" : "");
    else
        put(text, "%u sums of a gradient if even, %u if aligned\n", plan->inputs_even,
            plan->inputs_aligned);
    if (plan->even_s > 0)
        put(text, "           %s is taken; predicted are %.3f ms if even, %.3f ms if aligned%s\n",
            plan->hosting, plan->even_s * 1e3, plan->aligned_s * 1e3,
            plan->compute_s > 0 ? "" : ", computing aside");
}

static void put_prediction(struct text *text)
{
    const struct psd_plan *plan = text->plan;
    double speedup = psd_plan_speedup(text->job, plan);

    put(text, "iteration  %.3f ms predicted; %.3f ms with the paper's rule\n",
        plan->iteration_s * 1e3, plan->paper_s * 1e3);
    if (text->job->update.clip > 0)
        put(text, "clipping   %.3f ms of it, for the norms and the wait for all gradients\n",
            plan->clip_s * 1e3);
    if (speedup > 0)
        put(text, "speed-up   %.2f, %.1f %% of %u; one machine alone takes %.3f ms for its batch\n",
            speedup, 100 * speedup / text->job->ranks, text->job->ranks, plan->compute_s * 1e3);
    else
        put(text, "speed-up   not known: nothing is known of compute\n");
}

static void put_all(struct text *text)
{
    text->length = 0;
    put(text, "%-*s  %-*s  form      route        M floats       ms\n", text->name_width,
        "parameter", text->shape_width, "shape");
    for (size_t i = 0; i < text->job->n_params; i++)
        put_routes(text, i);
    put(text, "\n* is the choice, and p that of the paper's rule where it is another.\n");
    if (shows_other_form(text))
        put(text, "What stands in brackets would need another form than the job's.\n");
    put_totals(text);
    put_hosting(text);
    put_prediction(text);
}

char *psd_plan_text(const struct psd_job *job, const struct psd_plan *plan)
{
    struct text text = {.job = job, .plan = plan};

    measure(&text);
    put_all(&text);
    text.size = text.length + 1;
    text.bytes = psd_alloc(text.size);
    if (text.bytes)
        put_all(&text);
    return text.bytes;
}

const char *psd_plan_route_name(enum psd_route route)
{
    static const char *const names[PSD_PLAN_ROUTES] = {
        "auto", "servers", "broadcast", "row-sharded", "local", "single-owner",
    };

    return (unsigned)route < PSD_PLAN_ROUTES ? names[route] : "unknown";
}
