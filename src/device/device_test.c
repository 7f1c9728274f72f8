/* device_test.c - the contract of device.h, on every device of every kind that is compiled in.
 *
 * EACH(test) runs a test once per device of this machine, on a fresh handle; afterwards nothing of
 * the device may be in use. */
#include "base/alloc.h"
#include "device/device.h"
#include "device/devices.h"
#include "test.h"

#include <pthread.h>
#include <stdint.h>

enum { BYTES = 10007 }; /* odd on purpose */

static void (*contract)(struct psd_device *device);

static void on_every_device(void)
{
    struct psd_device_entry entry;

    for (size_t i = 0; psd_devices_list(i, &entry); i++) {
        struct psd_device *device = NULL;
        fprintf(stderr, "    %s (%s)\n", entry.name, entry.description);
        CHECK_OK(psd_device_open(entry.name, 0, &device));
        contract(device);
        CHECK(psd_device_usage(device).in_use == 0);
        CHECK(psd_device_usage(device).pinned == 0);
        psd_device_close(device);
    }
}

#define EACH(test) (contract = (test), test_run(#test, on_every_device, argc, argv));

/* --- helpers ----------------------------------------------------------------------------------*/

static struct psd_device_memory *new_memory(struct psd_device *device, size_t size)
{
    struct psd_device_memory *memory = NULL;

    CHECK_OK(psd_device_alloc(device, size, &memory));
    return memory;
}

static struct psd_device_stream *new_stream(struct psd_device *device)
{
    struct psd_device_stream *stream = NULL;

    CHECK_OK(psd_device_stream_create(device, &stream));
    return stream;
}

static struct psd_device_event *new_event(struct psd_device *device)
{
    struct psd_device_event *event = NULL;

    CHECK_OK(psd_device_event_create(device, &event));
    return event;
}

static const unsigned char *pattern(unsigned seed)
{
    static unsigned char bytes[BYTES];

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
    return bytes;
}

/* --- memory and copies ------------------------------------------------------------------------*/

static void what_is_uploaded_can_be_downloaded(struct psd_device *device)
{
    static const size_t sizes[] = {1, 3, 64, 4096, BYTES};
    struct psd_device_memory *memory = new_memory(device, BYTES + 5);
    struct psd_device_stream *stream = new_stream(device);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t offset = 0; offset <= 5; offset++) {
            unsigned char back[BYTES] = {0};
            const unsigned char *sent = pattern((unsigned)(i + offset));
            CHECK_OK(psd_device_upload(stream, memory, offset, sent, sizes[i]));
            CHECK_OK(psd_device_download(stream, memory, offset, back, sizes[i]));
            CHECK_OK(psd_device_stream_finish(stream));
            CHECK(memcmp(sent, back, sizes[i]) == 0);
        }
    }
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
}

static void new_memory_is_zero_also_where_it_was_used_before(struct psd_device *device)
{
    unsigned char back[BYTES];
    const unsigned char *sent = pattern(1);

    for (int round = 0; round < 3; round++) {
        struct psd_device_memory *memory = new_memory(device, BYTES);
        struct psd_device_stream *stream = new_stream(device);
        CHECK_OK(psd_device_download(stream, memory, 0, back, BYTES));
        CHECK_OK(psd_device_upload(stream, memory, 0, sent, BYTES));
        CHECK_OK(psd_device_stream_finish(stream));
        for (size_t i = 0; i < BYTES; i++)
            CHECK(back[i] == 0);
        psd_device_stream_destroy(stream);
        psd_device_free(memory);
    }
}

static void work_in_a_stream_is_done_in_order(struct psd_device *device)
{
    struct psd_device_memory *a = new_memory(device, BYTES), *b = new_memory(device, BYTES);
    struct psd_device_stream *stream = new_stream(device);
    unsigned char back[BYTES];
    const unsigned char *sent = pattern(1);

    CHECK_OK(psd_device_zero(stream, a, 0, BYTES));
    CHECK_OK(psd_device_upload(stream, a, 0, sent, BYTES));
    CHECK_OK(psd_device_copy(stream, b, 0, a, 0, BYTES));
    CHECK_OK(psd_device_zero(stream, a, 0, BYTES));
    CHECK_OK(psd_device_copy(stream, a, 100, b, 7, 1000));
    CHECK_OK(psd_device_download(stream, a, 0, back, BYTES));
    CHECK_OK(psd_device_stream_finish(stream));
    for (size_t i = 0; i < BYTES; i++)
        CHECK(back[i] == (i >= 100 && i < 1100 ? sent[i - 93] : 0));
    psd_device_stream_destroy(stream);
    psd_device_free(a);
    psd_device_free(b);
}

static void a_copy_within_one_memory_works_if_nothing_overlaps(struct psd_device *device)
{
    struct psd_device_memory *memory = new_memory(device, BYTES);
    struct psd_device_stream *stream = new_stream(device);
    unsigned char back[100];
    const unsigned char *sent = pattern(2);

    CHECK_OK(psd_device_upload(stream, memory, 0, sent, BYTES));
    CHECK_OK(psd_device_copy(stream, memory, 100, memory, 0, 100));
    CHECK_STATUS(PSD_EINVAL, psd_device_copy(stream, memory, 50, memory, 0, 100));
    CHECK_STATUS(PSD_EINVAL, psd_device_copy(stream, memory, 0, memory, 50, 100));
    CHECK(strstr(psd_error(), "overlap"));
    CHECK_OK(psd_device_download(stream, memory, 100, back, 100));
    CHECK_OK(psd_device_stream_finish(stream));
    CHECK(memcmp(back, sent, 100) == 0);
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
}

static void pinned_memory_is_the_far_end_of_copies(struct psd_device *device)
{
    struct psd_device_memory *memory = new_memory(device, BYTES), *out = NULL, *in = NULL;
    struct psd_device_stream *stream = new_stream(device);

    CHECK_OK(psd_device_alloc_pinned(device, BYTES, &out));
    CHECK_OK(psd_device_alloc_pinned(device, BYTES, &in));
    CHECK(psd_device_usage(device).pinned == 2 * (size_t)BYTES);
    CHECK(psd_device_usage(device).in_use == BYTES);
    memcpy(psd_device_host(out), pattern(3), BYTES);
    CHECK_OK(psd_device_upload(stream, memory, 0, psd_device_host(out), BYTES));
    CHECK_OK(psd_device_download(stream, memory, 0, psd_device_host(in), BYTES));
    CHECK_OK(psd_device_stream_finish(stream));
    CHECK(memcmp(psd_device_host(out), psd_device_host(in), BYTES) == 0);

    CHECK_STATUS(PSD_EINVAL, psd_device_zero(stream, in, 0, 1));
    CHECK_STATUS(PSD_EINVAL, psd_device_copy(stream, memory, 0, in, 0, 1));
    CHECK(strstr(psd_error(), "pinned"));
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
    psd_device_free(out);
    psd_device_free(in);
}

static void unified_memory_is_touched_in_place(struct psd_device *device)
{
    struct psd_device_memory *memory = new_memory(device, BYTES);
    struct psd_device_stream *stream = new_stream(device);
    unsigned char *host = psd_device_host(memory), back[BYTES];

    CHECK(host || !psd_device_unified(device));
    if (host) {
        CHECK((uintptr_t)host % 64 == 0);
        memcpy(host, pattern(4), BYTES);
        CHECK_OK(psd_device_download(stream, memory, 0, back, BYTES));
        CHECK_OK(psd_device_stream_finish(stream));
        CHECK(memcmp(back, host, BYTES) == 0);
    }
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
}

static void ranges_that_do_not_fit_are_refused_and_change_nothing(struct psd_device *device)
{
    static const struct {
        const char *why;
        size_t offset, size;
    } cases[] = {{"one byte too many", 1, BYTES},
                 {"begins behind the end", BYTES + 1, 0},
                 {"offset and size overflow", SIZE_MAX, 2},
                 {"a size beyond reason", 0, SIZE_MAX}};
    struct psd_device_memory *a = new_memory(device, BYTES), *b = new_memory(device, BYTES);
    struct psd_device_stream *stream = new_stream(device);
    unsigned char back[BYTES];

    CHECK_OK(psd_device_upload(stream, a, 0, pattern(5), BYTES));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t offset = cases[i].offset, size = cases[i].size;
        fprintf(stderr, "    %s\n", cases[i].why);
        CHECK_STATUS(PSD_EINVAL, psd_device_upload(stream, a, offset, back, size));
        CHECK_STATUS(PSD_EINVAL, psd_device_download(stream, a, offset, back, size));
        CHECK_STATUS(PSD_EINVAL, psd_device_copy(stream, a, offset, b, 0, size));
        CHECK_STATUS(PSD_EINVAL, psd_device_copy(stream, b, 0, a, offset, size));
        CHECK_STATUS(PSD_EINVAL, psd_device_zero(stream, a, offset, size));
    }
    CHECK_OK(psd_device_download(stream, a, 0, back, BYTES));
    CHECK_OK(psd_device_stream_finish(stream));
    CHECK(memcmp(back, pattern(5), BYTES) == 0);
    psd_device_stream_destroy(stream);
    psd_device_free(a);
    psd_device_free(b);
}

static void handles_do_not_mix(struct psd_device *device)
{
    struct psd_device *other = NULL;

    CHECK_OK(psd_device_open(psd_device_entry(device)->name, 0, &other));
    struct psd_device_memory *mine = new_memory(device, 8), *foreign = new_memory(other, 8);
    struct psd_device_stream *stream = new_stream(device);
    struct psd_device_event *event = new_event(other);

    CHECK_STATUS(PSD_EINVAL, psd_device_zero(stream, foreign, 0, 8));
    CHECK_STATUS(PSD_EINVAL, psd_device_copy(stream, mine, 0, foreign, 0, 8));
    CHECK_STATUS(PSD_EINVAL, psd_device_stream_wait(stream, event));
    CHECK_STATUS(PSD_EINVAL, psd_device_event_record(event, stream));
    psd_device_event_destroy(event);
    psd_device_stream_destroy(stream);
    psd_device_free(mine);
    psd_device_free(foreign);
    psd_device_close(other);
}

static void nothing_can_be_allocated_and_copied(struct psd_device *device)
{
    struct psd_device_memory *memory = new_memory(device, 0);
    struct psd_device_stream *stream = new_stream(device);

    CHECK(psd_device_size(memory) == 0);
    CHECK_OK(psd_device_upload(stream, memory, 0, NULL, 0));
    CHECK_OK(psd_device_download(stream, memory, 0, NULL, 0));
    CHECK_OK(psd_device_copy(stream, memory, 0, memory, 0, 0));
    CHECK_OK(psd_device_zero(stream, memory, 0, 0));
    CHECK_STATUS(PSD_EINVAL, psd_device_zero(stream, memory, 0, 1));
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
    psd_device_free(NULL);
    psd_device_stream_destroy(NULL);
    psd_device_event_destroy(NULL);
    psd_device_close(NULL);
}

/* --- events -----------------------------------------------------------------------------------*/

static void an_event_never_recorded_is_reached(struct psd_device *device)
{
    struct psd_device_stream *stream = new_stream(device);
    struct psd_device_event *event = new_event(device);
    bool reached = false;

    CHECK_OK(psd_device_event_query(event, &reached));
    CHECK(reached);
    CHECK_OK(psd_device_event_wait(event));
    CHECK_OK(psd_device_stream_wait(stream, event));
    CHECK_OK(psd_device_stream_finish(stream));
    psd_device_event_destroy(event);
    psd_device_stream_destroy(stream);
}

static void an_event_is_reached_when_the_work_before_it_is_done(struct psd_device *device)
{
    struct psd_device_memory *memory = new_memory(device, BYTES);
    struct psd_device_stream *stream = new_stream(device);
    struct psd_device_event *event = new_event(device);
    unsigned char back[BYTES];
    bool reached = false;

    for (unsigned round = 0; round < 3; round++) { /* recorded again, it moves */
        CHECK_OK(psd_device_upload(stream, memory, 0, pattern(round), BYTES));
        CHECK_OK(psd_device_download(stream, memory, 0, back, BYTES));
        CHECK_OK(psd_device_event_record(event, stream));
        CHECK_OK(psd_device_event_wait(event));
        CHECK(memcmp(back, pattern(round), BYTES) == 0);
        CHECK_OK(psd_device_event_query(event, &reached));
        CHECK(reached);
    }
    psd_device_event_destroy(event);
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
}

static void a_stream_waits_for_an_event_of_another(struct psd_device *device)
{
    struct psd_device_memory *a = new_memory(device, BYTES), *b = new_memory(device, BYTES);
    struct psd_device_stream *first = new_stream(device), *second = new_stream(device);
    unsigned char back[BYTES];

    for (unsigned round = 0; round < 20; round++) {
        struct psd_device_event *event = new_event(device);
        CHECK_OK(psd_device_upload(first, a, 0, pattern(round), BYTES));
        CHECK_OK(psd_device_event_record(event, first));
        CHECK_OK(psd_device_stream_wait(second, event));
        psd_device_event_destroy(event); /* the second stream waits all the same */
        CHECK_OK(psd_device_copy(second, b, 0, a, 0, BYTES));
        CHECK_OK(psd_device_download(second, b, 0, back, BYTES));
        CHECK_OK(psd_device_stream_finish(second));
        CHECK(memcmp(back, pattern(round), BYTES) == 0);
    }
    psd_device_stream_destroy(first);
    psd_device_stream_destroy(second);
    psd_device_free(a);
    psd_device_free(b);
}

/* --- books ------------------------------------------------------------------------------------*/

static void the_books_show_use_and_peak(struct psd_device *device)
{
    struct psd_device_memory *a = new_memory(device, 1000), *b = new_memory(device, 500);

    CHECK(psd_device_size(a) == 1000);
    CHECK(psd_device_usage(device).in_use == 1500);
    psd_device_free(a);
    CHECK(psd_device_usage(device).in_use == 500);
    CHECK(psd_device_usage(device).peak == 1500);
    CHECK(psd_device_usage(device).budget == 0);
    psd_device_free(b);
}

static void a_budget_is_kept(struct psd_device *device)
{
    struct psd_device *small = NULL;
    struct psd_device_memory *none = NULL, *pinned = NULL;

    CHECK_OK(psd_device_open(psd_device_entry(device)->name, 2000, &small));
    struct psd_device_memory *a = new_memory(small, 1500);
    CHECK_STATUS(PSD_ENOMEM, psd_device_alloc(small, 501, &none));
    CHECK(strstr(psd_error(), "501") && strstr(psd_error(), "1500") && strstr(psd_error(), "2000"));
    CHECK(!none);
    struct psd_device_memory *b = new_memory(small, 500);
    CHECK_STATUS(PSD_ENOMEM, psd_device_alloc(small, 1, &none));
    CHECK_OK(psd_device_alloc_pinned(small, 5000, &pinned));
    psd_device_free(a);
    a = new_memory(small, 1500);
    CHECK(psd_device_usage(small).peak == 2000);
    psd_device_free(a);
    psd_device_free(b);
    psd_device_free(pinned);
    psd_device_close(small);
}

static void sizes_beyond_reason_are_out_of_memory(struct psd_device *device)
{
    struct psd_device_memory *none = NULL;

    CHECK_STATUS(PSD_ENOMEM, psd_device_alloc(device, SIZE_MAX, &none));
    CHECK_STATUS(PSD_ENOMEM, psd_device_alloc_pinned(device, SIZE_MAX / 2 + 1, &none));
    CHECK(!none);
    CHECK(psd_device_usage(device).peak == 0);
}

static void the_device_says_how_large_it_is(struct psd_device *device)
{
    size_t unused = 0, total = 0;

    CHECK_OK(psd_device_space(device, &unused, &total));
    CHECK(total > 0 && unused <= total);
    CHECK(strlen(psd_device_entry(device)->description) > 0);
}

/* --- threads and failures ---------------------------------------------------------------------*/

static void *work_alone(void *arg)
{
    struct psd_device *device = arg;

    for (int round = 0; round < 50; round++) {
        struct psd_device_memory *memory = new_memory(device, 4096);
        struct psd_device_stream *stream = new_stream(device);
        unsigned char back[16];
        CHECK_OK(psd_device_zero(stream, memory, 0, 4096));
        CHECK_OK(psd_device_download(stream, memory, 4080, back, 16));
        CHECK_OK(psd_device_stream_finish(stream));
        CHECK(back[0] == 0 && back[15] == 0);
        psd_device_stream_destroy(stream);
        psd_device_free(memory);
    }
    return NULL;
}

static void threads_share_a_device(struct psd_device *device)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, work_alone, device) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(psd_device_usage(device).peak >= 4096);
    CHECK(psd_device_usage(device).peak <= 4 * (size_t)4096);
}

/* Makes one of everything, on a handle of its own. */
static psd_status use_everything(const char *name)
{
    struct psd_device *device = NULL;
    struct psd_device_memory *memory = NULL, *pinned = NULL;
    struct psd_device_stream *stream = NULL;
    struct psd_device_event *event = NULL;
    psd_status status = psd_device_open(name, 0, &device);

    if (status == PSD_OK)
        status = psd_device_alloc(device, 100, &memory);
    if (status == PSD_OK)
        status = psd_device_alloc_pinned(device, 100, &pinned);
    if (status == PSD_OK)
        status = psd_device_stream_create(device, &stream);
    if (status == PSD_OK)
        status = psd_device_event_create(device, &event);
    psd_device_event_destroy(event);
    psd_device_stream_destroy(stream);
    psd_device_free(pinned);
    psd_device_free(memory);
    if (device)
        CHECK(psd_device_usage(device).in_use == 0 && psd_device_usage(device).pinned == 0);
    psd_device_close(device);
    return status;
}

static void every_failed_allocation_is_survived(struct psd_device *device)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = use_everything(psd_device_entry(device)->name);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    EACH(what_is_uploaded_can_be_downloaded)
    EACH(new_memory_is_zero_also_where_it_was_used_before)
    EACH(work_in_a_stream_is_done_in_order)
    EACH(a_copy_within_one_memory_works_if_nothing_overlaps)
    EACH(pinned_memory_is_the_far_end_of_copies)
    EACH(unified_memory_is_touched_in_place)
    EACH(ranges_that_do_not_fit_are_refused_and_change_nothing)
    EACH(handles_do_not_mix)
    EACH(nothing_can_be_allocated_and_copied)
    EACH(an_event_never_recorded_is_reached)
    EACH(an_event_is_reached_when_the_work_before_it_is_done)
    EACH(a_stream_waits_for_an_event_of_another)
    EACH(the_books_show_use_and_peak)
    EACH(a_budget_is_kept)
    EACH(sizes_beyond_reason_are_out_of_memory)
    EACH(the_device_says_how_large_it_is)
    EACH(threads_share_a_device)
    EACH(every_failed_allocation_is_survived)
}
