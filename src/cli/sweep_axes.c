/* sweep_axes.c - lists of texts become numbers and schemes, in order and without doubles. */
#include "cli/sweep_axes.h"
#include "base/value.h"
#include "cli/model.h"

/* One element of a list, on its way from text. */
struct element {
    int64_t nodes;
    double bandwidth;
    enum psd_scheme scheme;
};

/* One of the three lists. */
struct list {
    const char *option;
    struct psd_value value;
    const char *const *usual; /* ends with NULL */
    void (*add)(struct psd_sweep_axes *axes, const struct element *element);
};

static void add_nodes(struct psd_sweep_axes *axes, const struct element *element)
{
    unsigned number = (unsigned)element->nodes, *nodes = axes->nodes;
    size_t at = axes->n_nodes;

    while (at > 0 && nodes[at - 1] > number)
        at--;
    if (at > 0 && nodes[at - 1] == number)
        return;
    for (size_t i = axes->n_nodes++; i > at; i--)
        nodes[i] = nodes[i - 1];
    nodes[at] = number;
}

static void add_bandwidth(struct psd_sweep_axes *axes, const struct element *element)
{
    for (size_t i = 0; i < axes->n_bandwidths; i++) {
        if (axes->bandwidths[i] == element->bandwidth)
            return;
    }
    axes->bandwidths[axes->n_bandwidths++] = element->bandwidth;
}

static void add_scheme(struct psd_sweep_axes *axes, const struct element *element)
{
    for (size_t i = 0; i < axes->n_schemes; i++) {
        if (axes->schemes[i] == element->scheme)
            return;
    }
    axes->schemes[axes->n_schemes++] = element->scheme;
}

static psd_status read_list(struct psd_cli *cli, const struct list *list, char *const *given,
                            struct psd_sweep_axes *axes)
{
    const char *const *texts = given ? (const char *const *)given : list->usual;
    struct element element;

    for (size_t i = 0; texts[i]; i++) {
        if (i == PSD_SWEEP_MOST)
            return psd_cli_misuse(cli, "--%s has more than %d elements", list->option,
                                  PSD_SWEEP_MOST);
        if (psd_value_parse(&list->value, texts[i], &element) != PSD_OK)
            return psd_cli_misuse(cli, "--%s: %s", list->option, psd_error());
        list->add(axes, &element);
    }
    return PSD_OK;
}

psd_status psd_sweep_axes_read(struct psd_cli *cli, char *const *nodes, char *const *bandwidths,
                               char *const *schemes, struct psd_sweep_axes *out)
{
    static const char *const usual_nodes[] = {"1", "2", "4", "8", "16", "32", NULL};
    static const char *const usual_bandwidths[] = {"10Gbit", "40Gbit", NULL};
    static const struct list node_list = {"nodes",
                                          PSD_INT(struct element, nodes, 1, PSD_MODEL_NODES),
                                          usual_nodes, add_nodes},
                             bandwidth_list = {"bandwidth", PSD_SPEED(struct element, bandwidth),
                                               usual_bandwidths, add_bandwidth},
                             scheme_list = {"scheme",
                                            PSD_CHOICE(struct element, scheme, psd_scheme_names),
                                            psd_scheme_names, add_scheme};

    *out = (struct psd_sweep_axes){.n_nodes = 0};
    PSD_TRY(read_list(cli, &node_list, nodes, out));
    PSD_TRY(read_list(cli, &bandwidth_list, bandwidths, out));
    return read_list(cli, &scheme_list, schemes, out);
}
