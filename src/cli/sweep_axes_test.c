/* sweep_axes_test.c - lists as somebody writes them. */
#include "base/alloc.h"
#include "cli/sweep_axes.h"
#include "test.h"

static const struct psd_command command = {.name = "simulate"};

static struct psd_cli new_cli(void)
{
    return (struct psd_cli){.program = "poseidon", .command = &command};
}

/* A list as the options make it. */
static char **list_of(const char *text)
{
    static const struct psd_value value = {PSD_VALUE_LIST, 0, 0, 0, NULL};
    char **list = NULL;

    CHECK_OK(psd_value_parse(&value, text, &list));
    return list;
}

static psd_status read_axes(const char *nodes, const char *bandwidths, const char *schemes,
                            struct psd_sweep_axes *out)
{
    static const struct psd_value value = {PSD_VALUE_LIST, 0, 0, 0, NULL};
    struct psd_cli cli = new_cli();
    char **lists[] = {list_of(nodes), list_of(bandwidths), list_of(schemes)};
    psd_status status = psd_sweep_axes_read(&cli, lists[0], lists[1], lists[2], out);

    for (size_t i = 0; i < 3; i++)
        psd_value_clear(&value, &lists[i]);
    return status;
}

static void what_is_not_said_is_as_usual(void)
{
    struct psd_sweep_axes axes;

    CHECK_OK(read_axes("", "", "", &axes));
    CHECK(axes.n_nodes == 6 && axes.nodes[0] == 1 && axes.nodes[5] == 32);
    CHECK(axes.n_bandwidths == 2);
    CHECK_NEAR(axes.bandwidths[0], 1.25e9, 0);
    CHECK(axes.n_schemes == PSD_SCHEMES && axes.schemes[4] == PSD_SCHEME_SINGLE_OWNER);
}

static void nodes_are_sorted_and_nothing_is_twice(void)
{
    struct psd_sweep_axes axes;

    CHECK_OK(read_axes("8,1,32,8,4,1", "2Gbit,250MB/s,1Gbit", "hybrid,servers,Hybrid", &axes));
    CHECK(axes.n_nodes == 4);
    CHECK(axes.nodes[0] == 1 && axes.nodes[1] == 4 && axes.nodes[2] == 8 && axes.nodes[3] == 32);
    CHECK(axes.n_bandwidths == 2 && axes.bandwidths[1] == 125e6);
    CHECK(axes.n_schemes == 2 && axes.schemes[0] == PSD_SCHEME_HYBRID);
}

static void mistakes_name_the_option(void)
{
    static const struct {
        const char *nodes, *bandwidths, *schemes, *sentence;
    } cases[] = {
        {"0", "", "", "--nodes: \"0\" is not a whole number from 1 to 4096"},
        {"1,two", "", "", "--nodes: \"two\" is not a whole number from 1 to 4096"},
        {"1", "10", "", "--bandwidth: \"10\" is not a speed such as 10Gbit"},
        {"1", "", "hybird", "did you mean \"hybrid\"?"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_sweep_axes axes;
        CHECK(read_axes(cases[i].nodes, cases[i].bandwidths, cases[i].schemes, &axes) != PSD_OK);
        if (!strstr(psd_error(), cases[i].sentence))
            TEST_FAIL("\"%s\" is not in: %s", cases[i].sentence, psd_error());
    }
}

static void too_long_a_list_is_refused(void)
{
    struct psd_sweep_axes axes;
    char text[1000] = "1";

    for (int i = 2; i <= PSD_SWEEP_MOST; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",%d", i);
    CHECK_OK(read_axes(text, "", "", &axes));
    CHECK(axes.n_nodes == PSD_SWEEP_MOST);
    snprintf(text + strlen(text), sizeof text - strlen(text), ",1");
    CHECK(read_axes(text, "", "", &axes) != PSD_OK);
    CHECK(strstr(psd_error(), "--nodes has more than 64 elements"));
}

int main(int argc, char **argv)
{
    RUN(what_is_not_said_is_as_usual)
    RUN(nodes_are_sorted_and_nothing_is_twice)
    RUN(mistakes_name_the_option)
    RUN(too_long_a_list_is_refused)
}
