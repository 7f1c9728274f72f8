/* layers.c - "poseidon layers": the catalogue of what a net can be made of, printed from the code. */
#include "cli/cli.h"
#include "engine/layer.h"

struct layers_options {
    bool markdown;
};

static const struct psd_option layers_options[] = {
    {"markdown", NULL, NULL, "writes a table in Markdown, as in docs/layers.md",
     PSD_BOOL(struct layers_options, markdown)},
    {0},
};

/* "1", "1-2", "1 or more", "none"; `same`: as many as there are bottoms. */
static const char *range(unsigned least, unsigned most, bool same, char *out, size_t room)
{
    if (same)
        snprintf(out, room, "as many");
    else if (most == 0)
        snprintf(out, room, "none");
    else if (most >= PSD_LAYER_ANY)
        snprintf(out, room, "%u or more", least);
    else if (least == most)
        snprintf(out, room, "%u", least);
    else
        snprintf(out, room, "%u-%u", least, most);
    return out;
}

/* What is worth knowing of a kind beside what it computes. */
static const char *notes_of(const struct psd_layer_kind *kind, char *out, size_t room)
{
    snprintf(out, room, "%s%s%s%s%s%s%s", kind->is_loss ? ", loss" : "",
             kind->may_be_in_place ? ", in place" : "", kind->backward ? "" : ", no gradient",
             kind->gives_factors ? ", factors" : "", kind->macs ? ", cost counted" : "",
             kind->carries ? ", carries " : "", kind->carries ? kind->carries : "");
    return *out ? out + 2 : "";
}

static void print_row(FILE *out, const struct psd_layer_kind *kind, bool markdown)
{
    char bottoms[32], tops[32], notes[200];
    const char *reads = kind->reads ? kind->reads : "";

    range(kind->bottoms, kind->most_bottoms, false, bottoms, sizeof bottoms);
    range(kind->tops, kind->most_tops, kind->as_many_tops, tops, sizeof tops);
    const char *said = notes_of(kind, notes, sizeof notes);
    if (markdown)
        fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", kind->type, kind->about, bottoms, tops,
                reads, said);
    else
        fprintf(out, "%-24s %s\n%25sbottoms: %s; tops: %s%s%s%s%s\n", kind->type, kind->about, "",
                bottoms, tops, *reads ? "; reads " : "", reads, *said ? "; " : "", said);
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct layers_options *options = opaque;

    (void)argc, (void)argv;
    if (options->markdown)
        fprintf(cli->out, "| type | computes | bottoms | tops | reads | notes |\n"
                          "| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; psd_layers[i]; i++)
        print_row(cli->out, psd_layers[i], options->markdown);
    return PSD_OK;
}

const struct psd_command psd_command_layers = {
    .name = "layers",
    .summary = "lists the types of layers that nets can have",
    .synopsis = "",
    .description =
        "Lists every type of layer: what it computes, how many bottoms and tops it has, which "
        "fields of a layer it reads, and whether it is a loss, may be in place, has a gradient, "
        "hands its weights' gradient over as factors, has its multiply-adds counted, and carries "
        "something from one pass to the next. Layers from outside come on top (--plugin).",
    .options = layers_options,
    .options_size = sizeof(struct layers_options),
    .run = run,
};
