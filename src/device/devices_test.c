/* devices_test.c - which device a name means, and what is said when it means none. */
#include "device/devices.h"
#include "device/kind.h"
#include "test.h"

static void the_host_is_always_there(void)
{
    const struct psd_device_kind *kind = NULL;
    size_t index = 9;

    CHECK_OK(psd_devices_parse("host", &kind, &index));
    CHECK(kind == &psd_device_kind_host && index == 0);
    index = 9;
    CHECK_OK(psd_devices_parse("host:0", &kind, &index));
    CHECK(kind == &psd_device_kind_host && index == 0);
}

static void every_listed_device_is_found_by_its_name(void)
{
    struct psd_device_entry entry, again;
    size_t count = 0;

    for (; psd_devices_list(count, &entry); count++) {
        const struct psd_device_kind *kind = NULL;
        size_t index = 0;
        CHECK_OK(psd_devices_parse(entry.name, &kind, &index));
        psd_devices_describe(kind, index, &again);
        CHECK_TEXT(entry.name, again.name);
        CHECK_TEXT(entry.description, again.description);
    }
    CHECK(count >= 1);
    CHECK(!psd_devices_list(count + 1, &entry));
}

static void a_name_that_means_no_device_is_explained(void)
{
    static const struct {
        const char *name, *said;
    } cases[] = {{"hots", "Did you mean \"host\"?"},
                 {"abacus", "no kind of device \"abacus\"; this build has: "},
                 {"", "no kind of device \"\""},
                 {":0", "no kind of device \"\""},
                 {"host:1", "there is no device host:1: of kind host this machine has 1"},
                 {"host:99999999999999999999999", "this machine has 1"},
                 {"host:", "\"\" is not an index, such as in host:0"},
                 {"host:first", "\"first\" is not an index"},
                 {"host:-1", "\"-1\" is not an index"},
                 {"host: 0", "\" 0\" is not an index"},
                 {"host:0x0", "\"0x0\" is not an index"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct psd_device_kind *kind = NULL;
        size_t index = 9;
        CHECK_STATUS(PSD_ECONFIG, psd_devices_parse(cases[i].name, &kind, &index));
        fprintf(stderr, "    %s\n", psd_error());
        CHECK(strstr(psd_error(), cases[i].said));
        CHECK(!kind && index == 9);
    }
}

int main(int argc, char **argv)
{
    RUN(the_host_is_always_there)
    RUN(every_listed_device_is_found_by_its_name)
    RUN(a_name_that_means_no_device_is_explained)
}
