/* score_test.c - measured sums in numbers. */
#include "cli/score.h"
#include "test.h"

/* 4 nodes, 200 MB, 5 times. */
static struct psd_score new_score(void)
{
    return (struct psd_score){
        .bandwidth = 125e6,
        .nodes = 4,
        .name = "a \"net\"",
        .bytes = 200e6,
        .times = 5,
        .goodput = {100e6, 40e-6},
        .time = {4, 3.5, 5},
        .busy = {.elapsed_s = 20, .machine_s = 8, .own_s = 4},
    };
}

static const char *written(void (*row)(FILE *out, const struct psd_score *score),
                           const struct psd_score *score)
{
    static char text[1000];
    FILE *out = fmemopen(text, sizeof text, "w");

    CHECK(out);
    row(out, score);
    fclose(out);
    return text;
}

static void rows_have_all_numbers(void)
{
    struct psd_score score = new_score();

    CHECK_NEAR(psd_score_bound(&score), 3, 1e-9);
    CHECK_TEXT(
        "     1      4      200.000        100.00    4000.00   3500.00   5000.00   3000.00     75.0"
        "     2.000     1.000   0.40  network      5\n",
        written(psd_score_row, &score));
    CHECK_TEXT(
        "\"a \"\"net\"\"\",200000000,1,4,100.000000,40.000,4000.000000,3500.000000,5000.000000,"
        "3000.000000,0.750000,2.000000,1.000000,0.400000,network,5\n",
        written(psd_score_csv_row, &score));
    score.bandwidth = 0;
    CHECK(strncmp(written(psd_score_row, &score), "     -      4", 13) == 0);
}

static void a_node_alone_has_nothing_to_send(void)
{
    struct psd_score score = new_score();

    score.nodes = 1;
    CHECK_NEAR(psd_score_bound(&score), 0, 0);
    CHECK_TEXT("-", psd_score_limit(&score, 1));
}

static void busy_processors_are_the_limit(void)
{
    struct psd_score score = new_score();

    score.busy.machine_s = 29; /* in 20 s */
    CHECK_TEXT("cores", psd_score_limit(&score, 2));
    CHECK_TEXT("network", psd_score_limit(&score, 3));
}

int main(int argc, char **argv)
{
    RUN(rows_have_all_numbers)
    RUN(a_node_alone_has_nothing_to_send)
    RUN(busy_processors_are_the_limit)
}
