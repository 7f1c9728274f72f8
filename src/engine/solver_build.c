/* solver_build.c - from a solver file to nets and state. */
#include "base/alloc.h"
#include "base/path.h"
#include "engine/alone.h"
#include "engine/carried_file.h"
#include "engine/spool.h"
#include "proto/field.h"
#include "proto/upgrade.h"
#include "proto/wire.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

static psd_status fail(const struct psd_solver *solver, const char *field, const char *sentence)
{
    const struct psd_document *document = solver->options.document;
    const ProtobufCFieldDescriptor *about = psd_field_named(solver->param->base.descriptor, field);
    struct psd_position at = psd_document_where(document, &solver->param->base, about->id);

    if (!at.line)
        return psd_fail(PSD_ECONFIG, "%s: %s", document->path, sentence);
    return psd_fail(PSD_ECONFIG, "%s:%zu:%zu: %s", document->path, at.line, at.column, sentence);
}

/* --- net documents ------------------------------------------------------------------------------- */

static psd_status read_net(const char *named, const struct psd_solver *solver,
                           struct psd_document **out)
{
    char *path = NULL;

    PSD_TRY(psd_path_find(named, solver->options.document->path, &path));
    psd_status status =
        psd_upgrade_read(path, &caffe__net_parameter__descriptor, solver->options.log, out);
    psd_alloc_free(path);
    return status;
}

/* A net written inside the solver's file is copied, since building changes it. */
static psd_status copy_net(const struct psd_document *from, const Caffe__NetParameter *net,
                           struct psd_document **out)
{
    size_t size = protobuf_c_message_get_packed_size(&net->base);
    struct psd_document *document = NULL;
    struct psd_bytes bytes;
    uint8_t *packed = psd_alloc(size);

    if (!packed)
        return PSD_ENOMEM;
    protobuf_c_message_pack(&net->base, packed);
    psd_bytes_init_memory(&bytes, from->path, packed, size);
    psd_status status =
        psd_document_create(&caffe__net_parameter__descriptor, from->path, size, &document);
    if (status == PSD_OK)
        status = psd_wire_read(document, &bytes);
    psd_alloc_free(packed);
    if (status == PSD_OK)
        *out = document;
    else
        psd_document_destroy(document);
    return status;
}

static psd_status open_net(struct psd_solver *solver, const char *file,
                           const Caffe__NetParameter *inside, struct psd_document **out)
{
    const struct psd_document *document = solver->options.document;

    return inside ? copy_net(document, inside, out) : read_net(file, solver, out);
}

/* --- nets ---------------------------------------------------------------------------------------- */

enum { MOST_STAGES = 64 };

/* The stages of a net: those it states itself, the solver's for it, and the caller's. */
static void gather_stages(const char **stages, const Caffe__NetState *state, size_t *n)
{
    for (size_t i = 0; state && i < state->n_stage && *n + 1 < MOST_STAGES; i++)
        stages[(*n)++] = state->stage[i];
    stages[*n] = NULL;
}

static psd_status build_net(struct psd_solver *solver, struct psd_document *document,
                            Caffe__Phase phase, const Caffe__NetState *state, struct psd_net **out)
{
    const Caffe__NetParameter *net = (const Caffe__NetParameter *)document->root;
    const char *stages[MOST_STAGES] = {NULL};
    bool trains = phase == CAFFE__PHASE__TRAIN;
    size_t n = 0;

    gather_stages(stages, net->state, &n);
    gather_stages(stages, state, &n);
    for (size_t i = 0;
         trains && solver->options.stages && solver->options.stages[i] && n + 1 < MOST_STAGES; i++)
        stages[n++] = solver->options.stages[i];
    stages[n] = NULL;
    struct psd_net_options options = {
        .document = document,
        .phase = phase,
        .level = trains && solver->options.level ? solver->options.level
                 : state && state->has_level     ? state->level
                 : net->state                    ? net->state->level
                                                 : 0,
        .stages = stages,
        .ops = solver->options.ops,
        .device = solver->options.device,
        .seed = solver->seed,
        .log = solver->options.log,
        .max_bad = solver->options.max_bad,
        .plugins = solver->options.plugins,
        .debug_info = solver->param->debug_info,
        .share = trains ? NULL : solver->net,
        .borrows_gradients = trains && solver->options.team,
        .batch = trains ? solver->options.batch : 0,
        .stand_in = solver->options.stand_in,
        .sketch = solver->options.sketch,
    };
    if (trains)
        options.position = solver->options.position;
    return psd_net_create(&options, out);
}

static psd_status build_train_net(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    int given = (p->net != NULL) + (p->net_param != NULL) + (p->train_net != NULL) +
                (p->train_net_param != NULL);

    if (given != 1)
        return fail(solver, "net",
                    given
                        ? "several training nets are given; keep one of net, net_param, train_net, "
                          "train_net_param"
                        : "no training net is given; add net: \"FILE\"");
    if (p->net || p->train_net)
        psd_log_info(solver->options.log, "Creating training net from net file: %s",
                     p->net ? p->net : p->train_net);
    PSD_TRY(open_net(solver, p->net ? p->net : p->train_net,
                     p->net_param ? p->net_param : p->train_net_param, &solver->nets[0]));
    return build_net(solver, solver->nets[0], CAFFE__PHASE__TRAIN, p->train_state, &solver->net);
}

/* Test net i: those given by themselves come first, then the training net's file for the rest. */
static psd_status build_test_net(struct psd_solver *solver, size_t i)
{
    const Caffe__SolverParameter *p = solver->param;
    size_t inside = p->n_test_net_param, files = inside + p->n_test_net;
    const char *file = i < inside ? NULL : i < files ? p->test_net[i - inside] : p->net;
    const Caffe__NetParameter *param = i < inside ? p->test_net_param[i] : NULL;

    if (!file && !param)
        param = p->net_param;
    if (file)
        psd_log_info(solver->options.log, "Creating test net (#%zu) specified by net file: %s", i,
                     file);
    PSD_TRY(open_net(solver, file, param, &solver->nets[i + 1]));
    return build_net(solver, solver->nets[i + 1], CAFFE__PHASE__TEST,
                     i < p->n_test_state ? p->test_state[i] : NULL, &solver->tests[i]);
}

static psd_status build_nets(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    size_t own = p->n_test_net + p->n_test_net_param;
    size_t tests = p->n_test_iter > own ? p->n_test_iter : own;

    if (p->n_test_iter < own)
        return fail(solver, "test_iter", "every test net needs a test_iter");
    for (size_t i = 0; i < tests; i++) {
        if (p->test_iter[i] < 1)
            return fail(solver, "test_iter", "test_iter is at least 1");
    }
    if (tests > own && !p->net && !p->net_param)
        return fail(solver, "test_iter", "there are more test_iter than test nets");
    if (tests && p->test_interval <= 0)
        return fail(solver, "test_interval", "a test net needs a test_interval above 0");
    solver->nets = psd_alloc_zero(tests + 1, sizeof *solver->nets);
    solver->n_nets = solver->nets ? tests + 1 : 0;
    solver->tests = psd_alloc_zero(tests, sizeof(*solver->tests));
    solver->test_from = psd_alloc_zero(tests, sizeof *solver->test_from);
    if (!solver->nets || !solver->tests || !solver->test_from)
        return PSD_ENOMEM;
    PSD_TRY(build_train_net(solver));
    for (; solver->n_tests < tests; solver->n_tests++)
        PSD_TRY(build_test_net(solver, solver->n_tests));
    return PSD_OK;
}

/* --- state ----------------------------------------------------------------------------------------- */

static size_t count_kept(const struct psd_solver *solver)
{
    return solver->net ? solver->net->n_params * solver->rule->states : 0;
}

psd_status psd_solver_make_history(struct psd_solver *solver)
{
    size_t params = solver->net->n_params;

    if (solver->history)
        return PSD_OK;
    solver->history = psd_alloc_zero(count_kept(solver), sizeof(*solver->history));
    if (!solver->history)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count_kept(solver); i++) {
        size_t count = solver->net->params[i % params]->blob.count;
        solver->history[i] = psd_alloc_zero(count, sizeof(float));
        if (!solver->history[i])
            return PSD_ENOMEM;
    }
    return PSD_OK;
}

void psd_solver_drop_history(struct psd_solver *solver)
{
    for (size_t i = 0; solver->history && i < count_kept(solver); i++)
        psd_alloc_free(solver->history[i]);
    psd_alloc_free((void *)solver->history);
    solver->history = NULL;
}

psd_status psd_solver_make_carried(struct psd_solver *solver)
{
    if (!solver->carried)
        solver->carried = psd_alloc_zero(psd_carried_count(solver->net) * solver->team.workers,
                                         sizeof *solver->carried);
    return solver->carried ? PSD_OK : PSD_ENOMEM;
}

/* Room for what is shown of each worker. */
static psd_status build_show(struct psd_solver *solver)
{
    size_t hosted = solver->team.hosted, outputs = psd_net_count_outputs(solver->net);

    solver->losses =
        psd_alloc_zero((size_t)solver->param->average_loss * hosted, sizeof *solver->losses);
    solver->shown = psd_alloc_zero(hosted * (1 + outputs), sizeof *solver->shown);
    solver->outputs = psd_alloc_zero(hosted * (1 + outputs), sizeof *solver->outputs);
    return solver->losses && solver->shown && solver->outputs ? PSD_OK : PSD_ENOMEM;
}

static psd_status choose_rule(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    const char *type = p->type ? p->type : "SGD";
    bool rms = strcmp(type, "RMSProp") == 0;

    solver->rule = psd_rules_find(type);
    if (!solver->rule || !solver->rule->keeping)
        return fail(solver, "type",
                    "type is \"SGD\", \"Nesterov\", \"AdaGrad\", \"RMSProp\", \"AdaDelta\" or "
                    "\"Adam\"");
    if (p->momentum != 0 && (rms || strcmp(type, "AdaGrad") == 0))
        return fail(solver, "momentum", "AdaGrad and RMSProp have no momentum; leave it out");
    if (rms && !(p->rms_decay >= 0 && p->rms_decay < 1))
        return fail(solver, "rms_decay", "rms_decay is at least 0 and less than 1");
    if (p->snapshot_diff)
        solver->rule = solver->rule->keeping;
    return PSD_OK;
}

static psd_status check(struct psd_solver *solver)
{
    const Caffe__SolverParameter *p = solver->param;
    const char *regularization = p->regularization_type ? p->regularization_type : "L2";

    PSD_TRY(choose_rule(solver));
    if (psd_rate_check(p) != PSD_OK) {
        char sentence[300];
        snprintf(sentence, sizeof sentence, "%.299s", psd_error());
        return fail(solver, "lr_policy", sentence);
    }
    if (strcmp(regularization, "L2") != 0 && strcmp(regularization, "L1") != 0)
        return fail(solver, "regularization_type", "regularization_type is \"L2\" or \"L1\"");
    if (p->iter_size < 1)
        return fail(solver, "iter_size", "iter_size is at least 1");
    if (p->average_loss < 1)
        return fail(solver, "average_loss", "average_loss is at least 1");
    return PSD_OK;
}

/* Without a seed of the user's each run is another one. */
static void choose_seed(struct psd_solver *solver)
{
    uint32_t drawn = 0;

    if (solver->param->random_seed >= 0)
        solver->seed = (uint64_t)solver->param->random_seed;
    else if (solver->options.seed)
        solver->seed = solver->options.seed;
    else if (getrandom(&drawn, sizeof drawn, 0) == sizeof drawn)
        solver->seed = drawn;
}

/* As in Caffe: without a prefix the solver file's own name, in a folder that folder with that name. */
psd_status psd_solver_prefix(const struct psd_document *document, char **out)
{
    const char *path = document->path;
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const char *base = slash ? slash + 1 : path;
    int stem = (int)((dot && dot > base ? dot : path + strlen(path)) - base);
    const char *prefix = ((const Caffe__SolverParameter *)document->root)->snapshot_prefix;
    struct stat about;

    if (!prefix || !*prefix)
        *out = psd_alloc_text("%.*s%.*s", (int)(base - path), path, stem, base);
    else if (stat(prefix, &about) == 0 && S_ISDIR(about.st_mode))
        *out = psd_alloc_text("%s/%.*s", prefix, stem, base);
    else
        *out = psd_alloc_copy(prefix, strlen(prefix) + 1);
    return *out ? PSD_OK : PSD_ENOMEM;
}

static psd_status build(struct psd_solver *solver)
{
    PSD_TRY(check(solver));
    PSD_TRY(psd_solver_prefix(solver->options.document, &solver->prefix));
    choose_seed(solver);
    PSD_TRY(build_nets(solver));
    PSD_TRY(build_show(solver));
    solver->n_history = count_kept(solver);
    if (solver->param->snapshot_diff)
        solver->n_history -= solver->net->n_params;
    if (!solver->options.team)
        PSD_TRY(psd_solver_make_history(solver));
    psd_log_info(solver->options.log, "Solver scaffolding done.");
    return PSD_OK;
}

psd_status psd_solver_create(const struct psd_solver_options *options, struct psd_solver **out)
{
    struct psd_solver *solver = psd_alloc_zero(1, sizeof *solver);

    if (!solver)
        return PSD_ENOMEM;
    solver->options = *options;
    solver->team = options->team ? *options->team : psd_alone(solver);
    solver->saved = -1;
    solver->param = (const Caffe__SolverParameter *)options->document->root;
    psd_status status = build(solver);
    solver->options.stages = NULL;
    if (status == PSD_OK)
        *out = solver;
    else
        psd_solver_destroy(solver);
    return status;
}

void psd_solver_destroy(struct psd_solver *solver)
{
    if (!solver)
        return;
    psd_solver_drop_history(solver); /* asks the net how much there is */
    for (size_t i = 0; i < solver->n_tests; i++)
        psd_net_destroy(solver->tests[i]);
    psd_net_destroy(solver->net);
    for (size_t i = 0; solver->nets && i < solver->n_nets; i++)
        psd_document_destroy(solver->nets[i]);
    psd_spool_end(solver->spool);
    psd_alloc_free(solver->carried);
    psd_alloc_free(solver->losses);
    psd_alloc_free(solver->shown);
    psd_alloc_free(solver->outputs);
    psd_alloc_free((void *)solver->tests);
    psd_alloc_free(solver->test_from);
    psd_alloc_free((void *)solver->nets);
    psd_alloc_free(solver->prefix);
    psd_alloc_free(solver);
}
