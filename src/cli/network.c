#include "cli/network.h"
#include "net/tcp/address.h"
#include "net/tcp/kernel_tls.h"

#include <string.h>

static const char *const encrypts[] = {"auto", "on", "off", NULL};
const char *const psd_network_ktls_words[] = {"auto", "off", NULL};

const struct psd_setting psd_network_settings[] = {
    {"net.timeout", "10s",
     "a process of which nothing is heard for so long is lost; a longer wait is warned of",
     PSD_TIME(struct psd_network_config, timeout_ns)},
    {"net.encrypt", "auto",
     "whether what processes send each other is encrypted; strangers are kept out in any case; "
     "auto "
     "leaves out what does not leave the machine",
     PSD_CHOICE(struct psd_network_config, encrypt, encrypts)},
    {"net.ktls", "auto",
     "whether the kernel encrypts; auto: where it can, and can change keys (Linux 6.14, module "
     "tls); else OpenSSL does",
     PSD_CHOICE(struct psd_network_config, ktls, psd_network_ktls_words)},
    {"net.port", "7070",
     "where processes listen: at the first free port from this one on, or of a range, 7070-7099",
     PSD_PORTS(struct psd_network_config, port)},
    {"net.streams", "0",
     "connections between each two processes, where one cannot fill the link; 0: as many as lanes, "
     "or 1",
     PSD_INT(struct psd_network_config, streams, 0, PSD_NETWORK_STREAMS)},
    {"net.congestion", "auto",
     "the kernel's congestion control for connections, by name; auto: the system's, but cubic or "
     "reno in place of bbr",
     PSD_TEXT(struct psd_network_config, congestion)},
    {"net.window", "0",
     "bytes of a connection that are on their way at most, such as 128K; 0: what the link carries "
     "in two round trips, 256K at least; 1G: as many as the kernel likes",
     PSD_SIZE(struct psd_network_config, window)},
    {"net.lanes", "0",
     "threads of a process that only send, receive and encrypt; 0: a thread that sums and plans "
     "does it, or, where net.streams is 0 too, those that the link's speed asks for",
     PSD_INT(struct psd_network_config, lanes, 0, PSD_NETWORK_STREAMS)},
    {0},
};

struct psd_value_ports psd_network_ports(const struct psd_network_config *config)
{
    struct psd_value_ports ports = config->port;

    if (ports.first == 0)
        ports.first = PSD_TCP_PORT;
    if (ports.last == 0)
        ports.last = ports.first <= UINT16_MAX - PSD_TCP_PORTS
                         ? (uint16_t)(ports.first + PSD_TCP_PORTS - 1)
                         : UINT16_MAX;
    return ports;
}

const char *psd_network_encrypted(enum psd_network_ktls ktls)
{
    bool by_kernel = ktls == PSD_NETWORK_KTLS_AUTO && psd_kernel_tls_is_there();

    return by_kernel ? "encrypted by the kernel" : "encrypted";
}

const char *psd_network_congestion(const struct psd_network_config *config)
{
    bool is_said = config->congestion && strcmp(config->congestion, "auto") != 0;

    return is_said ? config->congestion : NULL;
}
