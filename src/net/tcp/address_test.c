/* address_test.c - hosts, ports and ranges are read, and what is none is named. */
#include "net/tcp/address.h"
#include "test.h"

static void texts_become_addresses(void)
{
    static const struct {
        const char *text, *host;
        uint16_t first, last;
    } cases[] = {
        {"10.0.0.5:7071", "10.0.0.5", 7071, 7071},
        {"10.0.0.5:7071-7099", "10.0.0.5", 7071, 7099},
        {"10.0.0.5", "10.0.0.5", 7070, 8093},
        {"127.0.0.1:0", "127.0.0.1", 0, 0},
        {"127.0.0.1:65535", "127.0.0.1", 65535, 65535},
        {"[::1]:80", "[::1]", 80, 80},
        {"[fd00::5]", "[fd00::5]", 7070, 8093},
        {"localhost:7070", "127.0.0.1", 7070, 7070},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_tcp_address address;
        char text[PSD_TCP_TEXT];
        fprintf(stderr, "    %s\n", cases[i].text);
        CHECK_OK(psd_tcp_address_read(cases[i].text, &address));
        psd_tcp_name_write(&address.name, text);
        if (strcmp(text, "[::1]") != 0 || strcmp(cases[i].host, "127.0.0.1") != 0)
            CHECK_TEXT(cases[i].host, text);
        CHECK(address.first == cases[i].first && address.last == cases[i].last);
    }
}

static void a_host_may_be_left_out(void)
{
    static const char *const texts[] = {"", ":7070", ":7070-7080"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct psd_tcp_address address;
        CHECK_OK(psd_tcp_address_read(texts[i], &address));
        CHECK(address.name.any.sa_family == AF_UNSPEC && address.first == 7070);
    }
}

static void what_is_no_address_gets_a_sentence(void)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"10.0.0.5:", "the port is a number up to 65535"},
        {"10.0.0.5:x", "the port is a number up to 65535"},
        {"10.0.0.5:65536", "the port is a number up to 65535"},
        {"10.0.0.5:99999999999999999999", "the port is a number up to 65535"},
        {"10.0.0.5:70a", "something follows the port"},
        {"10.0.0.5:70-80-90", "something follows the port"},
        {"10.0.0.5:80-70", "a range goes from a lower port to a higher one"},
        {"10.0.0.5:80-", "a range goes from a lower port to a higher one"},
        {"10.0.0.5:0-5", "a range goes from a lower port to a higher one"},
        {"fd00::5:7070", "an IPv6 address stands in brackets"},
        {"[fd00::5:7070", "a bracket is not closed"},
        {"[fd00::5]7070", "the port is a number up to 65535"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_tcp_address address = {.first = 5};
        char sentence[300];
        snprintf(sentence, sizeof sentence,
                 "tcp://%s is no address: %s (10.0.0.5:7070, 10.0.0.5:7070-7099 and [fd00::5]:7070 "
                 "are some)",
                 cases[i].text, cases[i].why);
        CHECK_STATUS(PSD_ECONFIG, psd_tcp_address_read(cases[i].text, &address));
        CHECK_TEXT(sentence, psd_error());
        CHECK(address.first == 5);
    }
}

static void a_name_that_nobody_knows_is_named(void)
{
    struct psd_tcp_address address;

    CHECK_STATUS(PSD_ECONFIG, psd_tcp_address_read("no such host:7070", &address));
    CHECK(strncmp(psd_error(), "the address of no such host is not known (", 42) == 0);
}

static void a_long_name_is_refused(void)
{
    struct psd_tcp_address address;
    char text[400];

    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    CHECK_STATUS(PSD_ECONFIG, psd_tcp_address_read(text, &address));
}

static void addresses_are_written_with_their_port(void)
{
    struct psd_tcp_address address;
    char text[PSD_TCP_TEXT];

    CHECK_OK(psd_tcp_address_read("[fd00::5]:7070", &address));
    psd_tcp_name_set_port(&address.name, address.first);
    psd_tcp_name_write(&address.name, text);
    CHECK_TEXT("[fd00::5]:7070", text);
    CHECK(psd_tcp_name_port(&address.name) == 7070 && !psd_tcp_name_is_any(&address.name));
    CHECK_OK(psd_tcp_address_read("[::]", &address));
    CHECK(psd_tcp_name_is_any(&address.name));
    CHECK_OK(psd_tcp_address_read("0.0.0.0", &address));
    CHECK(psd_tcp_name_is_any(&address.name));
}

static void towards_a_peer_means_the_address_that_it_sees(void)
{
    union psd_tcp_name name;
    char text[PSD_TCP_TEXT];

    CHECK_OK(psd_tcp_address_towards("127.0.0.1:7070", &name));
    psd_tcp_name_write(&name, text);
    CHECK_TEXT("127.0.0.1", text);
    CHECK_STATUS(PSD_ECONFIG, psd_tcp_address_towards(":7070", &name));
    CHECK_STATUS(PSD_ECONFIG, psd_tcp_address_towards("127.0.0.1:x", &name));
}

static void only_numbers_say_that_a_host_is_this_machine(void)
{
    static const char *const here[] = {"127.0.0.1:7070", "127.8.9.1", "[::1]:7070", "[::1]"};
    static const char *const elsewhere[] = {"127.example.org:7070",
                                            "127.0.0.1.example.org",
                                            "localhost:7070",
                                            "10.127.0.1:7070",
                                            "127:7070",
                                            "[fd00::1]:7070",
                                            "[::ffff:10.0.0.1]",
                                            "::1",
                                            "",
                                            "128.0.0.1"};

    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        CHECK(psd_tcp_address_is_loopback(here[i]));
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        CHECK(!psd_tcp_address_is_loopback(elsewhere[i]));
}

static void hosts_are_the_same_whatever_their_ports(void)
{
    struct psd_tcp_address a, b;

    CHECK_OK(psd_tcp_address_read("10.0.0.5:7070", &a));
    CHECK_OK(psd_tcp_address_read("10.0.0.5:80", &b));
    CHECK(psd_tcp_name_is_same_host(&a.name, &b.name));
    CHECK_OK(psd_tcp_address_read("10.0.0.6:80", &b));
    CHECK(!psd_tcp_name_is_same_host(&a.name, &b.name));
    CHECK_OK(psd_tcp_address_read("[fd00::5]:7070", &b));
    CHECK(!psd_tcp_name_is_same_host(&a.name, &b.name));
    CHECK_OK(psd_tcp_address_read("[fd00::5]", &a));
    CHECK(psd_tcp_name_is_same_host(&a.name, &b.name));
}

int main(int argc, char **argv)
{
    RUN(texts_become_addresses)
    RUN(a_host_may_be_left_out)
    RUN(what_is_no_address_gets_a_sentence)
    RUN(a_name_that_nobody_knows_is_named)
    RUN(a_long_name_is_refused)
    RUN(addresses_are_written_with_their_port)
    RUN(towards_a_peer_means_the_address_that_it_sees)
    RUN(only_numbers_say_that_a_host_is_this_machine)
    RUN(hosts_are_the_same_whatever_their_ports)
}
