/* chorus.c - sums of numbers that are known. */
#include "cli/chorus.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

enum { VERSE = 7 * 1024 }; /* numbers that come again and again */

struct singer {
    const struct psd_chorus *chorus; /* borrowed */
    struct psd_comm *comm;           /* owned, as are the values */
    float *values;
    size_t count; /* of all parameters */
    unsigned worker;
    float gives[VERSE], sums[VERSE];
};

/* 7 numbers in turn, times one more than the rank: sums stay below 2^24 for thousands of ranks. */
float psd_chorus_gives(unsigned rank, size_t index)
{
    return (float)(rank + 1) * (float)(1 + index % 7);
}

float psd_chorus_sum(unsigned ranks, size_t index)
{
    unsigned all = ranks * (ranks + 1) / 2;

    return (float)all * (float)(1 + index % 7);
}

static psd_status add_all(struct singer *singer)
{
    const struct psd_chorus *chorus = singer->chorus;
    float *value = singer->values;
    char name[32];
    int id = 0;

    for (size_t i = 0; i < chorus->n_params; i++) {
        snprintf(name, sizeof name, "part %zu", i);
        PSD_TRY(psd_comm_add(singer->comm,
                             &(struct psd_comm_param){.name = name,
                                                      .rows = 1,
                                                      .cols = chorus->counts[i],
                                                      .value = value,
                                                      .form = PSD_FORM_DENSE},
                             &id));
        value += chorus->counts[i];
    }
    return PSD_OK;
}

static psd_status take_seat(struct singer *singer)
{
    struct psd_comm_options seat = singer->chorus->seat;
    unsigned hosted = 0;

    seat.mode = PSD_COMM_SUM;
    PSD_TRY(psd_comm_open(&seat, &singer->comm));
    PSD_TRY(add_all(singer));
    PSD_TRY(psd_comm_start(singer->comm));
    singer->worker = psd_comm_hosted(singer->comm, &hosted)[0];
    return singer->chorus->ready ? singer->chorus->ready(singer->chorus->context) : PSD_OK;
}

static psd_status sing(struct singer *singer, uint64_t iteration)
{
    const struct psd_chorus *chorus = singer->chorus;
    float *grad = singer->values + singer->count;

    PSD_TRY(psd_comm_begin(singer->comm, iteration, 0));
    for (size_t i = chorus->n_params; i > 0; i--) {
        grad -= chorus->counts[i - 1];
        PSD_TRY(psd_comm_sync(singer->comm, (int)i - 1, singer->worker, grad));
    }
    for (size_t i = 0; i < chorus->n_params; i++)
        PSD_TRY(psd_comm_wait(singer->comm, (int)i));
    return PSD_OK;
}

static void learn(struct singer *singer)
{
    const struct psd_comm_options *seat = &singer->chorus->seat;

    for (size_t i = 0; i < VERSE; i++) {
        singer->gives[i] = psd_chorus_gives(seat->rank, i);
        singer->sums[i] = psd_chorus_sum(seat->ranks, i);
    }
}

static void fill(const struct singer *singer)
{
    for (size_t i = 0; i < singer->count; i += VERSE) {
        size_t part = singer->count - i < VERSE ? singer->count - i : VERSE;
        memcpy(singer->values + i, singer->gives, part * sizeof *singer->values);
    }
}

static psd_status fail_at(const float *values, const float *sums, size_t index)
{
    return psd_fail(PSD_EPEER, "the sum of number %zu is %g, not %g", index, (double)values[index],
                    (double)sums[index % VERSE]);
}

static psd_status check(const struct singer *singer)
{
    for (size_t i = 0; i < singer->count; i += VERSE) {
        size_t part = singer->count - i < VERSE ? singer->count - i : VERSE;
        if (memcmp(singer->values + i, singer->sums, part * sizeof *singer->values) == 0)
            continue;
        while (singer->values[i] == singer->sums[i % VERSE])
            i++;
        return fail_at(singer->values, singer->sums, i);
    }
    return PSD_OK;
}

static psd_status measure(struct singer *singer, unsigned time, struct psd_chorus_result *out)
{
    fill(singer);
    PSD_TRY(psd_comm_barrier(singer->comm));
    struct psd_busy before = psd_busy_read();
    PSD_TRY(psd_comm_barrier(singer->comm)); /* reading takes a while, and not the same for all */
    uint64_t begin = psd_clock_now();
    PSD_TRY(sing(singer, time));
    uint64_t end = psd_clock_now();
    PSD_TRY(psd_comm_barrier(singer->comm));
    if (time >= PSD_CHORUS_WARM) {
        psd_busy_add_since(&out->busy, &before);
        out->begin_ns[time - PSD_CHORUS_WARM] = begin;
        out->end_ns[time - PSD_CHORUS_WARM] = end;
    }
    return check(singer);
}

static psd_status perform(struct singer *singer, struct psd_chorus_result *out)
{
    for (size_t i = 0; i < singer->chorus->n_params; i++)
        singer->count += singer->chorus->counts[i];
    singer->values = psd_alloc(singer->count * sizeof *singer->values);
    if (!singer->values)
        return PSD_ENOMEM;
    learn(singer);
    PSD_TRY(take_seat(singer));
    for (unsigned time = 0; time < PSD_CHORUS_WARM + singer->chorus->times; time++)
        PSD_TRY(measure(singer, time, out));
    return PSD_OK;
}

psd_status psd_chorus_run(const struct psd_chorus *chorus, struct psd_chorus_result *out)
{
    struct singer singer = {.chorus = chorus};
    char sentence[2000];

    psd_status status = perform(&singer, out);
    snprintf(sentence, sizeof sentence, "%s", psd_error()); /* closing may fail, too */
    psd_comm_close(singer.comm);
    psd_alloc_free(singer.values);
    return status == PSD_OK ? PSD_OK : psd_fail(status, "%s", sentence);
}
