/* metrics.c - an array of metrics sorted by name; the metrics themselves never move. */
#include "base/metrics.h"
#include "base/alloc.h"
#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct psd_counter {
    _Atomic uint64_t count;
};

struct psd_gauge {
    _Atomic double value;
};

struct metric {
    char *name; /* owned */
    char *help; /* owned */
    enum psd_metrics_kind kind;
    union {
        struct psd_counter counter;
        struct psd_gauge gauge;
    } as;
};

struct psd_metrics {
    pthread_mutex_t lock;    /* guards all below, but not what is counted */
    struct metric **metrics; /* owned, and so is each; in order of name */
    size_t count;
};

psd_status psd_metrics_create(struct psd_metrics **out)
{
    struct psd_metrics *metrics = psd_alloc_zero(1, sizeof *metrics);
    if (!metrics)
        return PSD_ENOMEM;
    pthread_mutex_init(&metrics->lock, NULL);
    *out = metrics;
    return PSD_OK;
}

static void destroy_metric(struct metric *metric)
{
    psd_alloc_free(metric->name);
    psd_alloc_free(metric->help);
    psd_alloc_free(metric);
}

void psd_metrics_destroy(struct psd_metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t i = 0; i < metrics->count; i++)
        destroy_metric(metrics->metrics[i]);
    psd_alloc_free(metrics->metrics);
    pthread_mutex_destroy(&metrics->lock);
    psd_alloc_free(metrics);
}

/* Prometheus' rule for names: [a-zA-Z_:][a-zA-Z0-9_:]* */
static bool is_name(const char *name)
{
    static const char may_start[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
    size_t length = strspn(name, may_start);

    if (length == 0)
        return false;
    while (name[length] && (strchr("0123456789", name[length]) || strchr(may_start, name[length])))
        length++;
    return name[length] == 0;
}

static bool ends_in_total(const char *name)
{
    static const char end[] = "_total";
    size_t length = strlen(name), end_length = sizeof end - 1;

    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static psd_status check_name(const char *name, enum psd_metrics_kind kind)
{
    if (!is_name(name))
        return psd_fail(PSD_EINVAL, "metric \"%s\": a name has letters, digits, _ and : only",
                        name);
    if (kind == PSD_METRICS_COUNTER && !ends_in_total(name))
        return psd_fail(PSD_EINVAL, "metric %s: a counter's name ends in _total", name);
    if (kind == PSD_METRICS_GAUGE && ends_in_total(name))
        return psd_fail(PSD_EINVAL, "metric %s: only a counter's name ends in _total", name);
    return PSD_OK;
}

static struct metric *create_metric(const char *name, const char *help, enum psd_metrics_kind kind)
{
    struct metric *metric = psd_alloc_zero(1, sizeof *metric);
    if (!metric)
        return NULL;
    metric->kind = kind;
    metric->name = psd_alloc_text("%s", name);
    metric->help = metric->name ? psd_alloc_text("%s", help) : NULL;
    if (!metric->help) {
        destroy_metric(metric);
        return NULL;
    }
    return metric;
}

/* The place of the first metric whose name is not before `name`. */
static size_t find_place(const struct psd_metrics *metrics, const char *name)
{
    size_t from = 0, to = metrics->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(metrics->metrics[middle]->name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Makes room for one more and puts the metric there; on failure nothing has changed. */
static psd_status insert(struct psd_metrics *metrics, size_t place, struct metric *metric)
{
    struct metric **grown =
        psd_alloc_resize(metrics->metrics, metrics->count + 1, sizeof *metrics->metrics);
    if (!grown)
        return PSD_ENOMEM;
    memmove(grown + place + 1, grown + place, (metrics->count - place) * sizeof *grown);
    grown[place] = metric;
    metrics->metrics = grown;
    metrics->count++;
    return PSD_OK;
}

/* Finds or makes a metric; the lock is held. */
static psd_status find_or_add(struct psd_metrics *metrics, const char *name, const char *help,
                              enum psd_metrics_kind kind, struct metric **out)
{
    size_t place = find_place(metrics, name);

    if (place < metrics->count && strcmp(metrics->metrics[place]->name, name) == 0) {
        *out = metrics->metrics[place];
        return PSD_OK;
    }
    struct metric *metric = create_metric(name, help, kind);
    if (!metric)
        return PSD_ENOMEM;
    psd_status status = insert(metrics, place, metric);
    if (status == PSD_OK)
        *out = metric;
    else
        destroy_metric(metric);
    return status;
}

static psd_status find_metric(struct psd_metrics *metrics, const char *name, const char *help,
                              enum psd_metrics_kind kind, struct metric **out)
{
    PSD_TRY(check_name(name, kind));
    pthread_mutex_lock(&metrics->lock);
    psd_status status = find_or_add(metrics, name, help, kind, out);
    pthread_mutex_unlock(&metrics->lock);
    return status;
}

psd_status psd_metrics_counter(struct psd_metrics *metrics, const char *name, const char *help,
                               struct psd_counter **out)
{
    struct metric *metric;

    PSD_TRY(find_metric(metrics, name, help, PSD_METRICS_COUNTER, &metric));
    *out = &metric->as.counter;
    return PSD_OK;
}

psd_status psd_metrics_gauge(struct psd_metrics *metrics, const char *name, const char *help,
                             struct psd_gauge **out)
{
    struct metric *metric;

    PSD_TRY(find_metric(metrics, name, help, PSD_METRICS_GAUGE, &metric));
    *out = &metric->as.gauge;
    return PSD_OK;
}

void psd_metrics_add(struct psd_counter *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(&counter->count, amount, memory_order_relaxed);
}

void psd_metrics_set(struct psd_gauge *gauge, double value)
{
    atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

static struct psd_metrics_view look_at(struct metric *metric)
{
    struct psd_metrics_view view = {
        .name = metric->name, .help = metric->help, .kind = metric->kind};

    if (metric->kind == PSD_METRICS_COUNTER) {
        view.count = atomic_load_explicit(&metric->as.counter.count, memory_order_relaxed);
        view.value = (double)view.count;
    } else {
        view.value = atomic_load_explicit(&metric->as.gauge.value, memory_order_relaxed);
    }
    return view;
}

void psd_metrics_each(struct psd_metrics *metrics,
                      void (*visit)(void *arg, const struct psd_metrics_view *view), void *arg)
{
    pthread_mutex_lock(&metrics->lock);
    for (size_t i = 0; i < metrics->count; i++) {
        struct psd_metrics_view view = look_at(metrics->metrics[i]);
        visit(arg, &view);
    }
    pthread_mutex_unlock(&metrics->lock);
}
