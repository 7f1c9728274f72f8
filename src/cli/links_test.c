/* links_test.c - namespaces that hold what they are shaped to, and loopback. */
#include "cli/links.h"
#include "test.h"

static const struct psd_value_ports ports = {7400, 7999};

static void loopback_has_one_address_and_free_ports(void)
{
    struct psd_links links;
    char text[64];
    int port = 0;

    CHECK_OK(psd_links_open(3, true, &links));
    CHECK(!links.netns && !*links.why);
    CHECK_TEXT("127.0.0.1", psd_links_address(&links, 2, text, sizeof text));
    CHECK_OK(psd_links_coordinator(&links, ports, text, sizeof text));
    CHECK(sscanf(text, "tcp://127.0.0.1:%d", &port) == 1 && port >= ports.first);
    CHECK(port <= ports.last);
    CHECK_OK(psd_links_shape(&links, 1e6));
    CHECK_OK(psd_links_enter(&links, 2));
    psd_links_close(&links);
}

/* Whoever may not make namespaces has loopback, and is told why. */
static void without_root_there_is_loopback(void)
{
    struct psd_links links;

    if (geteuid() == 0)
        CHECK(setresuid(65534, 65534, 65534) == 0); /* for the rest of this test's process */
    CHECK_OK(psd_links_open(2, false, &links));
    fprintf(stderr, "    %s\n", links.why);
    CHECK(!links.netns && *links.why);
    psd_links_close(&links);
}

static void a_shaped_link_carries_little_more_than_its_rate(void)
{
    struct psd_goodput goodput = {0};
    struct psd_links links;
    char text[64];

    CHECK_OK(psd_links_open(2, false, &links));
    if (!links.netns)
        SKIP("%s", links.why);
    CHECK_OK(psd_links_coordinator(&links, ports, text, sizeof text));
    CHECK_TEXT("tcp://10.77.0.1:7070", text);
    CHECK_OK(psd_links_shape(&links, 100e6 / 8));
    CHECK_OK(psd_links_measure(&links, &goodput));
    fprintf(stderr, "    %.3f MB/s, %.1f us\n", goodput.bytes_per_s / 1e6, goodput.latency * 1e6);
    CHECK(goodput.bytes_per_s > 0 && goodput.bytes_per_s < 40e6); /* a busy reader catches up */
    psd_links_close(&links);
}

int main(int argc, char **argv)
{
    RUN(loopback_has_one_address_and_free_ports)
    RUN(a_shaped_link_carries_little_more_than_its_rate)
    RUN(without_root_there_is_loopback)
}
