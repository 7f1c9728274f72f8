/* netns_test.c - a network that comes and goes. */
#include "cli/netns.h"
#include "test.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/socket.h>

/* Here or, where we may make no namespace, nowhere. */
static struct psd_netns *open_netns(unsigned count)
{
    struct psd_netns *netns = NULL;
    psd_status status = psd_netns_open(count, &netns);

    if (status == PSD_ENOSUP || (status == PSD_ECONFIG && strstr(psd_error(), "iproute2")))
        SKIP("%s", psd_error());
    CHECK_OK(status);
    return netns;
}

static struct sockaddr_in address_of(unsigned member)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7070)};
    char text[32];

    CHECK(inet_pton(AF_INET, psd_netns_address(member, text, sizeof text), &address.sin_addr) == 1);
    return address;
}

/* A socket of member `member`, made in a process that stays where it is. */
static int listener_of(struct psd_netns *netns, unsigned member)
{
    struct sockaddr_in address = address_of(member);

    CHECK_OK(psd_netns_enter(netns, member));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && bind(fd, (void *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    return fd;
}

static void members_reach_each_other_and_nobody_else(void)
{
    struct psd_netns *netns = open_netns(3);
    struct sockaddr_in address = address_of(2);

    CHECK(if_nametoindex("p2") == 0); /* our own namespace is as it was */
    int listener = listener_of(netns, 2);
    CHECK_OK(psd_netns_enter(netns, 0));
    CHECK(if_nametoindex("eth0") != 0 && if_nametoindex("p0") == 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0), other = -1;
    CHECK(connect(fd, (void *)&address, sizeof address) == 0);
    other = accept(listener, NULL, NULL);
    CHECK(other >= 0 && write(fd, "hi", 2) == 2);
    char text[2];
    CHECK(read(other, text, 2) == 2 && memcmp(text, "hi", 2) == 0);
    CHECK_OK(psd_netns_shape(netns, 0));
    CHECK_OK(psd_netns_shape(netns, 1e9 / 8));
    CHECK_OK(psd_netns_shape(netns, 10e9 / 8));
    CHECK_OK(psd_netns_shape(netns, 0));
    psd_netns_close(netns);
}

static void buckets_grow_with_the_rate(void)
{
    CHECK_NEAR(psd_netns_burst(1e9 / 8), 128e3, 1);
    CHECK_NEAR(psd_netns_burst(1e9 / 8 / 16), 128e3, 1); /* one large packet fits in any case */
    CHECK_NEAR(psd_netns_burst(10e9 / 8), 1e6, 1);
}

int main(int argc, char **argv)
{
    RUN(members_reach_each_other_and_nobody_else)
    RUN(buckets_grow_with_the_rate)
}
