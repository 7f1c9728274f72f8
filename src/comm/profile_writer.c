/* profile_writer.c - a profile as lines, for its reader. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/quote.h"
#include "comm/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct decimal {
    char text[40];
};

/* A number with six digits behind the point, which is one in every language. */
static struct decimal decimal(double number)
{
    unsigned long long millionths = (unsigned long long)(number * 1e6 + 0.5);
    struct decimal out;

    snprintf(out.text, sizeof out.text, "%llu.%06llu", millionths / 1000000, millionths % 1000000);
    return out;
}

__attribute__((format(printf, 2, 3))) static void write_text(struct psd_file_writer *file,
                                                             const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    psd_file_write(file, text, strlen(text));
}

static bool needs_quotes(const char *name)
{
    bool plain = *name && *name != '#';

    for (; *name; name++)
        plain &= (unsigned char)*name > ' ' && *name != 127 && *name != '"';
    return !plain;
}

/* A line's first word, and a name of any length. */
static psd_status write_name(struct psd_file_writer *file, const char *word, const char *name)
{
    char *text = needs_quotes(name) ? psd_quote_write(name) : psd_alloc_text("%s", name);

    if (!text)
        return PSD_ENOMEM;
    write_text(file, "%s ", word);
    psd_file_write(file, text, strlen(text));
    psd_alloc_free(text);
    return PSD_OK;
}

static psd_status write_layer(struct psd_file_writer *file, const struct psd_profile_layer *layer)
{
    PSD_TRY(write_name(file, "layer", layer->name));
    write_text(file, " forward %s ms backward %s ms\n", decimal(layer->forward_s * 1e3).text,
               decimal(layer->backward_s * 1e3).text);
    return PSD_OK;
}

static psd_status write_model(struct psd_file_writer *file, const struct psd_profile_model *model)
{
    write_text(file, "\n");
    PSD_TRY(write_name(file, "model", model->name));
    write_text(file, " batch %zu", model->batch);
    if (model->rate > 0)
        write_text(file, " rate %s images/s", decimal(model->rate).text);
    write_text(file, "\n");
    for (size_t i = 0; i < model->n_layers; i++)
        PSD_TRY(write_layer(file, &model->layers[i]));
    return PSD_OK;
}

static psd_status write_all(struct psd_file_writer *file, const struct psd_profile *profile)
{
    write_text(file, "# a profile for poseidon plan and simulate: poseidon-profile(5)\n");
    PSD_TRY(write_name(file, "device", profile->device));
    write_text(file, "\nrebuild %s GFLOP/s\nupdate %s GB/s\nsum %s GB/s\n",
               decimal(profile->rebuild_flops / 1e9).text,
               decimal(profile->update_bytes_per_s / 1e9).text,
               decimal(profile->sum_bytes_per_s / 1e9).text);
    for (size_t i = 0; i < profile->n_models; i++)
        PSD_TRY(write_model(file, &profile->models[i]));
    return PSD_OK;
}

psd_status psd_profile_write(const struct psd_profile *profile, const char *path)
{
    struct psd_file_writer *file = NULL;

    PSD_TRY(psd_file_create(path, &file));
    psd_status status = write_all(file, profile);
    if (status == PSD_OK)
        return psd_file_commit(file);
    psd_file_abandon(file);
    return status;
}
