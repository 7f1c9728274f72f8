/* waiting.h - parts that wait for a server of one kind or another, on a virtual clock.
 *
 *     URGENCY    the part with the smallest number is served; it overtakes, and what it overtakes
 *                keeps the seconds that are left
 *     ORDER      the part that came first is served to its end
 *     TOGETHER   all are served at once
 *
 * The queues of predict.h: links and host, device, and messages under way. `now` never goes back.
 * Memory is taken once. One thread at a time. */
#ifndef PSD_COMM_WAITING_H
#define PSD_COMM_WAITING_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum psd_waiting_kind { PSD_WAITING_URGENCY, PSD_WAITING_ORDER, PSD_WAITING_TOGETHER };

struct psd_wait {
    double key; /* the smaller, the sooner: the part's number, when it came, or when it ends */
    double left;
    uint32_t part;
};

struct psd_waiting {
    enum psd_waiting_kind kind;
    struct psd_wait *heap; /* owned; the first is served, */
    double since;          /* and had its `left` then */
    size_t count;
};

/* Empty, for `most` parts at a time. PSD_ENOMEM. */
psd_status psd_waiting_init(struct psd_waiting *waiting, enum psd_waiting_kind kind, size_t most);
void psd_waiting_fini(struct psd_waiting *waiting);

/* Empties it, for a clock that begins again. */
void psd_waiting_reset(struct psd_waiting *waiting);

/* A part that needs `seconds` of service comes. Of equal keys the smaller number is sooner. */
void psd_waiting_add(struct psd_waiting *waiting, double now, uint32_t part, double seconds);

/* When the next service ends if nothing else comes; infinite when nobody waits. */
double psd_waiting_end(const struct psd_waiting *waiting);

/* Removes the part whose service ends now, at that moment, and returns it. */
uint32_t psd_waiting_take(struct psd_waiting *waiting, double now);

#endif
