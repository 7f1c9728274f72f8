/* link_test.c - lanes by the speed of a link; an interface with a speed is made in a namespace. */
#include "net/tcp/link.h"
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void slow_links_need_no_lanes(void)
{
    CHECK(psd_link_lanes(0, true, 64) == 0); /* not known */
    CHECK(psd_link_lanes(1e9, false, 64) == 0);
    CHECK(psd_link_lanes(10e9, false, 64) == 0);
    CHECK(psd_link_lanes(17e9, true, 64) == 0);
}

static void fast_links_have_as_many_as_fill_them(void)
{
    CHECK(psd_link_lanes(25e9, true, 64) == 2);
    CHECK(psd_link_lanes(25e9, false, 64) == 3);
    CHECK(psd_link_lanes(100e9, true, 64) == 6);
    CHECK(psd_link_lanes(100e9, false, 64) == 10);
}

static void lanes_leave_processors_for_computing(void)
{
    CHECK(psd_link_lanes(100e9, false, 16) == 4);
    CHECK(psd_link_lanes(100e9, false, 4) == 1);
    CHECK(psd_link_lanes(100e9, false, 2) == 0);
    CHECK(psd_link_lanes(100e12, false, 100000) == 64); /* as many as a connection may have */
}

static struct sockaddr_in at(const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    CHECK(inet_pton(AF_INET, host, &address.sin_addr) == 1);
    return address;
}

static double speed_at(const char *host)
{
    struct sockaddr_in address = at(host);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    double speed = psd_link_speed(fd);
    close(fd);
    return speed;
}

static void the_loopback_has_no_speed(void)
{
    CHECK(speed_at("127.0.0.1") == 0);
}

/* A tap says the speed that it is told. */
static void make_tap(const char *host, uint32_t megabits)
{
    struct ethtool_cmd settings = {.cmd = ETHTOOL_SSET, .duplex = DUPLEX_FULL};
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    struct sockaddr_in address = at(host);
    int tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (tap < 0 || ioctl(tap, TUNSETIFF, &request) != 0)
        SKIP("this machine makes no taps for us");
    memcpy(&request.ifr_addr, &address, sizeof address);
    CHECK(ioctl(fd, SIOCSIFADDR, &request) == 0);
    ethtool_cmd_speed_set(&settings, megabits);
    request.ifr_data = (void *)&settings;
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        SKIP("this kernel's taps have no speed");
    close(fd); /* the tap lives as long as its descriptor */
}

static void the_interface_of_an_address_says_its_speed(void)
{
    if (unshare(CLONE_NEWNET) != 0)
        SKIP("making a network namespace takes root");
    make_tap("10.9.0.1", 25000);
    make_tap("10.8.0.1", 100000);
    CHECK(speed_at("10.9.0.1") == 25e9);
    CHECK(speed_at("10.8.0.1") == 100e9);
}

int main(int argc, char **argv)
{
    RUN(slow_links_need_no_lanes)
    RUN(fast_links_have_as_many_as_fill_them)
    RUN(lanes_leave_processors_for_computing)
    RUN(the_loopback_has_no_speed)
    RUN(the_interface_of_an_address_says_its_speed)
}
