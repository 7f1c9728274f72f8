/* wishes.c - NAME=WORD, for each parameter that the name means. */
#include "cli/wishes.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "base/value.h"

#include <string.h>

/* In the order of the enumerations; AUTO is asked for by not asking. */
static const char *const forms[] = {"auto", "dense", "factored", NULL};
static const char *const routes[] = {"auto",  "servers",      "broadcast", "row-sharded",
                                     "local", "single-owner", NULL};

/* One of the two options. */
struct kind {
    const char *option;
    struct psd_value value;
};

static const struct kind form_kind = {"form", PSD_CHOICE(struct psd_workload_wish, form, forms)};
static const struct kind route_kind = {"route",
                                       PSD_CHOICE(struct psd_workload_wish, route, routes)};

static psd_status refuse_name(struct psd_cli *cli, const struct kind *kind,
                              const struct psd_workload *workload, const char *name, size_t length)
{
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, name, length);
    for (size_t i = 0; i < workload->n_layers; i++) {
        if (workload->layers[i].params)
            psd_suggest_offer(&suggest, workload->layers[i].name);
    }
    return psd_cli_misuse(cli, "--%s: no layer \"%.*s\" that learns, and no parameter%s",
                          kind->option, (int)length, name, psd_suggest_phrase(&suggest));
}

static bool is_called(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && strncmp(known, name, length) == 0;
}

/* Whether parameter `i` of the layer is meant by the name. */
static bool is_meant(const struct psd_workload *workload, const struct psd_workload_layer *layer,
                     size_t i, const char *name, size_t length)
{
    const struct psd_workload_param *param = &workload->params[i];

    return is_called(param->name, name, length) ||
           (is_called(layer->name, name, length) && param->bias_of < 0);
}

/* The wish for the parameters of one layer that `text` means; counted in *found. */
static psd_status read_layer(const struct kind *kind, const struct psd_workload *workload,
                             const struct psd_workload_layer *layer, const char *text,
                             struct psd_workload_wish *wishes, size_t *found)
{
    size_t length = strcspn(text, "=");

    for (size_t i = layer->first_param; i < layer->first_param + layer->params; i++) {
        if (!is_meant(workload, layer, i, text, length))
            continue;
        PSD_TRY(psd_value_parse(&kind->value, text + length + 1, &wishes[i]));
        ++*found;
    }
    return PSD_OK;
}

static psd_status check_text(struct psd_cli *cli, const struct kind *kind, const char *text)
{
    size_t length = strcspn(text, "=");

    if (!text[length])
        return psd_cli_misuse(cli, "--%s is written NAME=WORD, and \"%s\" has no =", kind->option,
                              text);
    if (psd_value_check(&kind->value, text + length + 1) != PSD_OK)
        return psd_cli_misuse(cli, "--%s %.*s: %s", kind->option, (int)length, text, psd_error());
    return PSD_OK;
}

psd_status psd_wishes_read_text(struct psd_cli *cli, bool is_form, const char *text,
                                struct psd_workload_wish *out)
{
    const struct kind *kind = is_form ? &form_kind : &route_kind;

    PSD_TRY(check_text(cli, kind, text));
    return psd_value_parse(&kind->value, text + strcspn(text, "=") + 1, out);
}

static psd_status read_one(struct psd_cli *cli, const struct kind *kind,
                           const struct psd_workload *workload, const char *text,
                           struct psd_workload_wish *wishes)
{
    size_t length = strcspn(text, "="), found = 0;

    PSD_TRY(check_text(cli, kind, text));
    for (size_t k = 0; k < workload->n_layers; k++)
        PSD_TRY(read_layer(kind, workload, &workload->layers[k], text, wishes, &found));
    return found ? PSD_OK : refuse_name(cli, kind, workload, text, length);
}

static psd_status read_all(struct psd_cli *cli, const struct kind *kind,
                           const struct psd_workload *workload, char *const *texts,
                           struct psd_workload_wish *wishes)
{
    for (; texts && *texts; texts++)
        PSD_TRY(read_one(cli, kind, workload, *texts, wishes));
    return PSD_OK;
}

psd_status psd_wishes_read(struct psd_cli *cli, const struct psd_workload *workload,
                           char *const *form_texts, char *const *route_texts,
                           struct psd_workload_wish **out)
{
    struct psd_workload_wish *wishes = psd_alloc_zero(workload->n_params + 1, sizeof *wishes);

    if (!wishes)
        return PSD_ENOMEM;
    psd_status status = read_all(cli, &form_kind, workload, form_texts, wishes);
    if (status == PSD_OK)
        status = read_all(cli, &route_kind, workload, route_texts, wishes);
    if (status == PSD_OK)
        *out = wishes;
    else
        psd_alloc_free(wishes);
    return status;
}
