/* settings_test.c - who wins, where a value comes from, and what is said about a wrong one. */
#include "base/alloc.h"
#include "base/settings.h"
#include "test.h"

struct net_config {
    uint64_t timeout_ns;
    char *interface;
};

struct mem_config {
    size_t limit;
};

static const struct psd_setting net_settings[] = {
    {"net.timeout", "10s", "a peer silent for this long has left",
     PSD_TIME(struct net_config, timeout_ns)},
    {"net.interface", "", "the network to use", PSD_TEXT(struct net_config, interface)},
    {0},
};

static const struct psd_setting mem_settings[] = {
    {"mem.soft_limit", "1G", "when swapping begins", PSD_SIZE(struct mem_config, limit)},
    {0},
};

static struct net_config net;
static struct mem_config mem;

static struct psd_settings *new_settings(void)
{
    struct psd_settings *settings = NULL;

    CHECK_OK(psd_settings_create(&settings));
    CHECK_OK(psd_settings_add(settings, net_settings, &net));
    CHECK_OK(psd_settings_add(settings, mem_settings, &mem));
    return settings;
}

static const struct psd_settings_entry *find(struct psd_settings *settings, const char *name)
{
    return psd_settings_find(settings, name, strlen(name));
}

/* The environment of a machine without any settings file, and one variable of ours. */
#define ENVIRONMENT(variable)                                           \
    (char *[])                                                          \
    {                                                                   \
        (char[]){"PSD_CONFIG_FILE=/dev/null"}, (char[]){variable}, NULL \
    }

static void every_setting_starts_with_its_default(void)
{
    struct psd_settings *settings = new_settings();

    CHECK(net.timeout_ns == UINT64_C(10000000000));
    CHECK_TEXT("", net.interface);
    CHECK(mem.limit == 1 << 30);
    CHECK_TEXT("10s", find(settings, "net.timeout")->text);
    CHECK_TEXT("default", find(settings, "net.timeout")->place);
    psd_settings_destroy(settings);
    CHECK(net.interface == NULL);
}

static void one_name_has_several_shapes(void)
{
    struct psd_settings *settings = new_settings();
    const struct psd_settings_entry *entry = find(settings, "mem.soft_limit");

    CHECK(entry && entry == find(settings, "mem-soft-limit"));
    CHECK_TEXT("mem-soft-limit", entry->flag);
    CHECK_TEXT("PSD_MEM_SOFT_LIMIT", entry->variable);
    CHECK(!find(settings, "mem.soft"));
    CHECK(!find(settings, "mem.soft_limits"));
    CHECK(!find(settings, ""));
    psd_settings_destroy(settings);
}

static void settings_are_listed_in_the_order_of_adding(void)
{
    struct psd_settings *settings = new_settings();

    CHECK_TEXT("net.timeout", psd_settings_entry(settings, 0)->setting->name);
    CHECK_TEXT("mem.soft_limit", psd_settings_entry(settings, 2)->setting->name);
    CHECK(!psd_settings_entry(settings, 3));
    psd_settings_destroy(settings);
}

static void the_stronger_origin_wins_whatever_the_order(void)
{
    struct psd_settings *settings = new_settings();
    const struct psd_setting *timeout = &net_settings[0];

    CHECK_OK(psd_settings_set(settings, timeout, "2s", PSD_ORIGIN_FLAG, "--net-timeout"));
    CHECK_OK(psd_settings_set(settings, timeout, "3s", PSD_ORIGIN_FILE, "a.conf:1"));
    CHECK_OK(psd_settings_load(settings, NULL, ENVIRONMENT("PSD_NET_TIMEOUT=4s")));
    CHECK(net.timeout_ns == UINT64_C(2000000000));
    CHECK_TEXT("2s", find(settings, "net.timeout")->text);
    CHECK_TEXT("--net-timeout", find(settings, "net.timeout")->place);

    CHECK_OK(psd_settings_set(settings, timeout, "5s", PSD_ORIGIN_FLAG, "--net-timeout"));
    CHECK(net.timeout_ns == UINT64_C(5000000000));
    psd_settings_destroy(settings);
}

static void a_value_that_does_not_win_must_be_right_all_the_same(void)
{
    struct psd_settings *settings = new_settings();
    const struct psd_setting *timeout = &net_settings[0];

    CHECK_OK(psd_settings_set(settings, timeout, "2s", PSD_ORIGIN_FLAG, "--net-timeout"));
    CHECK_STATUS(PSD_ECONFIG,
                 psd_settings_set(settings, timeout, "soon", PSD_ORIGIN_FILE, "a.conf:1"));
    CHECK_TEXT("\"soon\" is not a time such as 500ms, 10s, 2m or 1h", psd_error());
    psd_settings_destroy(settings);
}

static void the_environment_is_read_and_remembered(void)
{
    struct psd_settings *settings = new_settings();

    CHECK_OK(psd_settings_load(settings, NULL, ENVIRONMENT("PSD_NET_INTERFACE=eth0")));
    CHECK_TEXT("eth0", net.interface);
    CHECK_TEXT("environment PSD_NET_INTERFACE", find(settings, "net.interface")->place);
    psd_settings_destroy(settings);
}

static void an_empty_variable_counts_as_none(void)
{
    struct psd_settings *settings = new_settings();

    CHECK_OK(psd_settings_load(settings, NULL, ENVIRONMENT("PSD_NET_TIMEOUT=")));
    CHECK_TEXT("default", find(settings, "net.timeout")->place);
    psd_settings_destroy(settings);
}

static void a_wrong_variable_is_named(void)
{
    struct psd_settings *settings = new_settings();

    CHECK_STATUS(PSD_ECONFIG, psd_settings_load(settings, NULL, ENVIRONMENT("PSD_NET_TIMEOUT=5")));
    CHECK_TEXT("environment PSD_NET_TIMEOUT: \"5\" is not a time such as 500ms, 10s, 2m or 1h",
               psd_error());
    psd_settings_destroy(settings);
}

static void a_variable_that_looks_like_a_typo_is_a_warning(void)
{
    struct psd_settings *settings = new_settings();

    CHECK_OK(psd_settings_load(settings, NULL, ENVIRONMENT("PSD_NET_TIMOUT=5s")));
    CHECK_TEXT("environment PSD_NET_TIMOUT is not a setting; did you mean PSD_NET_TIMEOUT?",
               psd_settings_warnings(settings));
    CHECK_OK(psd_settings_load(settings, NULL, ENVIRONMENT("PSD_RANK=3")));
    CHECK_TEXT("", psd_settings_warnings(settings));
    psd_settings_destroy(settings);
}

static void a_name_cannot_be_added_twice(void)
{
    struct psd_settings *settings = new_settings();

    CHECK_STATUS(PSD_EINVAL, psd_settings_add(settings, net_settings, &net));
    psd_settings_destroy(settings);
}

static psd_status use_settings(void)
{
    struct psd_settings *settings = NULL;

    net = (struct net_config){0};
    psd_status status = psd_settings_create(&settings);
    if (status == PSD_OK)
        status = psd_settings_add(settings, net_settings, &net);
    if (status == PSD_OK)
        status = psd_settings_load(settings, NULL, ENVIRONMENT("PSD_NET_INTERFACE=eth0"));
    psd_settings_destroy(settings);
    return status;
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        psd_alloc_fail_at(n);
        psd_status status = use_settings();
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
    }
}

int main(int argc, char **argv)
{
    RUN(every_setting_starts_with_its_default)
    RUN(one_name_has_several_shapes)
    RUN(settings_are_listed_in_the_order_of_adding)
    RUN(the_stronger_origin_wins_whatever_the_order)
    RUN(a_value_that_does_not_win_must_be_right_all_the_same)
    RUN(the_environment_is_read_and_remembered)
    RUN(an_empty_variable_counts_as_none)
    RUN(a_wrong_variable_is_named)
    RUN(a_variable_that_looks_like_a_typo_is_a_warning)
    RUN(a_name_cannot_be_added_twice)
    RUN(every_failed_allocation_is_survived)
}
