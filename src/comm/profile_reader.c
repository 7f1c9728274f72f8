/* profile_reader.c - a profile from its lines. */
#include "base/alloc.h"
#include "base/forms.h"
#include "comm/profile.h"

enum { MOST_BATCH = 1 << 24 };

/* A day for a layer and an exaflop are more than anything we know. */
static const double most_ms = 1e8, most_giga = 1e9, most_rate = 1e9, least = 1e-6;

/* --- lines ------------------------------------------------------------------------------------ */

static psd_status read_device(void *context, const struct psd_line *line)
{
    struct psd_profile *profile = context;
    char *copy = psd_alloc_text("%s", line->word[1]);

    if (!copy)
        return PSD_ENOMEM;
    psd_alloc_free(profile->device);
    profile->device = copy;
    return PSD_OK;
}

static psd_status read_speed(const struct psd_line *line, double *out)
{
    double giga;

    PSD_TRY(psd_line_number(line, 1, least, most_giga, &giga));
    *out = giga * 1e9;
    return PSD_OK;
}

static psd_status read_rebuild(void *context, const struct psd_line *line)
{
    return read_speed(line, &((struct psd_profile *)context)->rebuild_flops);
}

static psd_status read_update(void *context, const struct psd_line *line)
{
    return read_speed(line, &((struct psd_profile *)context)->update_bytes_per_s);
}

static psd_status read_sum(void *context, const struct psd_line *line)
{
    return read_speed(line, &((struct psd_profile *)context)->sum_bytes_per_s);
}

static psd_status read_model(void *context, const struct psd_line *line)
{
    size_t batch;
    double rate = 0;

    if (psd_profile_find(context, line->word[1]))
        return psd_fail(PSD_ECONFIG, "the model \"%.100s\" is there already", line->word[1]);
    PSD_TRY(psd_line_count(line, 3, MOST_BATCH, &batch));
    if (line->words > 4)
        PSD_TRY(psd_line_number(line, 5, least, most_rate, &rate));
    return psd_profile_add_model(context, line->word[1], batch, rate);
}

static psd_status read_layer(void *context, const struct psd_line *line)
{
    struct psd_profile *profile = context;
    double forward_ms, backward_ms;

    if (!profile->n_models || profile->models[profile->n_models - 1].rate > 0)
        return psd_fail(PSD_ECONFIG, "before its layers stands the line: model NAME batch N");
    PSD_TRY(psd_line_number(line, 3, 0, most_ms, &forward_ms));
    PSD_TRY(psd_line_number(line, 6, 0, most_ms, &backward_ms));
    return psd_profile_add_layer(profile, line->word[1], forward_ms / 1e3, backward_ms / 1e3);
}

static const struct psd_forms_line forms[] = {
    {"device", "NAME", read_device},
    {"rebuild", "N GFLOP/s", read_rebuild},
    {"update", "N GB/s", read_update},
    {"sum", "N GB/s", read_sum},
    {"model", "NAME batch N", read_model},
    {"model", "NAME batch N rate N images/s", read_model},
    {"layer", "NAME forward N ms backward N ms", read_layer},
    {0},
};

static psd_status read_line(void *context, const struct psd_line *line)
{
    return psd_forms_read(forms, line, context);
}

/* --- files ------------------------------------------------------------------------------------ */

static psd_status check_complete(const struct psd_profile *profile)
{
    const struct {
        bool there;
        const char *line;
    } needed[] = {
        {*profile->device, "device NAME"},
        {profile->rebuild_flops > 0, "rebuild N GFLOP/s"},
        {profile->update_bytes_per_s > 0, "update N GB/s"},
        {profile->sum_bytes_per_s > 0, "sum N GB/s"},
    };

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!needed[i].there)
            return psd_fail(PSD_ECONFIG, "%s has no line: %s", profile->source, needed[i].line);
    }
    return PSD_OK;
}

/* Takes the profile that was filled in, and how that went. */
static psd_status finish(struct psd_profile *profile, psd_status status, struct psd_profile **out)
{
    if (status == PSD_OK)
        status = check_complete(profile);
    if (status == PSD_OK)
        *out = profile;
    else
        psd_profile_destroy(profile);
    return status;
}

psd_status psd_profile_read(const char *path, struct psd_profile **out)
{
    struct psd_profile *profile = NULL;

    PSD_TRY(psd_profile_create(path, "", &profile));
    return finish(profile, psd_lines_read(path, read_line, profile), out);
}

psd_status psd_profile_parse(const char *name, const char *bytes, size_t size,
                             struct psd_profile **out)
{
    struct psd_profile *profile = NULL;

    PSD_TRY(psd_profile_create(name, "", &profile));
    return finish(profile, psd_lines_parse(name, bytes, size, read_line, profile), out);
}
