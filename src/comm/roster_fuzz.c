/* roster_fuzz.c - any bytes as one of the five letters: no crash, and what is read makes sense.
 *
 * The first byte says which letter it is. */
#include "base/alloc.h"
#include "comm/measure.h"
#include "comm/roster.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMS = 4 };

static const struct psd_comm_options options = {.ranks = 3, .workers = 5};

static struct psd_job *new_job(void)
{
    static float unused;
    static const struct psd_comm_param params[] = {
        {.name = "fc", .rows = 6, .cols = 4, .value = &unused, .factors = true},
        {.name = "fc.bias", .rows = 1, .cols = 6, .value = &unused, .bias_of = 1},
        {.name = "scale", .rows = 1, .cols = 9, .value = &unused, .rate = 2},
        {.name = "mean", .rows = 1, .cols = 9, .value = &unused, .averaged = true}};
    struct psd_job *job = NULL;

    if (psd_job_create(3, 5, 1, PSD_COMM_UPDATE, NULL, &job) != PSD_OK)
        abort();
    for (size_t i = 0; i < PARAMS; i++) {
        if (psd_job_add(job, &params[i]) != PSD_OK)
            abort();
    }
    return job;
}

static void read_join(const uint8_t *data, size_t size)
{
    struct psd_roster *roster = NULL;

    if (psd_roster_create(&(struct psd_join){"zero", &options}, &roster) != PSD_OK)
        abort();
    psd_status first = psd_roster_join(roster, 1, data, size);
    psd_status second = psd_roster_join(roster, 1, data, size);
    if (first == PSD_OK && second == PSD_OK)
        abort(); /* nobody joins twice */
    (void)psd_roster_join(roster, 2, data, size);
    psd_roster_destroy(roster);
}

static void read_roster(const uint8_t *data, size_t size)
{
    struct psd_job *job = NULL;
    char **addresses = NULL;

    if (psd_roster_read(&options, data, size, &job, &addresses) != PSD_OK)
        return;
    for (unsigned i = 0; i < 5; i++) {
        if (job->host[i] >= 3 || job->batch[i] == 0 || job->batch[i] > PSD_JOB_BATCH)
            abort();
    }
    for (unsigned i = 0; i < 3; i++) {
        if (psd_job_hosted(job, i) == 0 || strlen(addresses[i]) > size)
            abort();
    }
    psd_roster_free_addresses(addresses, 3);
    psd_job_destroy(job);
}

/* What is the same as ours is, byte for byte, what we would have sent. */
static void read_params(const uint8_t *data, size_t size)
{
    struct psd_job *job = new_job();
    struct psd_pack pack = {.bytes = NULL};

    if (psd_roster_pack_params(job, &pack) != PSD_OK)
        abort();
    bool same = size == pack.length && memcmp(data, pack.bytes, size) == 0;
    if (same != (psd_roster_compare_params(job, 1, data, size) == PSD_OK))
        abort();
    psd_pack_fini(&pack);
    psd_job_destroy(job);
}

static void read_plan(const uint8_t *data, size_t size)
{
    struct psd_job *job = new_job();
    char *text = NULL;

    if (psd_roster_read_plan(job, data, size, &text) == PSD_OK) {
        for (size_t i = 0; i < PARAMS; i++) {
            const struct psd_job_param *param = &job->params[i];
            if ((param->form == PSD_FORM_DENSE) != (param->route == PSD_ROUTE_SERVERS))
                abort();
        }
        if (job->params[2].form != PSD_FORM_DENSE || job->params[3].form != PSD_FORM_DENSE ||
            job->params[0].form != job->params[1].form)
            abort();
    }
    psd_alloc_free(text);
    psd_job_destroy(job);
}

static void read_measured(const uint8_t *data, size_t size)
{
    struct psd_measured measured = {0, 0};
    psd_status status = psd_measure_read(1, data, size, &measured);

    if ((status == PSD_OK) != (measured.bandwidth > 0) || (status == PSD_OK && size != 16))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *data, size_t size) = {
        read_join, read_roster, read_params, read_plan, read_measured};

    if (size > 0)
        readers[data[0] % 5](data + 1, size - 1);
    return 0;
}
