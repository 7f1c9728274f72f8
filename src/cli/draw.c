/* draw.c - "poseidon draw": a net as a picture. */
#include "cli/diagram.h"
#include "cli/sketch.h"
#include "cli/text_file.h"

#include <string.h>

struct draw_options {
    struct psd_sketch_options sketch;
    char *out;
};

static const struct psd_option draw_options[] = {
    PSD_SKETCH_OPTIONS(struct draw_options),
    {"out", "FILE", NULL, "writes to FILE instead of standard output",
     PSD_TEXT(struct draw_options, out)},
    {0},
};

static psd_status write_picture(struct psd_cli *cli, const struct psd_diagram *diagram,
                                const char *title, const char *path)
{
    struct psd_text_file file;

    if (!path) {
        psd_diagram_write(diagram, title, cli->out);
        return PSD_OK;
    }
    PSD_TRY(psd_text_file_begin(&file));
    psd_diagram_write(diagram, title, file.out);
    return psd_text_file_save(&file, path);
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct draw_options *options = opaque;
    struct psd_diagram diagram;
    struct psd_sketch sketch;

    (void)argc, (void)argv;
    PSD_TRY(psd_sketch_open(cli, &options->sketch, &sketch));
    const char *name = sketch.net->param->name;
    psd_status status = psd_diagram_init(&diagram, sketch.net);
    if (status == PSD_OK)
        status = write_picture(cli, &diagram, name && *name ? name : options->sketch.model,
                               options->out);
    psd_diagram_fini(&diagram);
    psd_sketch_close(&sketch);
    return status;
}

const struct psd_command psd_command_draw = {
    .name = "draw",
    .summary = "draws a net as SVG",
    .synopsis = "",
    .description =
        "Draws a net from top to bottom: a box for each layer with its type and the shape of its "
        "top, in which stand also the layers that work on that top in place, and an arrow for each "
        "blob that one layer makes and another reads. Labels have no arrows; who reads them says "
        "so.\n\n"
        "No sample is read and nothing is computed: see \"poseidon help summary\" for how shapes "
        "are known without a database.",
    .options = draw_options,
    .options_size = sizeof(struct draw_options),
    .run = run,
};
