/* print.c - "poseidon print": any of Caffe's files, in either form, as text, and our own state. */
#include "base/suggest.h"
#include "cli/cli.h"
#include "engine/state.pb-c.h"
#include "proto/document.h"
#include "proto/kind.h"
#include "proto/text_writer.h"
#include "proto/wire.h"

#include <errno.h>
#include <string.h>

enum { LONGEST_IN_SHORT = 16 };

struct print_options {
    bool summary;
    char *type, *output;
    enum psd_document_form form;
};

static const struct psd_option print_options[] = {
    {"short", NULL, NULL, "leaves out lists of more than 16 numbers, such as weights",
     PSD_BOOL(struct print_options, summary)},
    {"type", "MESSAGE", NULL,
     "takes the file for this message, such as NetParameter, instead of finding out",
     PSD_TEXT(struct print_options, type)},
    {"form", NULL, NULL,
     "writes this form; auto: the one that the name of the output asks for, else text",
     PSD_CHOICE(struct print_options, form, psd_form_names)},
    {"output", "FILE", NULL, "writes to FILE instead of standard output",
     PSD_TEXT(struct print_options, output)},
    {0},
};

/* What a .poseidonstate holds. It is none of Caffe's messages and is known by the file's name. */
static const ProtobufCMessageDescriptor *const own_state = &psd__state__descriptor;

static bool is_own_state(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcmp(dot, ".poseidonstate") == 0;
}

static psd_status find_type(struct psd_cli *cli, const char *name,
                            const ProtobufCMessageDescriptor **out)
{
    struct psd_suggest suggest;

    *out = name ? psd_kind_find(name) : NULL;
    if (name && strcmp(name, own_state->short_name) == 0)
        *out = own_state;
    if (*out || !name)
        return PSD_OK;
    psd_suggest_init(&suggest, name, strlen(name));
    for (size_t i = 0; psd_kinds[i]; i++)
        psd_suggest_offer(&suggest, psd_kinds[i]->short_name);
    return psd_cli_misuse(cli,
                          "no file holds a message \"%s\"%s; there are NetParameter, "
                          "SolverParameter, SolverState, BlobProto, BlobProtoVector, Datum and our "
                          "own State",
                          name, psd_suggest_phrase(&suggest));
}

static bool write_out(void *context, const void *data, size_t size)
{
    struct psd_cli *cli = context;

    if (fwrite(data, 1, size, cli->out) == size)
        return true;
    cli->out_error = errno;
    return false;
}

static psd_status run(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct print_options *options = opaque;
    struct psd_text_options text = {.longest = options->summary ? LONGEST_IN_SHORT : 0};
    struct psd_sink sink = {.write = write_out, .context = cli};
    const ProtobufCMessageDescriptor *type = NULL;
    struct psd_document *document = NULL;
    psd_status status = PSD_OK;

    (void)argc;
    if (options->summary && options->form == PSD_DOCUMENT_BINARY)
        return psd_cli_misuse(cli, "--short is for text; the binary form is always whole");
    PSD_TRY(find_type(cli, options->type, &type));
    if (!type && is_own_state(argv[0]))
        PSD_TRY(psd_document_read(argv[0], PSD_DOCUMENT_BINARY, own_state, &document));
    else
        PSD_TRY(psd_document_read(argv[0], PSD_DOCUMENT_AUTO, type, &document));
    if (options->output)
        status = psd_document_write(document, options->form, &text, options->output);
    else if (options->form == PSD_DOCUMENT_BINARY)
        status = psd_wire_write(document->root, &sink);
    else
        psd_text_write(document->root, &text, &sink);
    psd_document_destroy(document);
    return status;
}

const struct psd_command psd_command_print = {
    .name = "print",
    .summary = "prints a net, solver, model, state or mean file as text",
    .synopsis = "FILE",
    .least = 1,
    .most = 1,
    .description =
        "Reads a file of Caffe's in text or binary form (prototxt, caffemodel, solverstate, "
        "binaryproto; \"-\" is standard input), finds out which message it holds, and prints it "
        "as text that can be read again; so it does with the poseidonstate of a snapshot.",
    .options = print_options,
    .options_size = sizeof(struct print_options),
    .run = run,
};
