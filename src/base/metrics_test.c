/* metrics_test.c - what is counted is seen, under its name, in order. */
#include "base/alloc.h"
#include "base/metrics.h"
#include "test.h"

#include <pthread.h>

static struct psd_metrics *new_metrics(void)
{
    struct psd_metrics *metrics = NULL;

    CHECK_OK(psd_metrics_create(&metrics));
    return metrics;
}

static struct psd_counter *counter_of(struct psd_metrics *metrics, const char *name)
{
    struct psd_counter *counter = NULL;

    CHECK_OK(psd_metrics_counter(metrics, name, "A number.", &counter));
    return counter;
}

static struct psd_gauge *gauge_of(struct psd_metrics *metrics, const char *name)
{
    struct psd_gauge *gauge = NULL;

    CHECK_OK(psd_metrics_gauge(metrics, name, "A number.", &gauge));
    return gauge;
}

static void print_view(void *arg, const struct psd_metrics_view *view)
{
    char *text = arg;

    text += strlen(text);
    if (view->kind == PSD_METRICS_COUNTER)
        snprintf(text, 100, "%s %llu (%s)\n", view->name, (unsigned long long)view->count,
                 view->help);
    else
        snprintf(text, 100, "%s %g (%s)\n", view->name, view->value, view->help);
}

/* All metrics as text; valid until the next call. */
static const char *printed(struct psd_metrics *metrics)
{
    static char text[2000];

    text[0] = 0;
    psd_metrics_each(metrics, print_view, text);
    return text;
}

static void metrics_are_seen_in_order_of_name(void)
{
    struct psd_metrics *metrics = new_metrics();

    CHECK_TEXT("", printed(metrics));
    psd_metrics_add(counter_of(metrics, "sent_total"), 5);
    psd_metrics_set(gauge_of(metrics, "memory"), 0.25);
    psd_metrics_add(counter_of(metrics, "lost_total"), 1);
    gauge_of(metrics, "workers");
    CHECK_TEXT("lost_total 1 (A number.)\nmemory 0.25 (A number.)\nsent_total 5 (A number.)\n"
               "workers 0 (A number.)\n",
               printed(metrics));
    psd_metrics_destroy(metrics);
    psd_metrics_destroy(NULL);
}

static void counters_add_and_gauges_keep_the_last(void)
{
    struct psd_metrics *metrics = new_metrics();
    struct psd_counter *counter = counter_of(metrics, "a_total");
    struct psd_gauge *gauge = gauge_of(metrics, "b");

    for (uint64_t i = 1; i <= 10; i++) {
        psd_metrics_add(counter, i);
        psd_metrics_set(gauge, (double)i);
    }
    CHECK_TEXT("a_total 55 (A number.)\nb 10 (A number.)\n", printed(metrics));
    psd_metrics_destroy(metrics);
}

static void the_same_name_gives_the_same_metric(void)
{
    struct psd_metrics *metrics = new_metrics();
    struct psd_counter *first = counter_of(metrics, "a_total"), *again = NULL;
    struct psd_gauge *gauge = gauge_of(metrics, "a");

    CHECK_OK(psd_metrics_counter(metrics, "a_total", "Another sentence.", &again));
    CHECK(first == again);
    CHECK(first != counter_of(metrics, "b_total"));
    CHECK(gauge == gauge_of(metrics, "a"));
    CHECK_TEXT("a 0 (A number.)\na_total 0 (A number.)\nb_total 0 (A number.)\n", printed(metrics));
    psd_metrics_destroy(metrics);
}

static void names_that_prometheus_does_not_know_are_refused(void)
{
    static const char *const names[] = {"",          "9_total",        "a-b_total", "a b_total",
                                        "a\n_total", "\xc3\xa4_total", "a.b_total"};
    struct psd_metrics *metrics = new_metrics();
    struct psd_counter *counter = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STATUS(PSD_EINVAL, psd_metrics_counter(metrics, names[i], "", &counter));
    CHECK(counter == NULL);
    CHECK_TEXT("", printed(metrics));
    counter_of(metrics, "_:aZ09_total");
    psd_metrics_destroy(metrics);
}

static void the_name_says_what_it_is(void)
{
    struct psd_metrics *metrics = new_metrics();
    struct psd_counter *counter = NULL;
    struct psd_gauge *gauge = NULL;

    CHECK_STATUS(PSD_EINVAL, psd_metrics_counter(metrics, "sent", "", &counter));
    CHECK_TEXT("metric sent: a counter's name ends in _total", psd_error());
    CHECK_STATUS(PSD_EINVAL, psd_metrics_counter(metrics, "_total", "", &counter));
    CHECK_STATUS(PSD_EINVAL, psd_metrics_gauge(metrics, "sent_total", "", &gauge));
    CHECK(counter == NULL && gauge == NULL);
    psd_metrics_destroy(metrics);
}

static void metrics_stay_where_they_are_while_others_come(void)
{
    struct psd_metrics *metrics = new_metrics();
    struct psd_counter *counter = counter_of(metrics, "m_total");

    for (int i = 0; i < 500; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c%d_total", 'a' + i * 7 % 26, i);
        counter_of(metrics, name);
    }
    CHECK(counter == counter_of(metrics, "m_total"));
    psd_metrics_destroy(metrics);
}

static void *count_many(void *arg)
{
    struct psd_counter *counter = counter_of(arg, "a_total");
    struct psd_gauge *gauge = gauge_of(arg, "b");

    for (int i = 0; i < 10000; i++) {
        psd_metrics_add(counter, 1);
        psd_metrics_set(gauge, 1);
    }
    return NULL;
}

static void threads_count_together(void)
{
    struct psd_metrics *metrics = new_metrics();
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, count_many, metrics) == 0);
    printed(metrics); /* somebody looks meanwhile */
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_TEXT("a_total 30000 (A number.)\nb 1 (A number.)\n", printed(metrics));
    psd_metrics_destroy(metrics);
}

static psd_status create_and_fill(struct psd_metrics **metrics)
{
    struct psd_counter *counter = NULL;
    struct psd_gauge *gauge = NULL;
    psd_status status = psd_metrics_create(metrics);

    if (status == PSD_OK)
        status = psd_metrics_gauge(*metrics, "b", "B.", &gauge);
    if (status == PSD_OK)
        status = psd_metrics_counter(*metrics, "a_total", "A.", &counter);
    CHECK((status == PSD_OK) == (counter != NULL));
    return status;
}

static void metrics_survive_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_metrics *metrics = NULL;
        psd_alloc_fail_at(n);
        psd_status status = create_and_fill(&metrics);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (metrics)
            printed(metrics);
        psd_metrics_destroy(metrics);
    }
}

int main(int argc, char **argv)
{
    RUN(metrics_are_seen_in_order_of_name)
    RUN(counters_add_and_gauges_keep_the_last)
    RUN(the_same_name_gives_the_same_metric)
    RUN(names_that_prometheus_does_not_know_are_refused)
    RUN(the_name_says_what_it_is)
    RUN(metrics_stay_where_they_are_while_others_come)
    RUN(threads_count_together)
    RUN(metrics_survive_every_failed_allocation)
}
