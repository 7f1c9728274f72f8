#include "documents.h"
#include "engine/net_state.h"

/* Whether a layer with these rules is part of a net in this state. */
static bool is_in(const char *rules, struct psd_net_state state)
{
    char text[400];

    snprintf(text, sizeof text, "layer { name: 'before' } layer { name: 'it' %s }", rules);
    struct psd_document *document = net_of(text);
    CHECK_OK(psd_net_filter(document, net_in(document), &state));
    size_t layers = net_in(document)->n_layer;
    CHECK(layers >= 1);
    CHECK_TEXT("before", net_in(document)->layer[0]->name);
    psd_document_destroy(document);
    return layers == 2;
}

static const char *const stages[] = {"deploy", "fast", NULL};

static const struct psd_net_state train = {.phase = CAFFE__PHASE__TRAIN},
                                  test = {.phase = CAFFE__PHASE__TEST},
                                  level_2 = {.phase = CAFFE__PHASE__TEST, .level = 2},
                                  staged = {CAFFE__PHASE__TEST, 0, 2, stages};

static void a_layer_without_rules_is_always_there(void)
{
    CHECK(is_in("", train) && is_in("", test) && is_in("", staged));
}

static void include_needs_one_rule_that_fits(void)
{
    CHECK(is_in("include { phase: TRAIN }", train));
    CHECK(!is_in("include { phase: TRAIN }", test));
    CHECK(is_in("include { phase: TRAIN } include { phase: TEST }", test));
    CHECK(is_in("include { }", test));
}

static void exclude_goes_by_one_rule_that_fits(void)
{
    CHECK(!is_in("exclude { phase: TRAIN }", train));
    CHECK(is_in("exclude { phase: TRAIN }", test));
    CHECK(!is_in("exclude { phase: TRAIN } exclude { phase: TEST }", test));
}

static void levels_are_bounds_inclusive(void)
{
    CHECK(is_in("include { min_level: 2 max_level: 2 }", level_2));
    CHECK(!is_in("include { min_level: 3 }", level_2));
    CHECK(!is_in("include { max_level: 1 }", level_2));
    CHECK(is_in("include { min_level: -1 }", train));
}

static void all_stages_and_no_unwanted_one(void)
{
    CHECK(is_in("include { stage: 'fast' stage: 'deploy' }", staged));
    CHECK(!is_in("include { stage: 'fast' stage: 'slow' }", staged));
    CHECK(is_in("include { not_stage: 'slow' }", staged));
    CHECK(!is_in("include { stage: 'fast' not_stage: 'deploy' }", staged));
    CHECK(!is_in("include { stage: 'fast' }", test));
}

static void a_rule_is_met_in_all_its_parts(void)
{
    CHECK(!is_in("include { phase: TRAIN stage: 'fast' }", staged));
    CHECK(is_in("exclude { phase: TRAIN stage: 'fast' }", staged));
}

static void both_kinds_of_rules_are_refused(void)
{
    struct psd_document *document =
        net_of("layer { name: 'it' include { phase: TRAIN } exclude { phase: TEST } }");

    CHECK_STATUS(PSD_ECONFIG, psd_net_filter(document, net_in(document), &train));
    CHECK_TEXT("test.prototxt:1:1: layer it: has include and exclude rules; use one kind",
               psd_error());
    psd_document_destroy(document);
}

int main(int argc, char **argv)
{
    RUN(a_layer_without_rules_is_always_there)
    RUN(include_needs_one_rule_that_fits)
    RUN(exclude_goes_by_one_rule_that_fits)
    RUN(levels_are_bounds_inclusive)
    RUN(all_stages_and_no_unwanted_one)
    RUN(a_rule_is_met_in_all_its_parts)
    RUN(both_kinds_of_rules_are_refused)
}
