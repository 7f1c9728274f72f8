/* netns.c - namespaces by unshare, the rest by ip and tc, which read what to do from a pipe. */
#include "cli/netns.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct psd_netns {
    int bridge; /* descriptor of the bridge's namespace */
    unsigned count;
    bool shaped;
    int members[]; /* and of the members' */
};

/* --- programs ----------------------------------------------------------------------------------- */

enum { NOT_THERE = 127 };

/* Becomes "PROGRAM -batch -" in the namespace `where`; root's shell may not have its places. */
__attribute__((noreturn)) static void become(const char *program, int where, int in)
{
    static const char *const places[] = {"/usr/sbin", "/sbin", "/usr/bin", "/bin"};
    char path[64];

    if (dup2(in, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 &&
        setns(where, CLONE_NEWNET) == 0) {
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            snprintf(path, sizeof path, "%s/%s", places[i], program);
            execl(path, program, "-batch", "-", (char *)NULL);
        }
    }
    _exit(NOT_THERE);
}

static psd_status judge(const char *program, int state)
{
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return PSD_OK;
    if (WIFEXITED(state) && WEXITSTATUS(state) == NOT_THERE)
        return psd_fail(PSD_ECONFIG,
                        "the program %s is missing: install the package iproute2, or measure "
                        "without namespaces with --loopback",
                        program);
    return psd_fail(PSD_ECONFIG,
                    "%s could not set up the network of the members; what it says is above, and "
                    "--loopback does without",
                    program);
}

/* Has `program` do `lines` in the namespace `where`. */
static psd_status batch(const char *program, int where, const char *lines)
{
    int ends[2], state = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return psd_fail(PSD_ENOMEM, "make a pipe: %s", strerrordesc_np(errno));
    pid_t id = fork();
    if (id == 0)
        become(program, where, ends[0]);
    close(ends[0]);
    if (id > 0)
        (void)!write(ends[1], lines, strlen(lines)); /* who does not read it fails */
    close(ends[1]);
    if (id < 0 || waitpid(id, &state, 0) != id)
        return psd_fail(PSD_ENOMEM, "run %s: %s", program, strerrordesc_np(errno));
    return judge(program, state);
}

/* --- namespaces --------------------------------------------------------------------------------- */

/* Of the namespace that this thread is in. What is not there, or not for us, is left as it is. */
static void set(const char *path, const char *value)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return;
    (void)!write(file, value, strlen(value));
    close(file);
}

/* All members send as the kernel's own default lets them, whatever this machine has been set to; it is
 * refused where cubic is not for all. And a switch looks into no packets. */
static void set_up(void)
{
    set("/proc/sys/net/ipv4/tcp_congestion_control", "cubic");
    set("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
}

/* A new one, which nobody is in. */
static psd_status make(int *out)
{
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), made = -1;

    if (here >= 0 && unshare(CLONE_NEWNET) == 0) {
        set_up();
        made = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        if (setns(here, CLONE_NEWNET) != 0 && made >= 0) {
            close(made);
            made = -1;
        }
    }
    int error = errno;
    if (here >= 0)
        close(here);
    if (made < 0) /* EINVAL: the kernel has none */
        return psd_fail(error == EPERM || error == EINVAL ? PSD_ENOSUP : PSD_ECONFIG,
                        "make a network namespace: %s", strerrordesc_np(error));
    *out = made;
    return PSD_OK;
}

const char *psd_netns_address(unsigned member, char *out, size_t size)
{
    snprintf(out, size, "10.77.0.%u", member + 1);
    return out;
}

/* Both ends of one member's link. */
static psd_status join(const struct psd_netns *netns, unsigned i)
{
    char lines[400], address[32];

    snprintf(lines, sizeof lines,
             "link add p%u type veth peer name eth0 netns /proc/%ld/fd/%d\n"
             "link set p%u master br0 up\n",
             i, (long)getpid(), netns->members[i], i);
    PSD_TRY(batch("ip", netns->bridge, lines));
    snprintf(lines, sizeof lines, "link set lo up\naddr add %s/24 dev eth0\nlink set eth0 up\n",
             psd_netns_address(i, address, sizeof address));
    return batch("ip", netns->members[i], lines);
}

static psd_status build(struct psd_netns *netns)
{
    PSD_TRY(make(&netns->bridge));
    for (unsigned i = 0; i < netns->count; i++)
        PSD_TRY(make(&netns->members[i]));
    PSD_TRY(
        batch("ip", netns->bridge, "link set lo up\nlink add br0 type bridge\nlink set br0 up\n"));
    for (unsigned i = 0; i < netns->count; i++)
        PSD_TRY(join(netns, i));
    return PSD_OK;
}

psd_status psd_netns_open(unsigned count, struct psd_netns **out)
{
    struct psd_netns *netns = psd_alloc_zero(1, sizeof *netns + count * sizeof *netns->members);

    if (!netns)
        return PSD_ENOMEM;
    netns->count = count;
    netns->bridge = -1;
    for (unsigned i = 0; i < count; i++)
        netns->members[i] = -1;
    psd_status status = build(netns);
    if (status == PSD_OK)
        *out = netns;
    else
        psd_netns_close(netns);
    return status;
}

void psd_netns_close(struct psd_netns *netns)
{
    if (!netns)
        return;
    for (unsigned i = 0; i < netns->count; i++) {
        if (netns->members[i] >= 0)
            close(netns->members[i]);
    }
    if (netns->bridge >= 0)
        close(netns->bridge);
    psd_alloc_free(netns);
}

psd_status psd_netns_enter(const struct psd_netns *netns, unsigned member)
{
    if (setns(netns->members[member], CLONE_NEWNET) != 0)
        return psd_fail(PSD_ENOSUP, "enter the network namespace of member %u: %s", member,
                        strerrordesc_np(errno));
    return PSD_OK;
}

/* --- links -------------------------------------------------------------------------------------- */

double psd_netns_burst(double rate)
{
    static const double least = 128e3, milliseconds = 0.8e-3;

    return rate * milliseconds > least ? rate * milliseconds : least;
}

/* A line for tc that shapes `interface`, or frees it. */
static void shape_line(const struct psd_netns *netns, const char *interface, double rate, char *out,
                       size_t size)
{
    *out = 0;
    if (rate > 0)
        snprintf(out, size, "qdisc replace dev %s root tbf rate %.0fbit burst %.0fb latency 20ms\n",
                 interface, rate * 8, psd_netns_burst(rate));
    else if (netns->shaped)
        snprintf(out, size, "qdisc del dev %s root\n", interface);
}

psd_status psd_netns_shape(struct psd_netns *netns, double rate)
{
    char line[200], interface[16];

    if (!(rate > 0) && !netns->shaped)
        return PSD_OK;
    for (unsigned i = 0; i < netns->count; i++) {
        shape_line(netns, "eth0", rate, line, sizeof line);
        PSD_TRY(batch("tc", netns->members[i], line));
        snprintf(interface, sizeof interface, "p%u", i);
        shape_line(netns, interface, rate, line, sizeof line);
        PSD_TRY(batch("tc", netns->bridge, line));
    }
    netns->shaped = rate > 0;
    return PSD_OK;
}
