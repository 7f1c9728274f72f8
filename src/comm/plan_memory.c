/* plan_memory.c - what a member will hold, asked of the nodes themselves.
 *
 * A node that simulates sizes only counts what it would hold without holding it (node.h), so the plan's
 * figure is that of the job as it will run: shared pieces, scratch of products and norms included. */
#include "comm/layout.h"
#include "comm/merge.h"
#include "comm/node.h"
#include "comm/plan.h"

static psd_status measure(const struct psd_job *job, const struct psd_layout *layout,
                          const struct psd_merge *merge, unsigned rank, size_t *most)
{
    struct psd_node *node = NULL;
    struct psd_node_options options = {
        .job = job, .layout = layout, .merge = merge, .rank = rank, .sizes_only = true};

    PSD_TRY(psd_node_create(&options, &node));
    if (psd_node_memory(node) > *most)
        *most = psd_node_memory(node);
    psd_node_destroy(node);
    return PSD_OK;
}

psd_status psd_plan_memory(const struct psd_job *job, size_t *out)
{
    struct psd_layout *layout = NULL;
    struct psd_merge *merge = NULL;
    size_t most = 0;

    psd_status status = psd_layout_create(job, 0, &layout);
    if (status == PSD_OK)
        status = psd_merge_create(job, &merge);
    for (unsigned rank = 0; rank < job->ranks && status == PSD_OK; rank++) {
        if (psd_job_hosted(job, rank) > 0)
            status = measure(job, layout, merge, rank, &most);
    }
    psd_merge_destroy(merge);
    psd_layout_destroy(layout);
    if (status == PSD_OK)
        *out = most;
    return status;
}
