/* port_test.c - who gets a port that is held, and who does not. */
#include "cli/port.h"
#include "test.h"

#include <arpa/inet.h>

/* Some that no other test is likely to look for. */
static const struct psd_value_ports range = {29000, 30000};

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

    CHECK_OK(psd_port_hold(range, &port));
    CHECK(port.number >= range.first && port.number <= range.last);
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
        CHECK_OK(psd_port_hold(range, &ports[i]));
        for (int k = 0; k < i; k++)
            CHECK(ports[k].number != ports[i].number);
    }
    for (int i = 0; i < MANY; i++)
        psd_port_release(&ports[i]);
}

/* A connection of its own making fades at the port of who closes first. */
static void let_it_fade(uint16_t number)
{
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    int listener = listen_at(number, 1), caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(listener >= 0 && getsockname(listener, (struct sockaddr *)&name, &size) == 0);
    CHECK(caller >= 0 && connect(caller, (const struct sockaddr *)&name, size) == 0);
    int called = accept(listener, NULL, NULL);
    CHECK(called >= 0);
    close(called);
    CHECK(recv(caller, &name, 1, 0) == 0);
    close(caller);
    close(listener);
}

static void a_port_that_fades_is_the_last_resort(void)
{
    struct psd_port first, next, again;

    CHECK_OK(psd_port_hold(range, &first));
    let_it_fade(first.number);
    psd_port_release(&first);
    CHECK_OK(psd_port_hold(range, &next));
    CHECK(next.number > first.number);
    CHECK_OK(psd_port_hold((struct psd_value_ports){first.number, first.number}, &again));
    CHECK(again.number == first.number);
    int fd = listen_at(again.number, 1);
    CHECK(fd >= 0);
    struct psd_port none = {.fd = -1};
    CHECK_STATUS(PSD_ECONFIG,
                 psd_port_hold((struct psd_value_ports){first.number, first.number}, &none));
    CHECK(strstr(psd_error(), "are taken: choose others by net.port") && none.fd == -1);
    close(fd);
    psd_port_release(&next);
    psd_port_release(&again);
}

int main(int argc, char **argv)
{
    RUN(one_listener_gets_it_while_it_is_held)
    RUN(nobody_else_is_given_it)
    RUN(a_port_that_fades_is_the_last_resort)
}
