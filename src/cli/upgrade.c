/* upgrade.c - "poseidon upgrade-net" and "poseidon upgrade-solver", and Caffe's three tools for it.
 */
#include "proto/upgrade.h"
#include "cli/cli.h"
#include "proto/caffe.pb-c.h"
#include "proto/kind.h"

#include <string.h>

struct upgrade_options {
    enum psd_document_form form;
};

static const struct psd_option upgrade_options[] = {
    {"form", NULL, NULL,
     "writes this form; auto: the one that the name of OUT asks for, else the one of IN",
     PSD_CHOICE(struct upgrade_options, form, psd_form_names)},
    {0},
};

/* One way of being called: what is read, in which form, and how it is brought up to date. */
struct job {
    const ProtobufCMessageDescriptor *type;
    enum psd_document_form form;
    psd_status (*upgrade)(struct psd_document *document, struct psd_upgrade *upgrade);
};

static const struct job net = {&caffe__net_parameter__descriptor, PSD_DOCUMENT_AUTO,
                               psd_upgrade_net};
static const struct job net_text = {&caffe__net_parameter__descriptor, PSD_DOCUMENT_TEXT,
                                    psd_upgrade_net};
static const struct job net_binary = {&caffe__net_parameter__descriptor, PSD_DOCUMENT_BINARY,
                                      psd_upgrade_net};
static const struct job solver = {&caffe__solver_parameter__descriptor, PSD_DOCUMENT_AUTO,
                                  psd_upgrade_solver};
static const struct job solver_text = {&caffe__solver_parameter__descriptor, PSD_DOCUMENT_TEXT,
                                       psd_upgrade_solver};

static void tell(struct psd_cli *cli, const struct psd_upgrade *upgrade, const char *in)
{
    psd_upgrade_warn(upgrade, cli->log);
    if (!upgrade->done)
        psd_log_warning(cli->log, "File already in latest proto format: %s", in);
    for (unsigned step = 1; step <= upgrade->done; step *= 2) {
        if (upgrade->done & step)
            psd_log_info(cli->log, "Upgraded %s in %s",
                         psd_upgrade_step_name((enum psd_upgrade_step)step), in);
    }
}

static psd_status upgrade_document(struct psd_cli *cli, const struct job *job,
                                   enum psd_document_form form, struct psd_document *document,
                                   const char *out)
{
    struct psd_upgrade upgrade;
    bool is_text = document->positions != NULL;

    psd_upgrade_init(&upgrade, document);
    PSD_TRY(job->upgrade(document, &upgrade));
    tell(cli, &upgrade, document->path);
    if (form == PSD_DOCUMENT_AUTO)
        form = psd_kind_form_of_name(out);
    if (form == PSD_DOCUMENT_AUTO && !is_text && strcmp(out, "-") != 0)
        form = PSD_DOCUMENT_BINARY;
    PSD_TRY(psd_document_write(document, form, NULL, out));
    if (strcmp(out, "-") != 0)
        psd_log_info(cli->log, "Wrote upgraded %s to %s", job->type->short_name, out);
    if (upgrade.warnings.sentences.count)
        cli->exit_code = PSD_EXIT_FAILED; /* as Caffe's tools: written, but not all of it */
    return PSD_OK;
}

static psd_status run_job(struct psd_cli *cli, const struct job *job, enum psd_document_form form,
                          int argc, char **argv)
{
    struct psd_document *document = NULL;

    PSD_TRY(psd_document_read(argv[0], job->form, job->type, &document));
    psd_status status = upgrade_document(cli, job, form, document, argc > 1 ? argv[1] : "-");
    psd_document_destroy(document);
    return status;
}

static psd_status run_net(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    return run_job(cli, &net, ((const struct upgrade_options *)options)->form, argc, argv);
}

static psd_status run_solver(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    return run_job(cli, &solver, ((const struct upgrade_options *)options)->form, argc, argv);
}

static psd_status run_net_text(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options;
    return run_job(cli, &net_text, PSD_DOCUMENT_TEXT, argc, argv);
}

static psd_status run_net_binary(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options;
    return run_job(cli, &net_binary, PSD_DOCUMENT_BINARY, argc, argv);
}

static psd_status run_solver_text(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options;
    return run_job(cli, &solver_text, PSD_DOCUMENT_TEXT, argc, argv);
}

const struct psd_command psd_command_upgrade_net = {
    .name = "upgrade-net",
    .summary = "brings an old net or model file up to date",
    .synopsis = "IN [OUT]",
    .least = 1,
    .most = 2,
    .description =
        "Reads a net in text or binary form from any year of Caffe (V0 and V1 layers, old input, "
        "transformation and batch-norm fields) and writes it as the newest Caffe would, weights "
        "included. Without OUT the text goes to standard output. OUT may be IN: the old file stays "
        "until the new one is complete.\n\n"
        "The exit code is 1 when something in the old net had no meaning and was left out.",
    .options = upgrade_options,
    .options_size = sizeof(struct upgrade_options),
    .run = run_net,
};

const struct psd_command psd_command_upgrade_solver = {
    .name = "upgrade-solver",
    .summary = "brings an old solver file up to date",
    .synopsis = "IN [OUT]",
    .least = 1,
    .most = 2,
    .description =
        "Reads a solver and writes it with the type by name (\"Adam\") instead of the old "
        "solver_type, and with the nets inside it brought up to date. Without OUT the text goes to "
        "standard output.",
    .options = upgrade_options,
    .options_size = sizeof(struct upgrade_options),
    .run = run_solver,
};

const struct psd_command psd_command_upgrade_net_proto_text = {
    .name = "upgrade_net_proto_text",
    .synopsis = "IN OUT",
    .least = 2,
    .most = 2,
    .description = "Brings a net in text form up to date, as Caffe's tool of this name does.",
    .run = run_net_text,
};

const struct psd_command psd_command_upgrade_net_proto_binary = {
    .name = "upgrade_net_proto_binary",
    .synopsis = "IN OUT",
    .least = 2,
    .most = 2,
    .description = "Brings a net in binary form up to date, as Caffe's tool of this name does.",
    .run = run_net_binary,
};

const struct psd_command psd_command_upgrade_solver_proto_text = {
    .name = "upgrade_solver_proto_text",
    .synopsis = "IN OUT",
    .least = 2,
    .most = 2,
    .description = "Brings a solver in text form up to date, as Caffe's tool of this name does.",
    .run = run_solver_text,
};
