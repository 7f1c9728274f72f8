/* sweep.c - the points, each simulated by itself, as text. */
#include "cli/sweep.h"
#include "base/alloc.h"
#include "cli/csv.h"

static void fill(struct psd_sweep *sweep, const struct psd_sweep_axes *axes)
{
    struct psd_sweep_point *point = sweep->points;

    for (size_t i = 0; i < axes->n_bandwidths; i++) {
        for (size_t k = 0; k < axes->n_nodes; k++) {
            for (size_t s = 0; s < axes->n_schemes; s++)
                *point++ = (struct psd_sweep_point){.bandwidth = axes->bandwidths[i],
                                                    .nodes = axes->nodes[k],
                                                    .scheme = axes->schemes[s]};
        }
    }
}

psd_status psd_sweep_init(struct psd_sweep *sweep, const struct psd_sweep_axes *axes)
{
    sweep->schemes = axes->n_schemes;
    sweep->nodes = axes->n_nodes * axes->n_schemes;
    sweep->count = axes->n_bandwidths * sweep->nodes;
    sweep->points = psd_alloc_zero(sweep->count, sizeof *sweep->points);
    if (!sweep->points)
        return PSD_ENOMEM;
    fill(sweep, axes);
    return PSD_OK;
}

void psd_sweep_fini(struct psd_sweep *sweep)
{
    psd_alloc_free(sweep->points);
    sweep->points = NULL;
}

psd_status psd_sweep_run(const struct psd_sweep *sweep, struct psd_sweep_point *point)
{
    const struct psd_plan_network network = {point->bandwidth, sweep->latency};
    struct psd_job *job = NULL;

    PSD_TRY(psd_scheme_job(point->scheme, sweep->workload, point->nodes, &network, &job));
    psd_status status = psd_timeline_run(
        &(struct psd_timeline_options){.job = job,
                                       .workload = sweep->workload,
                                       .bandwidth = point->bandwidth,
                                       .latency = sweep->latency,
                                       .delay = sweep->delay,
                                       .no_overlap = !psd_scheme_overlaps(point->scheme),
                                       .iterations = sweep->iterations,
                                       .seed = sweep->seed},
        &point->result);
    psd_job_destroy(job);
    return status;
}

double psd_sweep_speedup(const struct psd_sweep_point *point)
{
    const struct psd_timeline_result *result = &point->result;

    return result->iteration_s > 0 ? point->nodes * result->compute_s / result->iteration_s : 0;
}

static double balance_of(const struct psd_timeline_result *result)
{
    return result->bytes_mean > 0 ? result->bytes_most / result->bytes_mean : 1;
}

void psd_sweep_table_head(FILE *out)
{
    fputs("   Gbit/s  nodes  scheme              iteration ms  speed-up  stall %  extra %    "
          "MB/node  most/mean\n",
          out);
}

void psd_sweep_table_row(FILE *out, const struct psd_sweep_point *point)
{
    const struct psd_timeline_result *result = &point->result;

    fprintf(out, "%9.4g  %5u  %-18s  %12.3f  %8.2f  %7.2f  %7.2f  %9.2f  %9.3f\n",
            point->bandwidth * 8 / 1e9, point->nodes, psd_scheme_names[point->scheme],
            result->iteration_s * 1e3, psd_sweep_speedup(point), result->stall * 100,
            result->extra * 100, result->bytes_mean / 1e6, balance_of(result));
}

void psd_sweep_csv_head(FILE *out)
{
    fputs("model,batch,gbit_per_s,latency_us,nodes,scheme,iteration_ms,speedup,stall,extra,"
          "bytes_mean,bytes_most,messages\n",
          out);
}

void psd_sweep_csv_row(FILE *out, const struct psd_sweep *sweep,
                       const struct psd_sweep_point *point)
{
    const struct psd_timeline_result *result = &point->result;

    psd_csv_text(out, sweep->workload->name);
    fprintf(out, ",%zu,%.9g,%.9g,%u,%s,%.6f,%.6f,%.6f,%.6f,%.0f,%.0f,%llu\n",
            sweep->workload->batch, point->bandwidth * 8 / 1e9, sweep->latency * 1e6, point->nodes,
            psd_scheme_names[point->scheme], result->iteration_s * 1e3, psd_sweep_speedup(point),
            result->stall, result->extra, result->bytes_mean, result->bytes_most,
            (unsigned long long)result->messages);
}
