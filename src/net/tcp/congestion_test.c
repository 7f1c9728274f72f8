/* congestion_test.c - what a socket is given, and what no kernel has. */
#include "net/tcp/congestion.h"
#include "test.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int make(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    return fd;
}

static const char *control_of(int fd)
{
    static char name[PSD_CONGESTION_NAME];
    socklen_t size = sizeof name - 1;

    memset(name, 0, sizeof name);
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0);
    return name;
}

static bool take(int fd, const char *name)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;
}

static void a_named_control_is_taken(void)
{
    int fd = make();

    psd_congestion_choose(fd, "reno"); /* which every kernel has */
    CHECK_TEXT("reno", control_of(fd));
    close(fd);
}

static void the_systems_choice_stays(void)
{
    int fd = make();

    CHECK(take(fd, "reno"));
    psd_congestion_choose(fd, "");
    CHECK_TEXT("reno", control_of(fd));
    close(fd);
}

static void bbr_is_replaced(void)
{
    int fd = make();

    if (!take(fd, "bbr")) {
        close(fd);
        SKIP("this kernel has no bbr");
    }
    psd_congestion_choose(fd, "");
    CHECK(strcmp(control_of(fd), "cubic") == 0 || strcmp(control_of(fd), "reno") == 0);
    CHECK(take(fd, "bbr"));
    psd_congestion_choose(fd, "bbr");
    CHECK_TEXT("bbr", control_of(fd));
    close(fd);
}

static void a_socket_that_is_not_tcps_is_left_alone(void)
{
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    psd_congestion_choose(ends[0], "");
    psd_congestion_choose(ends[0], "reno");
    close(ends[0]);
    close(ends[1]);
}

static void what_no_kernel_has_is_told(void)
{
    CHECK(psd_congestion_check("reno") == PSD_OK);
    CHECK(psd_congestion_check("magic") == PSD_ECONFIG);
    CHECK(strstr(psd_error(), "no congestion control 'magic' for us; it has these: ") != NULL);
    CHECK(strstr(psd_error(), "reno") != NULL);
    CHECK(psd_congestion_check("a name that is longer than the kernel's") == PSD_ECONFIG);
}

int main(int argc, char **argv)
{
    RUN(a_named_control_is_taken)
    RUN(the_systems_choice_stays)
    RUN(bbr_is_replaced)
    RUN(a_socket_that_is_not_tcps_is_left_alone)
    RUN(what_no_kernel_has_is_told)
}
