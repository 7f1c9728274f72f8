/* workloads.h - nets as planner and simulator see them, for tests of comm.
 *
 *     struct psd_workload *net = workload_of(8, layers, n);      made by hand,
 *     struct psd_workload *vgg = workload_published("vgg19");    or a well-known one
 *     struct psd_job *job = workload_job(net, 16, 16, NULL);
 *
 * What cannot be made fails the test. */
#ifndef PSD_TESTS_WORKLOADS_H
#define PSD_TESTS_WORKLOADS_H

#include "comm/job.h"
#include "comm/profile.h"
#include "comm/workload_file.h"
#include "test.h"

/* A layer with a weight of rows x cols and a bias, or with no parameters. */
struct workload_layer {
    const char *name;
    size_t rows, cols;
    bool factors;
    double forward_s, backward_s;
};

static inline void workload_add(struct psd_workload *workload, const struct workload_layer *layer)
{
    char name[64];

    CHECK_OK(psd_workload_add_layer(workload, layer->name, 0));
    workload->layers[workload->n_layers - 1].forward_s = layer->forward_s;
    workload->layers[workload->n_layers - 1].backward_s = layer->backward_s;
    if (layer->rows == 0)
        return;
    snprintf(name, sizeof name, "%s[0]", layer->name);
    CHECK_OK(psd_workload_add_param(workload, name, layer->rows, layer->cols));
    workload->params[workload->n_params - 1].factors = layer->factors;
    snprintf(name, sizeof name, "%s[1]", layer->name);
    CHECK_OK(psd_workload_add_param(workload, name, 1, layer->rows));
    if (layer->factors)
        workload->params[workload->n_params - 1].bias_of = (int)workload->n_params - 2;
}

static inline struct psd_workload *workload_of(size_t batch, const struct workload_layer *layers,
                                               size_t count)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("test", batch, &workload));
    for (size_t i = 0; i < count; i++)
        workload_add(workload, &layers[i]);
    return workload;
}

/* A net of models/descriptions with the published speed of one node. */
static inline struct psd_workload *workload_published(const char *name)
{
    char path[100];
    struct psd_workload *workload = NULL;
    struct psd_profile *profile = NULL;

    snprintf(path, sizeof path, "models/descriptions/%s.txt", name);
    CHECK_OK(psd_workload_file_read(path, &workload));
    CHECK_OK(psd_profile_read("models/profiles/titan-x.txt", &profile));
    CHECK_OK(psd_profile_apply(profile, workload, 0));
    psd_profile_destroy(profile);
    return workload;
}

/* A job with the workload's parameters and batch, all forms and routes AUTO. */
static inline struct psd_job *workload_job(const struct psd_workload *workload, unsigned ranks,
                                           unsigned workers, const struct psd_comm_update *update)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(ranks, workers, workload->batch, PSD_COMM_UPDATE, update, &job));
    for (size_t i = 0; i < workload->n_params; i++) {
        const struct psd_workload_param *param = &workload->params[i];
        CHECK_OK(psd_job_add(job, &(struct psd_comm_param){.name = param->name,
                                                           .rows = param->rows,
                                                           .cols = param->cols,
                                                           .factors = param->factors,
                                                           .bias_of = param->bias_of + 1}));
    }
    return job;
}

#endif
