/* wishes_test.c - what NAME=WORD means for which parameters. */
#include "base/alloc.h"
#include "cli/wishes.h"
#include "comm/plan.h"
#include "test.h"

enum { CONV, CONV_BIAS, FC, FC_BIAS, PARAMS };

static struct psd_workload *new_workload(void)
{
    struct psd_workload *workload = NULL;

    CHECK_OK(psd_workload_create("net", 8, &workload));
    CHECK_OK(psd_workload_add_layer(workload, "data", 0));
    CHECK_OK(psd_workload_add_layer(workload, "conv", 100));
    CHECK_OK(psd_workload_add_param(workload, "conv[0]", 4, 9));
    CHECK_OK(psd_workload_add_param(workload, "conv[1]", 1, 4));
    CHECK_OK(psd_workload_add_layer(workload, "fc6", 100));
    CHECK_OK(psd_workload_add_param(workload, "fc6[0]", 10, 20));
    CHECK_OK(psd_workload_add_param(workload, "fc6[1]", 1, 10));
    workload->params[FC].factors = true;
    workload->params[FC_BIAS].bias_of = FC;
    return workload;
}

static psd_status read_wishes(const char *form, const char *route, struct psd_workload_wish **out)
{
    static const struct psd_command command = {.name = "plan"};
    struct psd_cli cli = {.program = "poseidon", .command = &command};
    struct psd_workload *workload = new_workload();
    char forms[100], routes[100];
    char *one[] = {forms, NULL}, *other[] = {routes, NULL};

    snprintf(forms, sizeof forms, "%s", form ? form : "");
    snprintf(routes, sizeof routes, "%s", route ? route : "");
    psd_status status =
        psd_wishes_read(&cli, workload, form ? one : NULL, route ? other : NULL, out);
    psd_workload_destroy(workload);
    return status;
}

static void nothing_is_wished_unless_it_is_said(void)
{
    struct psd_workload_wish *wishes = NULL;

    CHECK_OK(read_wishes(NULL, NULL, &wishes));
    for (size_t i = 0; i < PARAMS; i++)
        CHECK(wishes[i].form == PSD_FORM_AUTO && wishes[i].route == PSD_ROUTE_AUTO);
    psd_alloc_free(wishes);
}

static void a_layer_means_its_parameters_and_a_bias_follows(void)
{
    struct psd_workload_wish *wishes = NULL;

    CHECK_OK(read_wishes("fc6=dense", "conv=servers", &wishes));
    CHECK(wishes[FC].form == PSD_FORM_DENSE && wishes[FC_BIAS].form == PSD_FORM_AUTO);
    CHECK(wishes[CONV].route == PSD_ROUTE_SERVERS && wishes[CONV_BIAS].route == PSD_ROUTE_SERVERS);
    CHECK(wishes[FC].route == PSD_ROUTE_AUTO && wishes[CONV].form == PSD_FORM_AUTO);
    psd_alloc_free(wishes);
}

static void a_parameter_means_itself(void)
{
    struct psd_workload_wish *wishes = NULL;

    CHECK_OK(read_wishes(NULL, "fc6[0]=row-sharded", &wishes));
    CHECK(wishes[FC].route == PSD_ROUTE_ROW_SHARDED && wishes[FC_BIAS].route == PSD_ROUTE_AUTO);
    psd_alloc_free(wishes);
}

static void every_route_has_the_name_that_plans_show(void)
{
    for (enum psd_route route = PSD_ROUTE_SERVERS; route <= PSD_ROUTE_SINGLE_OWNER; route++) {
        struct psd_workload_wish *wishes = NULL;
        char text[100];
        snprintf(text, sizeof text, "fc6=%s", psd_plan_route_name(route));
        CHECK_OK(read_wishes(NULL, text, &wishes));
        CHECK(wishes[FC].route == route);
        psd_alloc_free(wishes);
    }
}

static void mistakes_say_what_would_be_right(void)
{
    static const struct {
        const char *form, *route, *sentence;
    } cases[] = {
        {"fc6", NULL, "--form is written NAME=WORD, and \"fc6\" has no ="},
        {"fc6=thin", NULL, "--form fc6: \"thin\" is not one of auto, dense, factored"},
        {NULL, "fc6=server", "did you mean \"servers\"?"},
        {NULL, "fc7=servers",
         "--route: no layer \"fc7\" that learns, and no parameter; did you "
         "mean \"fc6\"?"},
        {"data=dense", NULL, "no layer \"data\" that learns"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_workload_wish *wishes = NULL;
        CHECK(read_wishes(cases[i].form, cases[i].route, &wishes) != PSD_OK);
        CHECK(wishes == NULL);
        if (!strstr(psd_error(), cases[i].sentence))
            TEST_FAIL("\"%s\" is not in: %s", cases[i].sentence, psd_error());
    }
}

int main(int argc, char **argv)
{
    RUN(nothing_is_wished_unless_it_is_said)
    RUN(a_layer_means_its_parameters_and_a_bias_follows)
    RUN(a_parameter_means_itself)
    RUN(every_route_has_the_name_that_plans_show)
    RUN(mistakes_say_what_would_be_right)
}
