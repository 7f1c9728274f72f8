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

/* --- formulas, in double --------------------------------------------------------------------- */

/* What is subtracted from a value, with the new states in h. */
typedef double formula(const struct psd_rule_step *s, double g, double h[2]);

static double sgd(const struct psd_rule_step *s, double g, double h[2])
{
    return h[0] = (double)s->momentum * h[0] + (double)s->rate * g;
}

static double nesterov(const struct psd_rule_step *s, double g, double h[2])
{
    double old = h[0], now = sgd(s, g, h);

    return now + (double)s->momentum * (now - old);
}

static double adagrad(const struct psd_rule_step *s, double g, double h[2])
{
    h[0] += g * g;
    return (double)s->rate * g / (sqrt(h[0]) + (double)s->delta);
}

/* A mean that forgets. */
static double mean(double keep, double old, double now)
{
    return keep * old + (1 - keep) * now;
}

static double rmsprop(const struct psd_rule_step *s, double g, double h[2])
{
    h[0] = mean((double)s->rms_decay, h[0], g * g);
    return (double)s->rate * g / (sqrt(h[0]) + (double)s->delta);
}

static double adadelta(const struct psd_rule_step *s, double g, double h[2])
{
    h[0] = mean((double)s->momentum, h[0], g * g);
    double d = g * sqrt(((double)s->delta + h[1]) / ((double)s->delta + h[0]));
    h[1] = mean((double)s->momentum, h[1], d * d);
    return (double)s->rate * d;
}

static double adam(const struct psd_rule_step *s, double g, double h[2])
{
    double t = (double)s->iteration + 1;
    double first = 1 - pow((double)s->momentum, t), second = 1 - pow((double)s->momentum2, t);

    h[0] = mean((double)s->momentum, h[0], g);
    h[1] = mean((double)s->momentum2, h[1], g * g);
    return (double)s->rate * sqrt(second) / first * h[0] / (sqrt(h[1]) + (double)s->delta);
}

static const struct {
    const char *name;
    unsigned states;
    formula *change;
} formulas[] = {{"SGD", 1, sgd},         {"Nesterov", 1, nesterov}, {"AdaGrad", 1, adagrad},
                {"RMSProp", 1, rmsprop}, {"AdaDelta", 2, adadelta}, {"Adam", 2, adam}};
enum { RULES = sizeof formulas / sizeof *formulas };

/* One value over many iterations, with a gradient that changes its size and sign. */
static void follow(const struct psd_rule *rule, formula *change, bool l1)
{
    struct psd_rule_step step = {.rate = 0.1f,
                                 .decay = 0.01f,
                                 .l1 = l1,
                                 .scale = 0.5f,
                                 .momentum = 0.9f,
                                 .momentum2 = 0.99f,
                                 .delta = 1e-4f,
                                 .rms_decay = 0.95f};
    float value = 2, gradient, first = 0, second = 0;
    double exact = 2, h[2] = {0, 0};

    for (step.iteration = 0; step.iteration < 1000; step.iteration++) {
        gradient = (float)((int)(step.iteration * 7 % 13) - 5);
        rule->apply(&step, 1, &value, &gradient, (float *[]){&first, &second});
        double decay = l1 ? (double)((exact > 0) - (exact < 0)) : exact;
        double g = 0.5 * (double)gradient + (double)step.decay * decay;
        exact -= change(&step, g, h);
        CHECK_NEAR(value, exact, 1e-4 * fmax(1, fabs(exact)));
        CHECK_NEAR(first, h[0], 1e-5 * fmax(1, fabs(h[0])));
        CHECK_NEAR(second, h[1], 1e-5 * fmax(1, fabs(h[1])));
    }
}

static void every_rule_follows_its_formula(void)
{
    for (size_t i = 0; i < RULES; i++) {
        const struct psd_rule *rule = psd_rules_find(formulas[i].name);
        CHECK(rule && rule->states == formulas[i].states);
        follow(rule, formulas[i].change, false);
        follow(rule, formulas[i].change, true);
    }
    CHECK(!psd_rules[RULES]);
}

/* --- one step ---------------------------------------------------------------------------------- */

static void adam_starts_at_full_speed(void)
{
    struct psd_rule_step step = {
        .rate = 0.25f, .scale = 1, .momentum = 0.9f, .momentum2 = 0.999f, .delta = 1e-8f};
    float value[] = {1, 1}, gradient[] = {3, -0.01f}, m[2] = {0}, v[2] = {0};

    psd_rule_adam.apply(&step, 2, value, gradient, (float *[]){m, v});
    CHECK_NEAR(value[0], 0.75, 1e-6);
    CHECK_NEAR(value[1], 1.25, 1e-4);
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
    static float whole[N], pieces[N], gradient[N], state[2][2][N];
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
            float *all[] = {state[0][0], state[0][1]};
            psd_rules[r]->apply(&step, N, whole, gradient, all);
            for (size_t at = 0, n = 1; at < N; at += n, n = n * 3 % 97 + 1) {
                n = at + n > N ? N - at : n;
                float *part[] = {state[1][0] + at, state[1][1] + at};
                psd_rules[r]->apply(&step, n, pieces + at, gradient + at, part);
            }
        }
        CHECK(same_bits(whole, pieces, sizeof whole));
        CHECK(same_bits(state[0], state[1], sizeof state[0]));
    }
}

/* The same values and states, and behind them what took the values there. */
static void a_rule_that_keeps_differs_in_what_it_keeps_alone(void)
{
    static float plain[N], values[N], before[N], gradient[N], state[2][3][N];
    struct psd_rule_step step = {.rate = 0.1f,
                                 .decay = 0.01f,
                                 .scale = 0.5f,
                                 .momentum = 0.9f,
                                 .momentum2 = 0.99f,
                                 .delta = 1e-3f,
                                 .rms_decay = 0.9f};

    for (size_t r = 0; psd_rules[r]; r++) {
        const struct psd_rule *rule = psd_rules[r], *keeping = rule->keeping;
        CHECK(keeping->states == rule->states + 1 && !keeping->keeping);
        CHECK(psd_rules_find(keeping->name) == keeping);
        fill(plain, 0.01f);
        fill(values, 0.01f);
        fill(gradient, 0.003f);
        memset(state, 0, sizeof state);
        for (step.iteration = 0; step.iteration < 3; step.iteration++) {
            memcpy(before, values, sizeof before);
            rule->apply(&step, N, plain, gradient, (float *[]){state[0][0], state[0][1]});
            keeping->apply(&step, N, values, gradient,
                           (float *[]){state[1][0], state[1][1], state[1][2]});
        }
        float *kept = state[1][rule->states];
        CHECK(same_bits(plain, values, sizeof plain));
        CHECK(same_bits(state[0], state[1], rule->states * sizeof plain));
        for (size_t i = 0; i < N; i++)
            CHECK_NEAR(before[i] - kept[i], values[i], 0);
    }
}

static void rules_are_found_by_name(void)
{
    CHECK(psd_rules_find("SGD") == &psd_rule_sgd);
    CHECK(psd_rules_find("AdaDelta") == &psd_rule_adadelta);
    CHECK(!psd_rules_find("sgd"));
    CHECK(!psd_rules_find("Ada"));
}

int main(int argc, char **argv)
{
    RUN(every_rule_follows_its_formula)
    RUN(adam_starts_at_full_speed)
    RUN(l1_decays_by_sign)
    RUN(every_rule_gives_the_same_bits_in_any_pieces)
    RUN(a_rule_that_keeps_differs_in_what_it_keeps_alone)
    RUN(rules_are_found_by_name)
}
