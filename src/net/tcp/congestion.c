/* congestion.c - one option of a socket, by name. */
#include "net/tcp/congestion.h"
#include "base/status.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool set(int fd, const char *name)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;
}

void psd_congestion_choose(int fd, const char *name)
{
    char there[PSD_CONGESTION_NAME] = "";
    socklen_t size = sizeof there - 1;

    if (*name)
        (void)set(fd, name);
    else if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, there, &size) == 0 &&
             strcmp(there, "bbr") == 0)
        (void)(set(fd, "cubic") || set(fd, "reno"));
}

/* What everybody may take, in the kernel's words. */
static void list_allowed(char *out, size_t size)
{
    FILE *file = fopen("/proc/sys/net/ipv4/tcp_allowed_congestion_control", "re");

    snprintf(out, size, "not known");
    if (!file)
        return;
    if (fgets(out, (int)size, file))
        out[strcspn(out, "\n")] = 0;
    fclose(file);
}

psd_status psd_congestion_check(const char *name)
{
    char allowed[200];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return psd_fail(PSD_ENOMEM, "make a socket: %s", strerrordesc_np(errno));
    bool is_there = strlen(name) < PSD_CONGESTION_NAME && set(fd, name);
    close(fd);
    if (is_there)
        return PSD_OK;
    list_allowed(allowed, sizeof allowed);
    return psd_fail(PSD_ECONFIG,
                    "this machine has no congestion control '%.40s' for us; it has these: %s", name,
                    allowed);
}
