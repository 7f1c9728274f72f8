/* ensemble_terms.c - whether all processes are about to train the same.
 *
 *     rank 0    a checksum of each option, solver field and layer --> all others compare theirs
 *     all       the number of the first that differs, from each   --> everybody knows who and what
 *
 * A process with another learning rate, or without a Dropout, would train on in silence, and one that
 * displays at other iterations would wait for the others for ever. */
#include "base/alloc.h"
#include "base/crc32c.h"
#include "proto/digest.h"
#include "train/ensemble_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS = 8 }; /* terms beside those of solver and layers */

/* Something that is the same for all; `else_why` is what to think of where it is not. */
struct term {
    uint32_t checksum;
    const char *else_why;
    char name[100];
};

struct terms {
    struct term *list; /* owned; room for all */
    size_t count;
};

__attribute__((format(printf, 4, 5))) static void add(struct terms *terms, uint32_t checksum,
                                                      const char *else_why, const char *format, ...)
{
    struct term *term = &terms->list[terms->count++];
    va_list args;

    *term = (struct term){.checksum = checksum, .else_why = else_why};
    va_start(args, format);
    vsnprintf(term->name, sizeof term->name, format, args);
    va_end(args);
}

/* --- options ------------------------------------------------------------------------------------ */

static void add_number(struct terms *terms, const char *name, uint64_t number)
{
    add(terms, psd_crc32c(0, &number, sizeof number), "", "%s", name);
}

static void add_text(struct terms *terms, const char *name, const char *text)
{
    add(terms, psd_crc32c(0, text, strlen(text)), "", "%s", name);
}

#if defined(__x86_64__) || defined(__i386__)
/* Backends that bits depend on are chosen by AVX2 and FMA (ops/simd), as are functions of the C library; of
 * what math/ is computed with nothing is seen in its bits (product.h). */
static bool has_simd(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* oneDNN, which may compute unless another backend is asked for, takes the most of these that it finds. */
static uint64_t sets_of_onednn(void)
{
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");

    return (__builtin_cpu_supports("sse4.1") ? 2U : 0) | (__builtin_cpu_supports("avx") ? 4U : 0) |
           (__builtin_cpu_supports("avx2") ? 8U : 0) | (avx512 ? 16U : 0);
}
#endif

/* Those that kernels with other bits are chosen by. */
static uint64_t instruction_sets(const char *backend)
{
    bool with_onednn = !backend || strcmp(backend, "onednn") == 0;

#if defined(__x86_64__) || defined(__i386__)
    return (has_simd() ? 1U : 0) | (with_onednn ? sets_of_onednn() : 0);
#else
    (void)with_onednn;
    return 0;
#endif
}

static void add_options(const struct psd_ensemble *ensemble, struct terms *terms)
{
    const struct psd_ensemble_options *options = &ensemble->options;

    add_text(terms, "the version of poseidon", psd_version());
    add_text(terms, "--backend", options->backend ? options->backend : "");
    add_number(terms, "the processor's instruction set", instruction_sets(options->backend));
    add_number(terms, "--worker-threads", options->threads ? options->threads : 1);
    add_number(terms, "--global-batch", options->global_batch);
    add_number(terms, "--reduce", options->sums);
    add_number(terms, "--verify", options->verify);
    add_number(terms, "the iteration to go on from", (uint64_t)ensemble->solver->iteration);
}

/* --- solver and nets ---------------------------------------------------------------------------- */

/* What is of each process, or is in the layers. */
static const char *const own_fields[] = {
    "net",         "net_param",  "train_net",   "train_net_param", "test_net",  "test_net_param",
    "train_state", "test_state", "weights",     "snapshot_prefix", "device_id", "solver_mode",
    "debug_info",  "type",       "solver_type", "random_seed",     NULL};

/* Parts of a database, and machines, have files in places of their own. */
static const char *const own_places[] = {"source", "mean_file", "root_folder", "file_name", NULL};

static bool is_own(const char *name)
{
    const char *const *own = own_fields;

    while (*own && strcmp(*own, name) != 0)
        own++;
    return *own != NULL;
}

static void add_solver(const struct psd_solver *solver, struct terms *terms)
{
    static const char why[] = ": another solver file?";
    const ProtobufCMessage *message = &solver->param->base;

    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (!is_own(field->name))
            add(terms, psd_digest_field(message, field, own_places), why, "%s", field->name);
    }
    add(terms, psd_crc32c(0, &solver->seed, sizeof solver->seed), why, "random_seed");
}

static void add_net(const struct psd_net *net, const char *of, struct terms *terms)
{
    for (size_t i = 0; i < net->n_layers; i++)
        add(terms, psd_digest_message(&net->layers[i].param->base, own_places),
            ": another prototxt?", "layer %.70s%s", net->layers[i].name, of);
}

static psd_status list(const struct psd_ensemble *ensemble, struct terms *terms)
{
    const struct psd_solver *solver = ensemble->solver;
    size_t room = OPTIONS + solver->param->base.descriptor->n_fields + 1 + solver->net->n_layers;
    char of[40];

    for (size_t i = 0; i < solver->n_tests; i++)
        room += solver->tests[i]->n_layers;
    terms->list = psd_alloc_zero(room, sizeof *terms->list);
    if (!terms->list)
        return PSD_ENOMEM;
    add_options(ensemble, terms);
    add_solver(solver, terms);
    add_net(solver->net, "", terms);
    for (size_t i = 0; i < solver->n_tests; i++) {
        snprintf(of, sizeof of, " of test net %zu", i);
        add_net(solver->tests[i], of, terms);
    }
    return PSD_OK;
}

/* --- comparing ---------------------------------------------------------------------------------- */

/* 1 + the number of our first term that differs from those of worker 0's process; 0: none. */
static float first_difference(const struct terms *ours, const uint32_t *theirs, uint64_t count)
{
    size_t both = ours->count < count ? ours->count : count;

    for (size_t i = 0; i < both; i++) {
        if (ours->list[i].checksum != theirs[i])
            return (float)(1 + i);
    }
    return ours->count == count ? 0 : (float)(1 + both);
}

static psd_status find_difference(struct psd_ensemble *ensemble, const struct terms *ours,
                                  float *out)
{
    uint64_t count = ours->count;

    PSD_TRY(psd_comm_broadcast(ensemble->comm, &count, sizeof count));
    uint32_t *theirs = psd_alloc_zero(count, sizeof *theirs);
    if (!theirs)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count && i < ours->count; i++)
        theirs[i] = ours->list[i].checksum;
    psd_status status = psd_comm_broadcast(ensemble->comm, theirs, count * sizeof *theirs);
    *out = status == PSD_OK ? first_difference(ours, theirs, count) : 0;
    psd_alloc_free(theirs);
    return status;
}

/* A process that has fewer layers has no name for the next. */
static psd_status say(const struct terms *terms, size_t number, unsigned rank)
{
    static const struct term layers = {.name = "the number of layers",
                                       .else_why = ": another prototxt?"};
    const struct term *term = number < terms->count ? &terms->list[number] : &layers;

    return psd_fail(PSD_EPEER, "%s on rank %u is not what it is on rank 0%s", term->name, rank,
                    term->else_why);
}

static psd_status compare(struct psd_ensemble *ensemble, const struct terms *terms, float *found)
{
    PSD_TRY(find_difference(ensemble, terms, &found[ensemble->rank]));
    PSD_TRY(psd_ensemble_add_up(ensemble, found, ensemble->ranks));
    for (unsigned i = 0; i < ensemble->ranks; i++) {
        if (found[i] != 0)
            return say(terms, (size_t)found[i] - 1, i);
    }
    return PSD_OK;
}

psd_status psd_ensemble_agree_terms(struct psd_ensemble *ensemble)
{
    struct terms terms = {0};
    float *found = psd_alloc_zero(ensemble->ranks, sizeof *found);
    psd_status status = found ? list(ensemble, &terms) : PSD_ENOMEM;

    if (status == PSD_OK)
        status = compare(ensemble, &terms, found);
    psd_alloc_free(terms.list);
    psd_alloc_free(found);
    return status;
}
