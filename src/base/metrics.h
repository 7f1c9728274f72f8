/* metrics.h - numbers about a running job, found by name.
 *
 *     psd_metrics_counter(metrics, "psd_net_sent_bytes_total", "Bytes sent.", &sent);      once
 *     psd_metrics_add(sent, length);                                                       often
 *
 *     psd_metrics_each(metrics, print_metric, page);                       whoever wants to look
 *
 * A counter only grows; a gauge is what it was last set to. Names follow Prometheus: letters,
 * digits, '_' and ':', not a digit first; a counter's ends in "_total" and a gauge's does not, so
 * the name says which it is. Adding and setting are single relaxed atomic operations and never
 * wait; registering and looking take a lock. Any thread, except that destroy wants to be alone. */
#ifndef PSD_BASE_METRICS_H
#define PSD_BASE_METRICS_H

#include "poseidon/status.h"

#include <stdint.h>

struct psd_metrics; /* a registry: all metrics of a job */
struct psd_counter; /* owned by its registry, as is a gauge */
struct psd_gauge;

enum psd_metrics_kind { PSD_METRICS_COUNTER, PSD_METRICS_GAUGE };

/* What a visitor sees of a metric; borrowed for the visit. */
struct psd_metrics_view {
    const char *name, *help;
    enum psd_metrics_kind kind;
    uint64_t count; /* of a counter */
    double value;   /* of a gauge; of a counter the same as count, rounded */
};

psd_status psd_metrics_create(struct psd_metrics **out);

/* Frees the registry and with it all counters and gauges. */
void psd_metrics_destroy(struct psd_metrics *metrics);

/* The counter or gauge of that name, made at zero if it is new; borrowed until destroy. `help` is a
 * sentence for people; both are copied, and the first help stays. PSD_EINVAL: not such a name. */
psd_status psd_metrics_counter(struct psd_metrics *metrics, const char *name, const char *help,
                               struct psd_counter **out);
psd_status psd_metrics_gauge(struct psd_metrics *metrics, const char *name, const char *help,
                             struct psd_gauge **out);

/* Adds to a counter. */
void psd_metrics_add(struct psd_counter *counter, uint64_t amount);

/* Sets a gauge. */
void psd_metrics_set(struct psd_gauge *gauge, double value);

/* Shows every metric to `visit`, in order of name (by byte value); it must not register any. */
void psd_metrics_each(struct psd_metrics *metrics,
                      void (*visit)(void *arg, const struct psd_metrics_view *view), void *arg);

#endif
