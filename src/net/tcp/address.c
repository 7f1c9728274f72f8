/* address.c - a text is cut into host and ports; the host is numeric, or the system's resolver is asked. */
#include "net/tcp/address.h"
#include "base/status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOST = 256 }; /* bytes of the longest name, and the zero behind it */

static psd_status no_address(const char *text, const char *why)
{
    return psd_fail(PSD_ECONFIG,
                    "tcp://%s is no address: %s (10.0.0.5:7070, 10.0.0.5:7070-7099 and "
                    "[fd00::5]:7070 are some)",
                    text, why);
}

socklen_t psd_tcp_name_size(const union psd_tcp_name *name)
{
    return name->any.sa_family == AF_INET6 ? sizeof name->v6 : sizeof name->v4;
}

uint16_t psd_tcp_name_port(const union psd_tcp_name *name)
{
    return ntohs(name->any.sa_family == AF_INET6 ? name->v6.sin6_port : name->v4.sin_port);
}

void psd_tcp_name_set_port(union psd_tcp_name *name, uint16_t port)
{
    if (name->any.sa_family == AF_INET6)
        name->v6.sin6_port = htons(port);
    else
        name->v4.sin_port = htons(port);
}

bool psd_tcp_name_is_same_host(const union psd_tcp_name *a, const union psd_tcp_name *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET6)
        return IN6_ARE_ADDR_EQUAL(&a->v6.sin6_addr, &b->v6.sin6_addr);
    return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
}

bool psd_tcp_name_is_any(const union psd_tcp_name *name)
{
    if (name->any.sa_family == AF_INET6)
        return IN6_IS_ADDR_UNSPECIFIED(&name->v6.sin6_addr);
    return name->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

void psd_tcp_name_write(const union psd_tcp_name *name, char out[PSD_TCP_TEXT])
{
    char host[PSD_TCP_TEXT - 8] = "?"; /* brackets, colon and port have room behind it */
    bool is_v6 = name->any.sa_family == AF_INET6;
    unsigned port = psd_tcp_name_port(name);

    (void)getnameinfo(&name->any, psd_tcp_name_size(name), host, sizeof host, NULL, 0,
                      NI_NUMERICHOST);
    int length = snprintf(out, PSD_TCP_TEXT, is_v6 ? "[%s]" : "%s", host);
    if (port)
        snprintf(out + length, PSD_TCP_TEXT - (size_t)length, ":%u", port);
}

/* --- ports ---------------------------------------------------------------------------------------
 */

/* Reads a number up to 65535 and goes behind it. False: there is none. */
static bool read_port(const char **at, uint16_t *out)
{
    unsigned number = 0;
    const char *from = *at;

    while (**at >= '0' && **at <= '9' && number <= UINT16_MAX)
        number = 10 * number + (unsigned)(*(*at)++ - '0');
    *out = (uint16_t)number;
    return *at > from && number <= UINT16_MAX;
}

/* The ports in "", ":7070" or ":7070-7099". */
static psd_status read_ports(const char *text, const char *ports, struct psd_tcp_address *out)
{
    const char *at = ports + 1;

    out->first = PSD_TCP_PORT;
    out->last = PSD_TCP_PORT + PSD_TCP_PORTS - 1;
    if (!*ports)
        return PSD_OK;
    if (*ports != ':' || !read_port(&at, &out->first))
        return no_address(text, "the port is a number up to 65535");
    out->last = out->first;
    if (*at == '-') {
        at++;
        if (!read_port(&at, &out->last) || out->last < out->first || out->first == 0)
            return no_address(text, "a range goes from a lower port to a higher one");
    }
    return *at ? no_address(text, "something follows the port") : PSD_OK;
}

/* --- hosts ---------------------------------------------------------------------------------------
 */

static psd_status look_up(const char *host, union psd_tcp_name *out)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found;
    int answer = getaddrinfo(host, NULL, &hints, &found);

    if (answer == EAI_NONAME) { /* not numeric: somebody has to be asked */
        hints.ai_flags = AI_ADDRCONFIG;
        answer = getaddrinfo(host, NULL, &hints, &found);
    }
    if (answer == EAI_MEMORY)
        return psd_fail(PSD_ENOMEM, "out of memory");
    if (answer)
        return psd_fail(PSD_ECONFIG, "the address of %s is not known (%s): write it in numbers",
                        host, gai_strerror(answer));
    memset(out, 0, sizeof *out);
    if (found->ai_addrlen <= sizeof *out)
        memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return PSD_OK;
}

/* Where the host ends and what is behind it, with the brackets of IPv6 taken off. */
static psd_status cut(const char *text, char host[HOST], const char **rest)
{
    const char *end = strrchr(text, ':');

    *rest = end ? end : text + strlen(text);
    size_t length = (size_t)(*rest - text);
    if (*text == '[') {
        end = strchr(text, ']');
        if (!end)
            return no_address(text, "a bracket is not closed");
        *rest = end + 1;
        length = (size_t)(end - ++text);
    } else if (memchr(text, ':', length)) {
        return no_address(text, "an IPv6 address stands in brackets");
    }
    if (length >= HOST)
        return no_address(text, "that is too long");
    memcpy(host, text, length);
    host[length] = '\0';
    return PSD_OK;
}

bool psd_tcp_address_is_loopback(const char *text)
{
    char host[HOST] = "";
    struct in6_addr v6;
    struct in_addr v4;
    const char *ports;

    if (cut(text, host, &ports) != PSD_OK)
        return false;
    if (*text == '[')
        return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
    return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
}

psd_status psd_tcp_address_read(const char *text, struct psd_tcp_address *out)
{
    struct psd_tcp_address address = {.first = 0};
    char host[HOST] = "";
    const char *ports;

    PSD_TRY(cut(text, host, &ports));
    PSD_TRY(read_ports(text, ports, &address));
    if (*host)
        PSD_TRY(look_up(host, &address.name));
    *out = address;
    return PSD_OK;
}

/* A datagram socket that is connected has the address that the kernel would send from. */
static int ask_kernel(const union psd_tcp_name *peer, union psd_tcp_name *out)
{
    socklen_t size = sizeof *out;
    int fd = socket(peer->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    int error = connect(fd, &peer->any, psd_tcp_name_size(peer)) ? errno : 0;
    if (!error && getsockname(fd, &out->any, &size))
        error = errno;
    close(fd);
    return error;
}

psd_status psd_tcp_address_towards(const char *peer, union psd_tcp_name *out)
{
    struct psd_tcp_address address;
    char reason[128];

    PSD_TRY(psd_tcp_address_read(peer, &address));
    if (address.name.any.sa_family == AF_UNSPEC)
        return no_address(peer, "it has no host");
    psd_tcp_name_set_port(&address.name, address.first ? address.first : PSD_TCP_PORT);
    int error = ask_kernel(&address.name, out);
    if (error)
        return psd_fail(PSD_ECONFIG, "there is no way to tcp://%s: %s", peer,
                        strerror_r(error, reason, sizeof reason));
    psd_tcp_name_set_port(out, 0);
    return PSD_OK;
}
