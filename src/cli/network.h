/* network.h - how processes of a job speak to each other: the settings net.*. */
#ifndef PSD_CLI_NETWORK_H
#define PSD_CLI_NETWORK_H

#include "base/settings.h"

/* AUTO leaves what never leaves the machine in clear, and encrypts all else. */
enum psd_network_encrypt { PSD_NETWORK_AUTO, PSD_NETWORK_ON, PSD_NETWORK_OFF };

/* The kernel encrypts where it can, or never. */
enum psd_network_ktls { PSD_NETWORK_KTLS_AUTO, PSD_NETWORK_KTLS_OFF };

struct psd_network_config {
    uint64_t timeout_ns;
    enum psd_network_encrypt encrypt;
    enum psd_network_ktls ktls;
    struct psd_value_ports port;
    int64_t streams, lanes; /* 0: not said */
    char *congestion;       /* "auto" or NULL: not said */
    size_t window;          /* 0: not said */
};

enum { PSD_NETWORK_STREAMS = 64 }; /* of each two processes, and lanes of one, at most */

/* How an enum psd_network_ktls is written; and who encrypts then, on this machine: "encrypted", or
 * "encrypted by the kernel". */
extern const char *const psd_network_ktls_words[];
const char *psd_network_encrypted(enum psd_network_ktls ktls);

/* The congestion control that is said, or NULL. */
const char *psd_network_congestion(const struct psd_network_config *config);

/* The ports that a process may listen at, the first free one of which it takes. */
struct psd_value_ports psd_network_ports(const struct psd_network_config *config);

extern const struct psd_setting psd_network_settings[];

#endif
