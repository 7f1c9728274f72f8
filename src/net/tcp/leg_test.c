/* leg_test.c - what a socket is told before it connects. */
#include "base/clock.h"
#include "net/tcp/tcp.h"
#include "test.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

static int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;

    CHECK(getsockopt(fd, level, name, &value, &size) == 0);
    return value;
}

static void a_socket_waits_as_long_as_the_job_does_and_asks_whether_the_peer_lives(void)
{
    struct psd_endpoint endpoint = {.config = {.timeout_ns = 3 * PSD_CLOCK_S}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    psd_tcp_leg_tune(&endpoint, fd);
    CHECK(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 3000);
    CHECK(option_of(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
    close(fd);
}

static void a_window_is_the_sockets_buffer(void)
{
    struct psd_endpoint endpoint = {.config = {.window = 64 << 10, .timeout_ns = PSD_CLOCK_S}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    psd_tcp_leg_tune(&endpoint, fd);
    CHECK(option_of(fd, SOL_SOCKET, SO_SNDBUF) == 64 << 10);
    close(fd);
}

/* More than the system allows is no window: the kernel goes on choosing. */
static void a_window_that_cannot_be_had_is_the_kernels(void)
{
    struct psd_endpoint endpoint = {
        .config = {.window = (size_t)1 << 40, .timeout_ns = PSD_CLOCK_S}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    psd_tcp_leg_tune(&endpoint, fd);
    CHECK(option_of(fd, SOL_SOCKET, SO_BUF_LOCK) == 0);
    close(fd);
}

static void without_a_window_the_kernel_goes_on_from_what_there_was(void)
{
    struct psd_tcp_leg leg = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};

    psd_tcp_leg_set_window(&leg, 64 << 10);
    CHECK(option_of(leg.fd, SOL_SOCKET, SO_BUF_LOCK) != 0);
    psd_tcp_leg_set_window(&leg, 0);
    CHECK(option_of(leg.fd, SOL_SOCKET, SO_BUF_LOCK) == 0);
    CHECK(option_of(leg.fd, SOL_SOCKET, SO_SNDBUF) == 64 << 10);
    close(leg.fd);
}

int main(int argc, char **argv)
{
    RUN(a_socket_waits_as_long_as_the_job_does_and_asks_whether_the_peer_lives)
    RUN(a_window_is_the_sockets_buffer)
    RUN(a_window_that_cannot_be_had_is_the_kernels)
    RUN(without_a_window_the_kernel_goes_on_from_what_there_was)
}
