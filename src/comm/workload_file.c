/* workload_file.c - a line is a layer, or a parameter of the layer before it. */
#include "comm/workload_file.h"
#include "base/alloc.h"
#include "base/forms.h"
#include "base/map.h"

#include <string.h>

enum { MOST = 1 << 30, MOST_SIZE = 1 << 10, MOST_BATCH = 1 << 24 };

struct reader {
    struct psd_workload *workload; /* owned; NULL before the line `model` */
    struct psd_map layers, params; /* names that are taken */
    bool lost;                     /* without that line no other makes sense */
};

/* --- names ------------------------------------------------------------------------------------ */

static psd_status check_free(const struct psd_map *names, const char *what, const char *name)
{
    size_t place;

    if (psd_map_find(names, name, &place))
        return psd_fail(PSD_ECONFIG, "%s \"%.100s\" is there already; give this one another name",
                        what, name);
    return PSD_OK;
}

static psd_status add_layer(struct reader *reader, const char *name, double macs)
{
    struct psd_workload *workload = reader->workload;

    if (macs > PSD_WORKLOAD_MACS)
        return psd_fail(PSD_ECONFIG, "layer \"%.100s\" has more than %g multiply-adds", name,
                        PSD_WORKLOAD_MACS);
    PSD_TRY(check_free(&reader->layers, "layer", name));
    PSD_TRY(psd_workload_add_layer(workload, name, macs));
    return psd_map_put(&reader->layers, workload->layers[workload->n_layers - 1].name, 0);
}

static psd_status add_param(struct reader *reader, const char *name, size_t rows, size_t cols)
{
    struct psd_workload *workload = reader->workload;

    PSD_TRY(check_free(&reader->params, "parameter", name));
    PSD_TRY(psd_workload_add_param(workload, name, rows, cols));
    return psd_map_put(&reader->params, workload->params[workload->n_params - 1].name, 0);
}

/* Adds parameter number `i` of the layer "fc6" as "fc6[i]". */
static psd_status add_numbered(struct reader *reader, const char *layer, unsigned i, size_t rows,
                               size_t cols)
{
    char *name = psd_alloc_text("%s[%u]", layer, i);

    if (!name)
        return PSD_ENOMEM;
    psd_status status = add_param(reader, name, rows, cols);
    psd_alloc_free(name);
    return status;
}

/* --- lines ------------------------------------------------------------------------------------ */

static psd_status read_model(void *context, const struct psd_line *line)
{
    struct reader *reader = context;
    size_t batch;

    PSD_TRY(psd_line_count(line, 3, MOST_BATCH, &batch));
    return psd_workload_create(line->word[1], batch, &reader->workload);
}

/* What stands behind a layer as word `i`: bias, norm or nothing. */
static psd_status read_tail(struct reader *reader, const struct psd_line *line, size_t i,
                            size_t outputs)
{
    if (i == line->words)
        return PSD_OK;
    PSD_TRY(add_numbered(reader, line->word[1], 1, 1, outputs));
    if (strcmp(line->word[i], "norm") == 0)
        return add_numbered(reader, line->word[1], 2, 1, outputs);
    return PSD_OK;
}

static psd_status read_conv(void *context, const struct psd_line *line)
{
    struct reader *reader = context;
    size_t outputs, inputs, kernel[2], size[2];

    PSD_TRY(psd_line_count(line, 2, MOST, &outputs));
    PSD_TRY(psd_line_count(line, 3, MOST, &inputs));
    PSD_TRY(psd_line_pair(line, 4, MOST_SIZE, kernel));
    PSD_TRY(psd_line_pair(line, 5, MOST, size));
    size_t cols = inputs * kernel[0] * kernel[1];
    double macs = (double)outputs * (double)cols * (double)size[0] * (double)size[1];
    PSD_TRY(add_layer(reader, line->word[1], macs));
    PSD_TRY(add_numbered(reader, line->word[1], 0, outputs, cols));
    return read_tail(reader, line, 6, outputs);
}

static psd_status read_fc(void *context, const struct psd_line *line)
{
    struct reader *reader = context;
    struct psd_workload *workload = reader->workload;
    size_t outputs, inputs;

    PSD_TRY(psd_line_count(line, 2, MOST, &outputs));
    PSD_TRY(psd_line_count(line, 3, MOST, &inputs));
    PSD_TRY(add_layer(reader, line->word[1], (double)outputs * (double)inputs));
    PSD_TRY(add_numbered(reader, line->word[1], 0, outputs, inputs));
    size_t weights = workload->n_params - 1;
    workload->params[weights].factors = true;
    PSD_TRY(read_tail(reader, line, 4, outputs));
    if (workload->n_params == weights + 2) /* a bias; after `norm` there would be two */
        workload->params[weights + 1].bias_of = (int)weights;
    return PSD_OK;
}

static psd_status read_layer(void *context, const struct psd_line *line)
{
    double macs;

    PSD_TRY(psd_line_number(line, 2, 0, PSD_WORKLOAD_MACS, &macs));
    return add_layer(context, line->word[1], macs);
}

static psd_status read_param(void *context, const struct psd_line *line)
{
    size_t shape[2];

    PSD_TRY(psd_line_pair(line, 2, MOST, shape));
    return add_param(context, line->word[1], shape[0], shape[1]);
}

static const struct psd_forms_line forms[] = {
    {"conv", "NAME OUTPUTS INPUTS KERNEL SIZE", read_conv},
    {"conv", "NAME OUTPUTS INPUTS KERNEL SIZE bias", read_conv},
    {"conv", "NAME OUTPUTS INPUTS KERNEL SIZE norm", read_conv},
    {"fc", "NAME OUTPUTS INPUTS", read_fc},
    {"fc", "NAME OUTPUTS INPUTS bias", read_fc},
    {"fc", "NAME OUTPUTS INPUTS norm", read_fc},
    {"layer", "NAME MACS", read_layer},
    {"param", "NAME SHAPE", read_param},
    {0},
};

static const struct psd_forms_line first_form[] = {
    {"model", "NAME batch N", read_model},
    {0},
};

static psd_status read_line(void *context, const struct psd_line *line)
{
    struct reader *reader = context;

    if (reader->workload)
        return psd_forms_read(forms, line, context);
    if (reader->lost)
        return PSD_OK;
    reader->lost = true;
    if (strcmp(line->word[0], "model") != 0)
        return psd_fail(PSD_ECONFIG, "a description begins with the line: model NAME batch N");
    return psd_forms_read(first_form, line, context);
}

/* --- files ------------------------------------------------------------------------------------ */

static psd_status finish(struct reader *reader, const char *name, psd_status status,
                         struct psd_workload **out)
{
    if (status == PSD_OK && (!reader->workload || !reader->workload->n_layers))
        status =
            psd_fail(PSD_ECONFIG,
                     "%s describes no layer; it needs a line \"model NAME batch N\" and a line "
                     "for each layer",
                     name);
    if (status == PSD_OK)
        *out = reader->workload;
    else
        psd_workload_destroy(reader->workload);
    psd_map_fini(&reader->layers);
    psd_map_fini(&reader->params);
    return status;
}

psd_status psd_workload_file_read(const char *path, struct psd_workload **out)
{
    struct reader reader = {0};

    return finish(&reader, path, psd_lines_read(path, read_line, &reader), out);
}

psd_status psd_workload_file_parse(const char *name, const char *bytes, size_t size,
                                   struct psd_workload **out)
{
    struct reader reader = {0};

    return finish(&reader, name, psd_lines_parse(name, bytes, size, read_line, &reader), out);
}
