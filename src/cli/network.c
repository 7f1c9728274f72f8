#include "cli/network.h"

static const char *const encrypts[] = {"auto", "on", "off", NULL};

const struct psd_setting psd_network_settings[] = {
    {"net.timeout", "10s",
     "a process of which nothing is heard for so long is lost; a longer wait is warned of",
     PSD_TIME(struct psd_network_config, timeout_ns)},
    {"net.encrypt", "auto",
     "whether what processes send each other is encrypted; strangers are kept out in any case; "
     "auto "
     "leaves out what does not leave the machine",
     PSD_CHOICE(struct psd_network_config, encrypt, encrypts)},
    {0},
};
