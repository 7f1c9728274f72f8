/* roster_params.c - parameters compared name by name, and the plan that is made of them. */
#include "base/alloc.h"
#include "base/status.h"
#include "comm/roster.h"

#include <string.h>

enum { LONGEST_NAME = 1024, LONGEST_TEXT = 16 << 20 };

psd_status psd_roster_pack_params(const struct psd_job *job, struct psd_pack *pack)
{
    psd_pack_u64(pack, job->n_params);
    for (size_t i = 0; i < job->n_params; i++) {
        const struct psd_job_param *param = &job->params[i];
        psd_pack_text(pack, param->name);
        psd_pack_u64(pack, param->rows);
        psd_pack_u64(pack, param->cols);
        psd_pack_f32(pack, param->rate);
        psd_pack_f32(pack, param->decay);
        psd_pack_u32(pack, param->factors);
        psd_pack_u32(pack, param->averaged);
        psd_pack_u32(pack, (uint32_t)(param->bias_of + 1));
        psd_pack_u32(pack, param->form);
        psd_pack_u32(pack, param->route);
    }
    return pack->status;
}

static bool same(float a, float b)
{
    uint32_t bits[2];

    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

/* Compares what is left of a parameter whose name is the same. */
static psd_status compare_rest(const struct psd_job_param *ours, unsigned from,
                               struct psd_unpack *bytes)
{
    uint64_t rows = psd_unpack_u64(bytes), cols = psd_unpack_u64(bytes);
    float rate = psd_unpack_f32(bytes), decay = psd_unpack_f32(bytes);
    uint32_t factors = psd_unpack_u32(bytes), averaged = psd_unpack_u32(bytes);
    uint32_t bias_of = psd_unpack_u32(bytes);
    uint32_t form = psd_unpack_u32(bytes), route = psd_unpack_u32(bytes);

    if (bytes->status != PSD_OK)
        return psd_unpack_end(bytes, from, "parameters");
    if (rows != ours->rows || cols != ours->cols)
        return psd_fail(PSD_EPEER, "rank %u has %s as %llu x %llu, rank 0 as %zu x %zu", from,
                        ours->name, (unsigned long long)rows, (unsigned long long)cols, ours->rows,
                        ours->cols);
    if (!same(rate, ours->rate) || !same(decay, ours->decay))
        return psd_fail(
            PSD_EPEER, "rank %u has %s with the multipliers %g and %g, rank 0 with %g and %g", from,
            ours->name, (double)rate, (double)decay, (double)ours->rate, (double)ours->decay);
    if (factors != ours->factors || bias_of != (uint32_t)(ours->bias_of + 1))
        return psd_fail(PSD_EPEER, "rank %u and rank 0 say differently whether %s has factors",
                        from, ours->name);
    if (averaged != ours->averaged)
        return psd_fail(PSD_EPEER, "rank %u and rank 0 say differently whether %s is averaged",
                        from, ours->name);
    if (form != ours->form || route != ours->route)
        return psd_fail(PSD_EPEER, "rank %u asks for another form or route of %s than rank 0", from,
                        ours->name);
    return PSD_OK;
}

static psd_status compare_named(const struct psd_job *job, size_t i, unsigned from,
                                struct psd_unpack *bytes)
{
    char *name = psd_unpack_text(bytes, LONGEST_NAME);
    psd_status status = PSD_OK;

    if (!name)
        return psd_unpack_end(bytes, from, "parameters");
    if (strcmp(name, job->params[i].name) != 0)
        status = psd_fail(PSD_EPEER, "rank %u has %s as parameter %zu, rank 0 has %s", from, name,
                          i, job->params[i].name);
    psd_alloc_free(name);
    return status != PSD_OK ? status : compare_rest(&job->params[i], from, bytes);
}

psd_status psd_roster_compare_params(const struct psd_job *job, unsigned from, const void *bytes,
                                     size_t length)
{
    struct psd_unpack unpack = {.at = bytes, .left = length};
    uint64_t count = psd_unpack_u64(&unpack);

    for (size_t i = 0; i < job->n_params && i < count; i++)
        PSD_TRY(compare_named(job, i, from, &unpack));
    if (unpack.status == PSD_OK && count != job->n_params)
        return psd_fail(PSD_EPEER, "rank %u has %llu parameters, rank 0 has %zu", from,
                        (unsigned long long)count, job->n_params);
    return psd_unpack_end(&unpack, from, "parameters");
}

psd_status psd_roster_pack_plan(const struct psd_job *job, const char *text, struct psd_pack *pack)
{
    for (size_t i = 0; i < job->n_params; i++) {
        psd_pack_u32(pack, job->params[i].form);
        psd_pack_u32(pack, job->params[i].route);
    }
    psd_pack_u64(pack, job->window);
    psd_pack_text(pack, text);
    return pack->status;
}

static bool is_route(const struct psd_job *job, uint32_t form, uint32_t route)
{
    if (form == PSD_FORM_DENSE)
        return route == PSD_ROUTE_SERVERS;
    if (form != PSD_FORM_FACTORED)
        return false;
    return route == PSD_ROUTE_LOCAL
               ? job->ranks == 1
               : route >= PSD_ROUTE_BROADCAST && route <= PSD_ROUTE_SINGLE_OWNER;
}

/* Whether the plan gives a parameter what it can have and asks for. The weight of a bias has been read
 * before it. */
static bool fits(const struct psd_job *job, size_t i, uint32_t form, uint32_t route)
{
    const struct psd_job_param *param = &job->params[i];
    const struct psd_job_param *weight = param->bias_of < 0 ? NULL : &job->params[param->bias_of];

    if (!is_route(job, form, route) || (param->form != PSD_FORM_AUTO && form != param->form) ||
        (param->route != PSD_ROUTE_AUTO && route != param->route))
        return false;
    if (weight && weight->form == PSD_FORM_FACTORED)
        return form == weight->form && route == weight->route;
    return form == PSD_FORM_DENSE || param->factors;
}

psd_status psd_roster_read_plan(struct psd_job *job, const void *bytes, size_t length, char **text)
{
    struct psd_unpack unpack = {.at = bytes, .left = length};

    for (size_t i = 0; i < job->n_params; i++) {
        uint32_t form = psd_unpack_u32(&unpack), route = psd_unpack_u32(&unpack);
        if (!fits(job, i, form, route))
            return psd_fail(PSD_EPEER, "rank 0 sends a plan that does not fit %s",
                            job->params[i].name);
        job->params[i].form = (enum psd_form)form;
        job->params[i].route = (enum psd_route)route;
    }
    job->window = (size_t)psd_unpack_u64(&unpack);
    char *read = psd_unpack_text(&unpack, LONGEST_TEXT);
    psd_status status = psd_unpack_end(&unpack, 0, "a plan");
    if (status == PSD_OK)
        *text = read;
    else
        psd_alloc_free(read);
    return status;
}
