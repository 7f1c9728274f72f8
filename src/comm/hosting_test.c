/* hosting_test.c - shares, and the subtrees that they are made of. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/hosting.h"
#include "comm/merge.h"
#include "test.h"

enum { MOST_RANKS = 12, MOST_WORKERS = 40 };

static struct psd_job *new_job(unsigned ranks, unsigned workers)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(ranks, workers, 10, PSD_COMM_UPDATE, NULL, &job));
    return job;
}

/* The hosts as digits, such as "00112". */
static const char *digits(const unsigned *host, unsigned workers)
{
    static char text[MOST_WORKERS + 1];

    for (unsigned i = 0; i < workers; i++)
        text[i] = (char)('0' + host[i]);
    text[workers] = '\0';
    return text;
}

static void aligned_shares_are_whole_subtrees(void)
{
    static const struct {
        unsigned ranks;
        const char *hosts;
    } cases[] = {
        {1, "00000"},    {2, "00001111"}, {3, "00112222"}, {5, "01223344"},
        {6, "01234455"}, {8, "01234567"}, {2, "000011"},   {3, "0000111122"},
        {4, "0011223"},  {5, "012"},      {1, "0"},        {7, "0123"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned host[MOST_WORKERS], workers = (unsigned)strlen(cases[i].hosts);
        psd_hosting_aligned(cases[i].ranks, workers, host);
        CHECK_TEXT(cases[i].hosts, digits(host, workers));
    }
}

static unsigned largest(const unsigned *sizes, unsigned count)
{
    unsigned at = 0;

    for (unsigned i = 1; i < count; i++)
        at = sizes[i] > sizes[at] ? i : at;
    return at;
}

/* The largest share when the largest subtree is halved until every rank has one. */
static unsigned least_largest(unsigned ranks, unsigned workers)
{
    unsigned sizes[MOST_RANKS] = {workers}, count = 1;

    while (count < ranks && sizes[largest(sizes, count)] > 1) {
        unsigned *size = &sizes[largest(sizes, count)], left = 1;
        while (2 * left < *size)
            left *= 2;
        sizes[count++] = *size - left;
        *size = left;
    }
    return sizes[largest(sizes, count)];
}

static void aligned_shares_send_one_sum_each_and_are_as_small_as_that_allows(void)
{
    for (unsigned ranks = 1; ranks <= MOST_RANKS; ranks++) {
        for (unsigned workers = 1; workers <= MOST_WORKERS; workers++) {
            struct psd_job *job = new_job(ranks, workers);
            struct psd_hosting hosting;
            psd_hosting_aligned(ranks, workers, job->host);
            CHECK_OK(psd_hosting_measure(job, job->host, &hosting));
            CHECK(hosting.most_inputs == 1);
            CHECK(hosting.inputs == hosting.hosts);
            CHECK(hosting.hosts == (ranks < workers ? ranks : workers));
            CHECK(hosting.most_workers == least_largest(ranks, workers));
            psd_job_destroy(job);
        }
    }
}

static void even_shares_are_those_of_a_new_job(void)
{
    for (unsigned ranks = 1; ranks <= MOST_RANKS; ranks++) {
        for (unsigned workers = 1; workers <= MOST_WORKERS; workers++) {
            struct psd_job *job = new_job(ranks, workers);
            unsigned host[MOST_WORKERS];
            psd_hosting_even(ranks, workers, host);
            CHECK(memcmp(host, job->host, workers * sizeof *host) == 0);
            psd_job_destroy(job);
        }
    }
}

static void what_merge_has_is_counted(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        unsigned workers = 1 + (unsigned)psd_random_below(seed, 0, 0, MOST_WORKERS);
        struct psd_job *job = new_job(4, workers);
        struct psd_hosting hosting;
        struct psd_merge *merge = NULL;
        for (unsigned i = 1; i < workers; i++) /* runs of one host, and gaps */
            job->host[i] =
                psd_random_below(seed, 1, i, 3) ? job->host[i - 1] : psd_random_u32(seed, 2, i) % 4;
        CHECK_OK(psd_merge_create(job, &merge));
        CHECK_OK(psd_hosting_measure(job, job->host, &hosting));
        CHECK(hosting.inputs == merge->n_inputs && hosting.slots == merge->n_slots);
        uint32_t most = 0;
        for (unsigned rank = 0; rank < 4; rank++) {
            uint32_t inputs = merge->first_input[rank + 1] - merge->first_input[rank];
            most = inputs > most ? inputs : most;
        }
        CHECK(hosting.most_inputs == most);
        psd_merge_destroy(merge);
        psd_job_destroy(job);
    }
}

static void samples_and_workers_of_the_largest_share_are_found(void)
{
    struct psd_job *job = new_job(3, 8); /* 0 0 0 1 1 1 2 2 */
    struct psd_hosting hosting;

    job->batch[7] = 25;
    CHECK_OK(psd_hosting_measure(job, job->host, &hosting));
    CHECK(hosting.most_workers == 3 && hosting.hosts == 3);
    CHECK(hosting.samples == 95 && hosting.most_samples == 35);
    CHECK(hosting.inputs == 5 && hosting.most_inputs == 2); /* the drawing of merge.h */
    psd_job_destroy(job);
}

static void a_failed_allocation_is_told(void)
{
    struct psd_job *job = new_job(3, 8);
    struct psd_hosting hosting;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_hosting_measure(job, job->host, &hosting));
    CHECK(psd_alloc_fail_at(-1));
    psd_job_destroy(job);
}

int main(int argc, char **argv)
{
    RUN(aligned_shares_are_whole_subtrees)
    RUN(aligned_shares_send_one_sum_each_and_are_as_small_as_that_allows)
    RUN(even_shares_are_those_of_a_new_job)
    RUN(what_merge_has_is_counted)
    RUN(samples_and_workers_of_the_largest_share_are_found)
    RUN(a_failed_allocation_is_told)
}
