/* hosting.c - deals workers out, and counts the subtrees that ranks get.
 *
 * Workers lie side by side in the tree, so a walk from the first to the last meets every run of
 * workers with one host, and every subtree that covers a part of it, from left to right. */
#include "comm/hosting.h"
#include "base/alloc.h"
#include "base/status.h"
#include "math/tree.h"

void psd_hosting_even(unsigned ranks, unsigned workers, unsigned *host)
{
    unsigned share = workers / ranks, larger = workers % ranks, worker = 0;

    for (unsigned rank = 0; rank < ranks; rank++) {
        for (unsigned left = share + (rank < larger); left > 0; left--)
            host[worker++] = rank;
    }
}

/* The lowest level with no more nodes than there are ranks. */
static unsigned level_for(unsigned ranks, unsigned workers)
{
    unsigned level = 0;

    while ((workers - 1) >> level >= ranks)
        level++;
    return level;
}

/* Each node of that level gets a rank; ranks that are left over halve the first nodes, which are
 * the largest: only the last one may have fewer workers than another. */
void psd_hosting_aligned(unsigned ranks, unsigned workers, unsigned *host)
{
    unsigned level = level_for(ranks, workers), nodes = ((workers - 1) >> level) + 1;
    unsigned halved = level > 0 ? ranks - nodes : 0;

    for (unsigned worker = 0; worker < workers; worker++) {
        unsigned node = worker >> level;
        host[worker] = node < halved ? worker >> (level - 1) : node + halved;
    }
}

/* What one rank has. */
struct share {
    unsigned workers, inputs;
    size_t samples;
};

static void add_worker(const struct psd_job *job, unsigned worker, struct share *share,
                       struct psd_hosting *out)
{
    size_t batch = job->batch[worker];

    out->samples += batch;
    share->samples += batch;
    out->hosts += share->workers == 0;
    share->workers++;
    if (share->workers > out->most_workers)
        out->most_workers = share->workers;
    if (share->samples > out->most_samples)
        out->most_samples = share->samples;
}

static void add_input(struct psd_tree_node node, struct psd_tree_node *before, struct share *share,
                      struct psd_hosting *out)
{
    bool second = out->inputs > 0 && psd_tree_same(*before, psd_tree_sibling(node));

    out->inputs++;
    out->slots += !second; /* the second of two siblings is added to the first */
    *before = node;
    share->inputs++;
    if (share->inputs > out->most_inputs)
        out->most_inputs = share->inputs;
}

static unsigned run_end(const struct psd_job *job, const unsigned *host, unsigned first)
{
    unsigned end = first;

    while (end < job->workers && host[end] == host[first])
        end++;
    return end;
}

static void measure(const struct psd_job *job, const unsigned *host, struct share *shares,
                    struct psd_hosting *out)
{
    struct psd_tree_node nodes[PSD_TREE_COVER], before = {0, 0};

    for (unsigned first = 0, end; first < job->workers; first = end) {
        end = run_end(job, host, first);
        size_t count = psd_tree_cover(job->workers, first, end - first, nodes);
        for (size_t i = 0; i < count; i++)
            add_input(nodes[i], &before, &shares[host[first]], out);
        for (unsigned worker = first; worker < end; worker++)
            add_worker(job, worker, &shares[host[first]], out);
    }
}

psd_status psd_hosting_measure(const struct psd_job *job, const unsigned *host,
                               struct psd_hosting *out)
{
    struct share *shares = psd_alloc_zero(job->ranks, sizeof *shares);

    if (!shares)
        return PSD_ENOMEM;
    *out = (struct psd_hosting){0};
    measure(job, host, shares, out);
    psd_alloc_free(shares);
    return PSD_OK;
}
