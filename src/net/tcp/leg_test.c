/* leg_test.c - what a socket is told before it connects. */
#include "base/clock.h"
#include "net/tcp/tcp.h"
#include "test.h"

#include <unistd.h>

static void a_window_is_the_sockets_buffer(void)
{
    struct psd_endpoint endpoint = {.config = {.window = 64 << 10, .timeout_ns = PSD_CLOCK_S}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), bytes = 0;
    socklen_t size = sizeof bytes;

    psd_tcp_leg_tune(&endpoint, fd);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 && bytes == 64 << 10);
    close(fd);
}

/* More than the system allows is no window: the kernel goes on choosing. */
static void a_window_that_cannot_be_had_is_the_kernels(void)
{
    struct psd_endpoint endpoint = {
        .config = {.window = (size_t)1 << 40, .timeout_ns = PSD_CLOCK_S}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), locked = -1;
    socklen_t size = sizeof locked;

    psd_tcp_leg_tune(&endpoint, fd);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_BUF_LOCK, &locked, &size) == 0 && locked == 0);
    close(fd);
}

int main(int argc, char **argv)
{
    RUN(a_window_is_the_sockets_buffer)
    RUN(a_window_that_cannot_be_had_is_the_kernels)
}
