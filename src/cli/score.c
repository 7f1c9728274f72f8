/* score.c - ratios, and rows of them. */
#include "cli/score.h"
#include "base/thread.h"
#include "cli/csv.h"

double psd_score_bound(const struct psd_score *score)
{
    return 2.0 * (score->nodes - 1) / score->nodes * score->bytes / score->goodput.bytes_per_s;
}

/* For each gigabyte of gradients of each process. */
static double per_gigabyte(const struct psd_score *score, double seconds)
{
    return seconds / (score->times * score->nodes * score->bytes / 1e9);
}

const char *psd_score_limit(const struct psd_score *score, unsigned processors)
{
    if (score->nodes == 1)
        return "-";
    return psd_busy_is_limit(&score->busy, processors) ? "cores" : "network";
}

void psd_score_head(FILE *out)
{
    fputs(
        "Gbit/s  nodes           MB  goodput MB/s    time ms     least      most  bound ms  share %"
        "  CPU s/GB  own s/GB  cores  limit    times\n",
        out);
}

void psd_score_row(FILE *out, const struct psd_score *score)
{
    double bound = psd_score_bound(score);

    if (score->bandwidth > 0)
        fprintf(out, "%6.4g", score->bandwidth * 8 / 1e9);
    else
        fputs("     -", out);
    fprintf(out, "  %5u  %11.3f  %12.2f  %9.2f  %8.2f  %8.2f", score->nodes, score->bytes / 1e6,
            score->goodput.bytes_per_s / 1e6, score->time.median * 1e3, score->time.least * 1e3,
            score->time.most * 1e3);
    fprintf(out, "  %8.2f  %7.1f  %8.3f  %8.3f  %5.2f  %-7s  %5u\n", bound * 1e3,
            100 * bound / score->time.median, per_gigabyte(score, score->busy.machine_s),
            per_gigabyte(score, score->busy.own_s), psd_busy_cores(&score->busy),
            psd_score_limit(score, psd_thread_processors()), score->times);
}

void psd_score_csv_head(FILE *out)
{
    fputs("model,bytes,gbit_per_s,nodes,goodput_mb_per_s,latency_us,time_ms,least_ms,most_ms,bound_"
          "ms,"
          "share,cpu_s_per_gb,own_cpu_s_per_gb,cores,limit,times\n",
          out);
}

void psd_score_csv_row(FILE *out, const struct psd_score *score)
{
    double bound = psd_score_bound(score);

    psd_csv_text(out, score->name);
    fprintf(out, ",%.0f,%.9g,%u,%.6f,%.3f,%.6f,%.6f,%.6f,", score->bytes,
            score->bandwidth * 8 / 1e9, score->nodes, score->goodput.bytes_per_s / 1e6,
            score->goodput.latency * 1e6, score->time.median * 1e3, score->time.least * 1e3,
            score->time.most * 1e3);
    fprintf(out, "%.6f,%.6f,%.6f,%.6f,%.6f,%s,%u\n", bound * 1e3, bound / score->time.median,
            per_gigabyte(score, score->busy.machine_s), per_gigabyte(score, score->busy.own_s),
            psd_busy_cores(&score->busy), psd_score_limit(score, psd_thread_processors()),
            score->times);
}
