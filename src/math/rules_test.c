/* rules_test.c - what each rule computes, by hand, and that pieces do not matter. */
#include "math/rules.h"
#include "test.h"

enum { N = 1003 };

static void fill(float *values, float scale)
{
    for (size_t i = 0; i < N; i++)
        values[i] = scale * ((float)(i * 7919 % 201) - 100);
}

/* Not only equal values: -0 is not 0 here. */
static bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static void sgd_follows_its_formula(void)
{
    struct psd_rule_step step = {
        .rate = 0.1f, .decay = 0.01f, .scale = 0.5f, .momentum = 0.9f, .iteration = 3};
    float value = 2, gradient = 4, history = 1;
    float *state[] = {&history};

    psd_rule_sgd.apply(&step, 1, &value, &gradient, state);
    float g = 4 * 0.5f + 0.01f * 2;
    CHECK_NEAR(history, 0.9f * 1 + 0.1f * g, 1e-6);
    CHECK_NEAR(value, 2 - (0.9f + 0.1f * g), 1e-6);
}

static void l1_decays_by_sign(void)
{
    struct psd_rule_step step = {.rate = 1, .decay = 0.25f, .scale = 1, .l1 = true};
    float value[] = {3, -3, 0}, gradient[] = {0, 0, 0}, history[3] = {0};
    float *state[] = {history};

    psd_rule_sgd.apply(&step, 3, value, gradient, state);
    CHECK_NEAR(value[0], 2.75, 0);
    CHECK_NEAR(value[1], -2.75, 0);
    CHECK_NEAR(value[2], 0, 0);
}

static void every_rule_gives_the_same_bits_in_any_pieces(void)
{
    static float whole[N], pieces[N], gradient[N], state[2][4][N];
    struct psd_rule_step step = {.rate = 0.1f,
                                 .decay = 0.0005f,
                                 .scale = 1,
                                 .momentum = 0.9f,
                                 .momentum2 = 0.999f,
                                 .delta = 1e-8f,
                                 .rms_decay = 0.99f};

    for (size_t r = 0; psd_rules[r]; r++) {
        fill(whole, 0.01f);
        fill(pieces, 0.01f);
        fill(gradient, 0.003f);
        memset(state, 0, sizeof state);
        for (step.iteration = 0; step.iteration < 3; step.iteration++) {
            float *all[] = {state[0][0], state[0][1], state[0][2], state[0][3]};
            psd_rules[r]->apply(&step, N, whole, gradient, all);
            for (size_t at = 0, n = 1; at < N; at += n, n = n * 3 % 97 + 1) {
                n = at + n > N ? N - at : n;
                float *part[] = {state[1][0] + at, state[1][1] + at, state[1][2] + at,
                                 state[1][3] + at};
                psd_rules[r]->apply(&step, n, pieces + at, gradient + at, part);
            }
        }
        CHECK(same_bits(whole, pieces, sizeof whole));
        CHECK(same_bits(state[0], state[1], sizeof state[0]));
    }
}

static void rules_are_found_by_name(void)
{
    CHECK(psd_rules_find("SGD") == &psd_rule_sgd);
    CHECK(!psd_rules_find("sgd"));
}

int main(int argc, char **argv)
{
    RUN(sgd_follows_its_formula)
    RUN(l1_decays_by_sign)
    RUN(every_rule_gives_the_same_bits_in_any_pieces)
    RUN(rules_are_found_by_name)
}
