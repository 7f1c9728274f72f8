/* devices.h - the devices of this machine, by number and by name, before one is opened. */
#ifndef PSD_DEVICE_DEVICES_H
#define PSD_DEVICE_DEVICES_H

#include "poseidon/status.h"

#include <stdbool.h>
#include <stddef.h>

struct psd_device_kind; /* device/kind.h */

/* A device as people see it. */
struct psd_device_entry {
    char name[32];         /* as psd_device_open takes it: "host:0" */
    char description[128]; /* "2 processors, 23.4 GiB" */
};

/* The i-th device of this machine, all kinds counted through, preferred kinds first; false past
 * the last. May block while a driver wakes up. */
bool psd_devices_list(size_t i, struct psd_device_entry *out);

/* Takes a name such as "cuda:1" apart; "cuda" is "cuda:0". PSD_ECONFIG: there is no such device;
 * the sentence says what there is. May block like the list. */
psd_status psd_devices_parse(const char *name, const struct psd_device_kind **kind, size_t *index);

/* The entry of a device that exists. */
void psd_devices_describe(const struct psd_device_kind *kind, size_t index,
                          struct psd_device_entry *out);

#endif
