/* port_test.c - who gets a port that is held, and who does not. */
#include "cli/port.h"
#include "net/tcp/address.h"
#include "test.h"

#include <arpa/inet.h>

/* A socket at `number` of 127.0.0.1 that listens, or -1. */
static int listen_at(uint16_t number, int reuse)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                               .sin_port = htons(number)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0);
    if (bind(fd, (const struct sockaddr *)&name, sizeof name) == 0 && listen(fd, 1) == 0)
        return fd;
    close(fd);
    return -1;
}

static void one_listener_gets_it_while_it_is_held(void)
{
    struct psd_port port;

    CHECK_OK(psd_port_hold(&port));
    CHECK(port.number < PSD_TCP_PORT || port.number >= PSD_TCP_PORT + PSD_TCP_PORTS);
    CHECK(listen_at(port.number, 0) < 0);
    int fd = listen_at(port.number, 1);
    CHECK(fd >= 0);
    CHECK(listen_at(port.number, 1) < 0);
    psd_port_release(&port);
    psd_port_release(&port);
    CHECK(port.fd == -1 && listen_at(port.number, 1) < 0);
    close(fd);
}

static void nobody_else_is_given_it(void)
{
    enum { MANY = 300 };
    struct psd_port ports[MANY];

    for (int i = 0; i < MANY; i++) {
        CHECK_OK(psd_port_hold(&ports[i]));
        for (int k = 0; k < i; k++)
            CHECK(ports[k].number != ports[i].number);
    }
    for (int i = 0; i < MANY; i++)
        psd_port_release(&ports[i]);
}

int main(int argc, char **argv)
{
    RUN(one_listener_gets_it_while_it_is_held)
    RUN(nobody_else_is_given_it)
}
