/* cell.c - ratios, and rows of them. */
#include "cli/cell.h"
#include "base/thread.h"
#include "cli/csv.h"

const char *psd_cell_limit(const struct psd_cell *cell, unsigned processors)
{
    if (psd_busy_is_limit(&cell->busy, processors))
        return "cores";
    return psd_bound_is_network(&cell->bound) ? "network" : "compute";
}

static double per_gigabyte(const struct psd_cell *cell, double seconds)
{
    return cell->all_sent > 0 ? seconds / (cell->all_sent / 1e9) : 0;
}

static double efficiency(const struct psd_cell *cell)
{
    return cell->bound.compute_s / cell->iteration.median;
}

static double ratio(const struct psd_cell *cell)
{
    return cell->iteration.median / psd_bound_seconds(&cell->bound);
}

static double difference(const struct psd_cell *cell)
{
    return cell->simulated_s / cell->iteration.median - 1;
}

void psd_cell_table_head(FILE *out)
{
    fputs(
        "Gbit/s  nodes  scheme              dilate  goodput MB/s  iteration ms     least      most"
        "  effic. %  bound ms  ratio  MB/node  CPU s/GB  cores  limit    simulated ms  differs %\n",
        out);
}

/* What a cell that is too busy has no say in is left out. */
static void show_time(FILE *out, const struct psd_cell *cell)
{
    const struct psd_spread *time = &cell->iteration;

    if (cell->too_busy)
        fprintf(out, "  %12s  %8s  %8s  %8s  %8.1f  %5s", "too busy", "", "", "",
                psd_bound_seconds(&cell->bound) * 1e3, "");
    else
        fprintf(out, "  %12.1f  %8.1f  %8.1f  %8.1f  %8.1f  %5.3f", time->median * 1e3,
                time->least * 1e3, time->most * 1e3, 100 * efficiency(cell),
                psd_bound_seconds(&cell->bound) * 1e3, ratio(cell));
}

void psd_cell_table_row(FILE *out, const struct psd_cell *cell)
{
    if (cell->bandwidth > 0)
        fprintf(out, "%6.4g", cell->bandwidth * 8 / 1e9);
    else
        fputs("     -", out);
    fprintf(out, "  %5u  %-18s  %6u  %12.2f", cell->nodes, psd_scheme_names[cell->scheme],
            cell->dilate, cell->goodput.bytes_per_s / 1e6);
    show_time(out, cell);
    fprintf(out, "  %7.1f  %8.3f  %5.2f  %-7s  %12.1f", cell->sent / 1e6,
            per_gigabyte(cell, cell->busy.machine_s), psd_busy_cores(&cell->busy),
            psd_cell_limit(cell, psd_thread_processors()), cell->simulated_s * 1e3);
    if (!cell->too_busy)
        fprintf(out, "  %9.1f", 100 * difference(cell));
    fputc('\n', out);
}

void psd_cell_csv_head(FILE *out)
{
    fputs("model,batch,gbit_per_s,nodes,scheme,dilate,goodput_mb_per_s,latency_us,iteration_ms,"
          "least_ms,most_ms,efficiency,compute_ms,bound_ms,ratio,sent_bytes,planned_bytes,"
          "cpu_s_per_gb,own_cpu_s_per_gb,cores,limit,too_busy,simulated_ms,difference\n",
          out);
}

void psd_cell_csv_row(FILE *out, const char *model, size_t batch, const struct psd_cell *cell)
{
    const struct psd_spread *time = &cell->iteration;

    psd_csv_text(out, model);
    fprintf(out, ",%zu,%.9g,%u,%s,%u,%.6f,%.3f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.0f,%.0f,",
            batch, cell->bandwidth * 8 / 1e9, cell->nodes, psd_scheme_names[cell->scheme],
            cell->dilate, cell->goodput.bytes_per_s / 1e6, cell->goodput.latency * 1e6,
            time->median * 1e3, time->least * 1e3, time->most * 1e3, efficiency(cell),
            cell->bound.compute_s * 1e3, psd_bound_seconds(&cell->bound) * 1e3, ratio(cell),
            cell->sent, cell->bound.bytes);
    fprintf(out, "%.6f,%.6f,%.6f,%s,%d,%.6f,%.6f\n", per_gigabyte(cell, cell->busy.machine_s),
            per_gigabyte(cell, cell->busy.own_s), psd_busy_cores(&cell->busy),
            psd_cell_limit(cell, psd_thread_processors()), cell->too_busy, cell->simulated_s * 1e3,
            difference(cell));
}
