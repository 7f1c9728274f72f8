/* teamwork_test.c - what the options of several workers mean. */
#include "base/clock.h"
#include "base/thread.h"
#include "cli/teamwork.h"
#include "test.h"

static void counts_have_their_defaults(void)
{
    static const struct {
        int64_t workers, threads; /* asked for; 0: not */
        int64_t compute;          /* --threads */
        unsigned ranks, s, t;     /* t: 0 means all processors */
    } cases[] = {
        {0, 0, 0, 1, 1, 0},                     /* alone: all there is */
        {0, 0, 3, 1, 1, 3}, {0, 2, 3, 1, 1, 2}, /* the worker's own word comes first */
        {0, 0, 0, 4, 4, 1}, {8, 0, 0, 4, 8, 1}, {8, 0, 0, 1, 8, 1},
        {8, 2, 0, 4, 8, 2}, {1, 0, 0, 1, 1, 0}, {2, 0, 5, 2, 2, 5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_teamwork_options options = {.workers = cases[i].workers,
                                               .threads = cases[i].threads};
        struct psd_compute_options compute = {.threads = cases[i].compute};
        struct psd_teamwork out;
        unsigned threads = cases[i].t ? cases[i].t : psd_thread_processors();
        psd_teamwork_count(&options, &compute, cases[i].ranks, &out);
        if (out.ranks != cases[i].ranks || out.workers != cases[i].s || out.threads != threads)
            TEST_FAIL("case %zu: %u processes, %u workers of %u threads", i, out.ranks, out.workers,
                      out.threads);
        CHECK(!out.ensemble && !out.wishes);
    }
}

static psd_status open_with(struct psd_teamwork_options *options, struct psd_teamwork *out)
{
    struct psd_cli cli = {.network.timeout_ns = PSD_CLOCK_S};
    struct psd_compute_options compute = {0};

    return psd_teamwork_open(&cli, options, &compute, NULL, out);
}

static void one_worker_needs_no_team(void)
{
    struct psd_teamwork_options options = {0};
    struct psd_solver_options solver = {0};
    struct psd_teamwork out;

    CHECK_OK(open_with(&options, &out));
    CHECK(!out.ensemble);
    psd_teamwork_join(&out, &solver);
    CHECK(!solver.team && !solver.batch);
    psd_teamwork_close(&out);
}

static void several_workers_make_a_team(void)
{
    struct psd_teamwork_options options = {.workers = 3, .global_batch = 7};
    struct psd_solver_options solver = {0};
    struct psd_teamwork out;

    CHECK_OK(open_with(&options, &out));
    psd_teamwork_join(&out, &solver);
    CHECK(solver.team == &out.team && solver.batch == 3);
    CHECK(solver.position.of == 3 && solver.position.global_batch == 7);
    CHECK(out.team.workers == 3 && out.team.hosted == 3 && out.team.writes);
    psd_teamwork_close(&out);
    CHECK(!out.ensemble && !out.wishes);
}

static void forms_and_routes_are_wishes_by_name(void)
{
    char form[] = "fc6=factored", other[] = "fc7[0]=dense", route[] = "fc6=row-sharded";
    char *forms[] = {form, other, NULL}, *routes[] = {route, NULL};
    struct psd_teamwork_options options = {.workers = 2, .forms = forms, .routes = routes};
    struct psd_teamwork out;

    CHECK_OK(open_with(&options, &out));
    CHECK_TEXT("fc6", out.wishes[0].name);
    CHECK(out.wishes[0].form == PSD_FORM_FACTORED && out.wishes[0].route == PSD_ROUTE_AUTO);
    CHECK_TEXT("fc7[0]", out.wishes[1].name);
    CHECK(out.wishes[1].form == PSD_FORM_DENSE);
    CHECK_TEXT("fc6", out.wishes[2].name);
    CHECK(out.wishes[2].form == PSD_FORM_AUTO && out.wishes[2].route == PSD_ROUTE_ROW_SHARDED);
    psd_teamwork_close(&out);
}

static void what_does_not_fit_together_is_misuse(void)
{
    char form[] = "fc6", route[] = "fc6=pigeon";
    char *forms[] = {form, NULL}, *routes[] = {route, NULL};
    const struct {
        struct psd_teamwork_options options;
        unsigned ranks;
        const char *sentence;
    } cases[] = {
        {{.workers = 2}, 3, "3 processes need at least as many logical workers, not 2."},
        {{.workers = 3, .global_batch = 2},
         1,
         "a global batch of 2 is less than a sample for each of 3 logical workers."},
        {{.global_batch = 3}, 4, "a global batch of 3 is less than a sample for each of 4"},
        {{.forms = forms}, 2, "--form is written NAME=WORD, and \"fc6\" has no =."},
        {{.routes = routes}, 2, "--route fc6: \"pigeon\" is not one of auto, servers"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_cli cli = {.program = "poseidon"};
        CHECK_STATUS(PSD_EINVAL, psd_teamwork_check(&cli, &cases[i].options, cases[i].ranks));
        CHECK(cli.misused && strstr(psd_error(), cases[i].sentence));
    }
    struct psd_cli cli = {.network.timeout_ns = PSD_CLOCK_S};
    CHECK_OK(psd_teamwork_check(&cli, &(struct psd_teamwork_options){.global_batch = 4}, 4));
}

static void a_timeout_has_10_ms_at_least(void)
{
    struct psd_teamwork_options options = {0};
    struct psd_cli cli = {.network.timeout_ns = 10 * PSD_CLOCK_MS};

    CHECK_OK(psd_teamwork_check(&cli, &options, 2));
    cli.network.timeout_ns--;
    CHECK_STATUS(PSD_ECONFIG, psd_teamwork_check(&cli, &options, 2));
    cli.network.timeout_ns = 500 * PSD_CLOCK_US;
    CHECK_STATUS(PSD_ECONFIG, psd_teamwork_check(&cli, &options, 1));
    CHECK_TEXT("net.timeout is 10 ms at least, not 0.5 ms", psd_error());
    CHECK(!cli.misused);
}

static void what_leaves_the_machine_is_encrypted_unless_a_person_says_otherwise(void)
{
    static const struct {
        const char *coordinator;
        bool is_in_clear; /* where nobody says anything */
    } cases[] = {
        {"inproc://train-7", true},      {"tcp://127.0.0.1:7070", true},
        {"tcp://[::1]:7070", true},      {"tcp://10.0.0.1:7070", false},
        {"tcp://localhost:7070", false}, {"tcp://127.example.org:7070", false},
        {"tcp://[fd00::1]:7070", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_network_config network = {.encrypt = PSD_NETWORK_AUTO};
        const char *where = cases[i].coordinator;
        if (psd_teamwork_is_in_clear(&network, where) != cases[i].is_in_clear)
            TEST_FAIL("%s", where);
        network.encrypt = PSD_NETWORK_ON;
        CHECK(!psd_teamwork_is_in_clear(&network, where));
        network.encrypt = PSD_NETWORK_OFF;
        CHECK(psd_teamwork_is_in_clear(&network, where));
    }
}

int main(int argc, char **argv)
{
    RUN(counts_have_their_defaults)
    RUN(one_worker_needs_no_team)
    RUN(several_workers_make_a_team)
    RUN(forms_and_routes_are_wishes_by_name)
    RUN(what_does_not_fit_together_is_misuse)
    RUN(a_timeout_has_10_ms_at_least)
    RUN(what_leaves_the_machine_is_encrypted_unless_a_person_says_otherwise)
}
