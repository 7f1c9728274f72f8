/* network.h - how processes of a job speak to each other: the settings net.*. */
#ifndef PSD_CLI_NETWORK_H
#define PSD_CLI_NETWORK_H

#include "base/settings.h"

/* AUTO leaves what never leaves the machine in clear, and encrypts all else. */
enum psd_network_encrypt { PSD_NETWORK_AUTO, PSD_NETWORK_ON, PSD_NETWORK_OFF };

struct psd_network_config {
    uint64_t timeout_ns;
    enum psd_network_encrypt encrypt;
    struct psd_value_ports port;
    int64_t streams, lanes; /* 0: not said */
    char *congestion;       /* "auto" or NULL: not said */
    size_t window;          /* 0: not said */
};

enum { PSD_NETWORK_STREAMS = 64 }; /* of each two processes, and lanes of one, at most */

/* The congestion control that is said, or NULL. */
const char *psd_network_congestion(const struct psd_network_config *config);

/* The ports that a process may listen at, the first free one of which it takes. */
struct psd_value_ports psd_network_ports(const struct psd_network_config *config);

extern const struct psd_setting psd_network_settings[];

#endif
