/* cell_test.c - a measured cluster in words and numbers. */
#include "cli/cell.h"
#include "test.h"

/* 8 nodes at 1 Gbit/s, twice as slow; 4 iterations. */
static struct psd_cell new_cell(void)
{
    return (struct psd_cell){
        .bandwidth = 125e6,
        .nodes = 8,
        .scheme = PSD_SCHEME_HYBRID,
        .dilate = 2,
        .goodput = {60e6, 50e-6},
        .bound = {.compute_s = 0.6, .tail_s = 0.01, .network_s = 1.6, .bytes = 178e6},
        .iteration = {2, 1.9, 2.2},
        .sent = 180e6,
        .all_sent = 8 * 4 * 180e6,
        .busy = {.elapsed_s = 16, .machine_s = 11.52, .own_s = 5.76},
        .simulated_s = 2.1,
    };
}

static void what_limits_is_the_slowest(void)
{
    struct psd_cell cell = new_cell();

    CHECK_TEXT("network", psd_cell_limit(&cell, 2));
    CHECK_TEXT("cores", psd_cell_limit(&cell, 1));
    cell.bound.network_s = 0.1;
    CHECK_TEXT("compute", psd_cell_limit(&cell, 2));
}

static const char *written(void (*row)(FILE *out, const struct psd_cell *cell),
                           const struct psd_cell *cell)
{
    static char text[1000];
    FILE *out = fmemopen(text, sizeof text, "w");

    CHECK(out);
    row(out, cell);
    fclose(out);
    return text;
}

static void csv_row(FILE *out, const struct psd_cell *cell)
{
    psd_cell_csv_row(out, "vgg19", 32, cell);
}

static void rows_have_all_numbers(void)
{
    struct psd_cell cell = new_cell();

    const char *text = written(psd_cell_table_row, &cell);
    CHECK(strstr(text,
                 "     1      8  hybrid                   2         60.00        2000.0    1900.0"
                 "    2200.0      30.0    1600.0  1.250    180.0     2.000   0.72"));
    CHECK(strstr(text, "2100.0        5.0\n"));
    text = written(csv_row, &cell);
    CHECK(strstr(text,
                 "\"vgg19\",32,1,8,hybrid,2,60.000000,50.000,2000.000000,1900.000000,2200.000000,"
                 "0.300000,600.000000,1600.000000,1.250000,180000000,178000000,2.000000,"
                 "1.000000,0.720000,"));
    cell.too_busy = true;
    CHECK(strstr(written(psd_cell_table_row, &cell), "too busy"));
    cell.bandwidth = 0;
    CHECK(strncmp(written(psd_cell_table_row, &cell), "     -      8", 13) == 0);
}

int main(int argc, char **argv)
{
    RUN(what_limits_is_the_slowest)
    RUN(rows_have_all_numbers)
}
