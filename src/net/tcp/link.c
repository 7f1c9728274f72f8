/* link.c - the interface is found by its address, and asked as ethtool would. */
#include "net/tcp/link.h"
#include "net/tcp/address.h"
#include "net/tcp/opening.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

static bool has_address(const struct ifaddrs *interface, const union psd_tcp_name *name)
{
    union psd_tcp_name its;

    if (!interface->ifa_addr || interface->ifa_addr->sa_family != name->any.sa_family)
        return false;
    memcpy(&its, interface->ifa_addr, psd_tcp_name_size(name));
    return psd_tcp_name_is_same_host(&its, name);
}

static double speed_of(int fd, const char *interface)
{
    struct ethtool_cmd settings = {.cmd = ETHTOOL_GSET};
    struct ifreq request = {.ifr_data = (void *)&settings};

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        return 0;
    uint32_t megabits = ethtool_cmd_speed(&settings);
    return megabits == (uint32_t)SPEED_UNKNOWN ? 0 : megabits * 1e6;
}

double psd_link_speed(int fd)
{
    union psd_tcp_name name = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof name;
    struct ifaddrs *all = NULL;
    double speed = 0;

    if (getsockname(fd, &name.any, &size) != 0 || getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *each = all; each; each = each->ifa_next) {
        if (has_address(each, &name)) {
            speed = speed_of(fd, each->ifa_name);
            break;
        }
    }
    freeifaddrs(all);
    return speed;
}

unsigned psd_link_lanes(double speed, bool in_clear, unsigned processors)
{
    static const double in_clear_each = 17e9, encrypted_each = 10e9;
    double wanted = ceil(speed / (in_clear ? in_clear_each : encrypted_each));
    unsigned most = processors / 4 < PSD_OPENING_STREAMS ? processors / 4 : PSD_OPENING_STREAMS;

    if (wanted <= 1)
        return 0;
    return wanted < most ? (unsigned)wanted : most;
}
