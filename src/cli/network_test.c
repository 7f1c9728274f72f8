/* network_test.c - which ports a setting stands for. */
#include "cli/network.h"
#include "net/tcp/address.h"
#include "test.h"

static void one_port_stands_for_as_many_as_there_are_but_no_more_than_1024(void)
{
    static const struct {
        uint16_t first, last;
    } cases[] = {{1, 1024},      {7070, 8093},   {64510, 65533}, {64511, 65534},
                 {64512, 65535}, {64513, 65535}, {65535, 65535}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_network_config config = {.port.first = cases[i].first};
        struct psd_value_ports ports = psd_network_ports(&config);
        CHECK(ports.first == cases[i].first && ports.last == cases[i].last);
    }
}

static void a_range_is_what_it_says_and_none_is_the_usual_one(void)
{
    struct psd_network_config config = {.port = {64000, 65535}};
    struct psd_value_ports ports = psd_network_ports(&config);

    CHECK(ports.first == 64000 && ports.last == 65535);
    ports = psd_network_ports(&(struct psd_network_config){0});
    CHECK(ports.first == PSD_TCP_PORT && ports.last == PSD_TCP_PORT + PSD_TCP_PORTS - 1);
}

int main(int argc, char **argv)
{
    RUN(one_port_stands_for_as_many_as_there_are_but_no_more_than_1024)
    RUN(a_range_is_what_it_says_and_none_is_the_usual_one)
}
