/* host_test.c - what holds on the host beyond the contract that device_test.c looks at. */
#include "device/device.h"
#include "device/devices.h"
#include "test.h"

#include <stdint.h>

enum { HUGE_PAGE = 2 << 20 };

static struct psd_device *host(void)
{
    struct psd_device *device = NULL;

    CHECK_OK(psd_device_open("host", 0, &device));
    return device;
}

static void all_memory_is_the_hosts(void)
{
    struct psd_device *device = host();
    struct psd_device_memory *memory = NULL;

    CHECK(psd_device_unified(device));
    CHECK_OK(psd_device_alloc(device, 100, &memory));
    CHECK(psd_device_host(memory));
    psd_device_free(memory);
    psd_device_close(device);
}

static void small_memory_begins_a_cache_line_and_large_memory_a_huge_page(void)
{
    static const struct {
        size_t size, alignment;
    } cases[] = {{1, 64},
                 {1000, 64},
                 {HUGE_PAGE - 1, 64},
                 {HUGE_PAGE, HUGE_PAGE},
                 {3 * HUGE_PAGE + 5, HUGE_PAGE}};
    struct psd_device *device = host();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_device_memory *memory = NULL;
        CHECK_OK(psd_device_alloc(device, cases[i].size, &memory));
        CHECK((uintptr_t)psd_device_host(memory) % cases[i].alignment == 0);
        memset(psd_device_host(memory), 1, cases[i].size);
        psd_device_free(memory);
    }
    psd_device_close(device);
}

static void work_is_done_when_the_call_returns(void)
{
    struct psd_device *device = host();
    struct psd_device_memory *memory = NULL;
    struct psd_device_stream *stream = NULL;
    struct psd_device_event *event = NULL;
    bool reached = false;
    int back = 0;

    CHECK_OK(psd_device_alloc(device, sizeof back, &memory));
    CHECK_OK(psd_device_stream_create(device, &stream));
    CHECK_OK(psd_device_event_create(device, &event));
    CHECK_OK(psd_device_upload(stream, memory, 0, &(int){42}, sizeof back));
    CHECK_OK(psd_device_download(stream, memory, 0, &back, sizeof back));
    CHECK(back == 42);
    CHECK_OK(psd_device_event_record(event, stream));
    CHECK_OK(psd_device_event_query(event, &reached));
    CHECK(reached);
    psd_device_event_destroy(event);
    psd_device_stream_destroy(stream);
    psd_device_free(memory);
    psd_device_close(device);
}

static void the_description_counts_processors_and_memory(void)
{
    struct psd_device *device = host();

    CHECK_TEXT("host:0", psd_device_entry(device)->name);
    CHECK(strstr(psd_device_entry(device)->description, " processors, "));
    CHECK(strstr(psd_device_entry(device)->description, " GiB"));
    psd_device_close(device);
}

int main(int argc, char **argv)
{
    RUN(all_memory_is_the_hosts)
    RUN(small_memory_begins_a_cache_line_and_large_memory_a_huge_page)
    RUN(work_is_done_when_the_call_returns)
    RUN(the_description_counts_processors_and_memory)
}
