/* comm_state_test.c - a job goes on where another has ended, on any number of seats, with the same bits.
 *
 *     one job     0 1 2
 *     another     0 1, saved; and on other seats: loaded, 2       ends with the same values */
#include "crew.h"

enum { WORKERS = 8, SAVED = 2, END = 3 };

static const char *const rules[] = {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"};
enum { RULES = sizeof rules / sizeof *rules };

/* What a job leaves behind. */
struct snapshot {
    float *values;
    float *states[4];
    unsigned kinds;
};

static struct snapshot *new_snapshot(void)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);

    snapshot->values = calloc(crew_first(CREW_PARAMS), sizeof(float));
    for (size_t i = 0; i < 4; i++)
        snapshot->states[i] = calloc(crew_first(CREW_PARAMS), sizeof(float));
    return snapshot;
}

static void free_snapshot(struct snapshot *snapshot)
{
    free(snapshot->values);
    for (size_t i = 0; i < 4; i++)
        free(snapshot->states[i]);
    free(snapshot);
}

/* Some iterations of a case, on seats of their own. */
struct stage {
    const struct crew_case *c;
    char name[32];
    uint64_t first, end;
    const struct snapshot *from; /* NULL: from the beginning */
    struct snapshot *to;
    const unsigned (*hosted)[4]; /* of each rank; NULL: dealt out evenly */
    const unsigned *n_hosted;
};

static void open_seat(const struct stage *stage, unsigned rank, struct crew_seat *seat)
{
    struct psd_comm_options options = crew_options(stage->c, stage->name, rank);

    if (stage->hosted) {
        options.hosted = stage->hosted[rank];
        options.n_hosted = stage->n_hosted[rank];
    }
    CHECK_OK(psd_comm_open(&options, &seat->comm));
    crew_add_params(seat);
}

/* Everybody gives the same, and only worker 0's process has the values. */
static void load(const struct stage *stage, struct crew_seat *seat)
{
    for (unsigned kind = 0; stage->from && kind < psd_comm_states(seat->comm); kind++) {
        for (size_t i = 0; i < CREW_PARAMS; i++)
            CHECK_OK(psd_comm_load_state(seat->comm, (int)i, kind,
                                         stage->from->states[kind] + crew_first(i)));
    }
}

static void save(const struct stage *stage, struct crew_seat *seat)
{
    bool collects = seat->hosted[0] == 0;

    if (collects) {
        stage->to->kinds = psd_comm_states(seat->comm);
        memcpy(stage->to->values, seat->values, crew_first(CREW_PARAMS) * sizeof(float));
    }
    for (size_t i = 0; i < CREW_PARAMS; i++) {
        for (unsigned kind = 0; kind < psd_comm_states(seat->comm); kind++) {
            float *data = stage->to->states[kind] + crew_first(i);
            CHECK_OK(psd_comm_save_state(seat->comm, (int)i, kind, collects ? data : NULL));
        }
    }
}

static void take_part(void *arg, unsigned rank)
{
    struct stage *stage = arg;
    struct crew_seat seat = {.c = stage->c, .iteration = stage->first};

    crew_seat_init(&seat);
    open_seat(stage, rank, &seat);
    seat.hosted = psd_comm_hosted(seat.comm, &seat.n_hosted);
    if (seat.hosted[0] == 0 && stage->from)
        memcpy(seat.values, stage->from->values, crew_first(CREW_PARAMS) * sizeof(float));
    else if (seat.hosted[0] == 0)
        crew_start_values(seat.values);
    CHECK_OK(psd_comm_start(seat.comm));
    load(stage, &seat);
    while (seat.iteration < stage->end)
        crew_iterate(&seat);
    save(stage, &seat);
    psd_comm_close(seat.comm);
    crew_seat_fini(&seat);
}

static void run(struct stage *stage)
{
    crew_name(stage->name);
    crew_each(crew_ranks(stage->c), take_part, stage);
}

static bool same(const struct snapshot *a, const struct snapshot *b)
{
    bool is_same = a->kinds == b->kinds && crew_same(a->values, b->values);

    for (size_t i = 0; i < a->kinds; i++)
        is_same &= crew_same(a->states[i], b->states[i]);
    return is_same;
}

/* The route of what is factored: each in turn, and the only one there is for one process. */
static enum psd_route route_of(enum crew_forms forms, unsigned ranks, size_t turn)
{
    static const enum psd_route routes[] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED,
                                            PSD_ROUTE_SINGLE_OWNER};

    if (forms == CREW_DENSE)
        return PSD_ROUTE_AUTO;
    return ranks == 1 ? PSD_ROUTE_LOCAL : routes[turn % 3];
}

/* The case on `ranks` up to SAVED, from there on `others`. What is saved half way goes to *saved. */
static float *train_in_two(const struct crew_case *c, unsigned ranks, unsigned others, size_t turn,
                           struct snapshot *saved)
{
    struct crew_case half = *c, rest = *c;
    struct snapshot *end = new_snapshot();
    struct stage first = {.c = &half, .end = SAVED, .to = saved};
    struct stage second = {.c = &rest, .first = SAVED, .end = END, .from = saved, .to = end};

    fprintf(stderr, "    rule %s, forms %d, %u ranks, then %u\n", c->rule, (int)c->forms, ranks,
            others);
    half.ranks = ranks;
    half.route = route_of(c->forms, ranks, turn);
    rest.ranks = others;
    rest.route = route_of(c->forms, others, turn + 1);
    run(&first);
    run(&second);
    float *values = end->values;
    end->values = NULL;
    free_snapshot(end);
    return values;
}

/* The rules [first, end), on 1, 2, 3 and 5 processes and then on another number: the bits of the job that was never
 * interrupted; and the same state half way, wherever it was kept. */
static void check_forms(enum crew_forms forms, size_t first_rule, size_t end_rule)
{
    static const unsigned ranks[] = {1, 2, 3, 5};

    for (size_t r = first_rule; r < end_rule; r++) {
        struct crew_case c = {
            .workers = WORKERS, .iterations = END, .rule = rules[r], .forms = forms};
        c.averaged = r % 2 ? 0x42 : 0;
        float *expected = crew_train_alone(&c);
        struct snapshot *saved[4];
        for (size_t k = 0; k < 4; k++) {
            saved[k] = new_snapshot();
            float *values = train_in_two(&c, ranks[k], ranks[(k + 1 + r % 3) % 4], r + k, saved[k]);
            CHECK(crew_same(expected, values));
            CHECK(same(saved[0], saved[k]));
            free(values);
        }
        for (size_t k = 0; k < 4; k++)
            free_snapshot(saved[k]);
        free(expected);
    }
}

static void dense_jobs_go_on_elsewhere(void)
{
    check_forms(CREW_DENSE, 0, 3);
}

static void dense_jobs_go_on_elsewhere_with_the_other_rules(void)
{
    check_forms(CREW_DENSE, 3, RULES);
}

static void factored_jobs_go_on_elsewhere(void)
{
    check_forms(CREW_FACTORED, 0, 3);
}

static void factored_jobs_go_on_elsewhere_with_the_other_rules(void)
{
    check_forms(CREW_FACTORED, 3, RULES);
}

static void mixed_jobs_go_on_elsewhere(void)
{
    check_forms(CREW_MIXED, 0, 3);
}

static void mixed_jobs_go_on_elsewhere_with_the_other_rules(void)
{
    check_forms(CREW_MIXED, 3, RULES);
}

/* Or the tests above would not show anything. */
static void without_its_state_a_job_goes_on_differently(void)
{
    for (size_t r = 0; r < RULES; r++) {
        struct crew_case c = {.ranks = 2,
                              .workers = WORKERS,
                              .iterations = END,
                              .rule = rules[r],
                              .forms = CREW_MIXED};
        struct snapshot *saved = new_snapshot(), *zeros = new_snapshot(), *end = new_snapshot();
        struct stage first = {.c = &c, .end = SAVED, .to = saved};
        struct stage second = {.c = &c, .first = SAVED, .end = END, .from = zeros, .to = end};
        float *expected = crew_train_alone(&c);
        run(&first);
        memcpy(zeros->values, saved->values, crew_first(CREW_PARAMS) * sizeof(float));
        run(&second);
        CHECK(!crew_same(expected, end->values));
        free(expected);
        free_snapshot(saved);
        free_snapshot(zeros);
        free_snapshot(end);
    }
}

static void the_process_of_worker_0_collects_whatever_its_rank(void)
{
    static const unsigned hosted[3][4] = {{1, 2, 6}, {3, 4, 5, 7}, {0}}, count[3] = {3, 4, 1};
    struct crew_case c = {.ranks = 3,
                          .workers = WORKERS,
                          .rule = "Adam",
                          .forms = CREW_MIXED,
                          .route = PSD_ROUTE_AUTO};
    struct snapshot *usual = new_snapshot(), *other = new_snapshot();
    struct stage first = {.c = &c, .end = SAVED, .to = usual};
    struct stage second = {.c = &c, .end = SAVED, .to = other, .hosted = hosted, .n_hosted = count};

    run(&first);
    run(&second);
    CHECK(same(usual, other));
    free_snapshot(usual);
    free_snapshot(other);
}

/* What is loaded is what is saved, before any iteration has begun; and each kind is its own. */
static void what_is_loaded_can_be_saved_at_once(void)
{
    struct crew_case c = {.ranks = 3, .workers = WORKERS, .rule = "Adam", .forms = CREW_FACTORED};
    struct snapshot *given = new_snapshot(), *back = new_snapshot();
    struct stage stage = {.c = &c, .from = given, .to = back};

    given->kinds = 2;
    crew_start_values(given->values);
    for (size_t i = 0; i < 2; i++)
        psd_random_fill_normal(11, i, 0, crew_first(CREW_PARAMS), given->states[i]);
    for (size_t turn = 0; turn < 3; turn++) {
        c.route = route_of(CREW_FACTORED, 3, turn);
        run(&stage);
        CHECK(same(given, back));
    }
    free_snapshot(given);
    free_snapshot(back);
}

static void states_are_saved_over_sockets(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        what_is_loaded_can_be_saved_at_once();
}

/* --- mistakes --------------------------------------------------------------------------------- */

enum { COUNT = 4 };

struct lone {
    char name[32];
    struct psd_comm *comm;
    float value[COUNT], grad[COUNT], state[COUNT];
};

static void sit_down(struct lone *lone, const char *rule, enum psd_comm_mode mode)
{
    struct psd_comm_param param = {.name = "p", .rows = 1, .cols = COUNT, .value = lone->value};
    int id = -1;

    crew_name(lone->name);
    CHECK_OK(psd_comm_open(&(struct psd_comm_options){.coordinator = lone->name,
                                                      .mode = mode,
                                                      .update = {.rule = rule, .momentum = 1}},
                           &lone->comm));
    CHECK_STATUS(PSD_EINVAL, psd_comm_save_state(lone->comm, 0, 0, lone->state));
    CHECK_STATUS(PSD_EINVAL, psd_comm_load_state(lone->comm, 0, 0, lone->state));
    CHECK_TEXT("the job has not been started: call psd_comm_start first", psd_error());
    CHECK_OK(psd_comm_add(lone->comm, &param, &id));
    CHECK_OK(psd_comm_start(lone->comm));
}

static void a_rule_says_how_many_numbers_it_keeps(void)
{
    static const unsigned kept[RULES] = {1, 1, 1, 1, 2, 2};
    struct lone lone = {.name = ""};

    for (size_t i = 0; i < RULES; i++) {
        sit_down(&lone, rules[i], PSD_COMM_UPDATE);
        CHECK(psd_comm_states(lone.comm) == kept[i]);
        psd_comm_close(lone.comm);
    }
}

static void refuses_to_save(struct lone *lone, int id, unsigned kind, float *data,
                            const char *words)
{
    CHECK_STATUS(PSD_EINVAL, psd_comm_save_state(lone->comm, id, kind, data));
    CHECK_TEXT(words, psd_error());
}

static void a_save_out_of_turn_is_refused_and_changes_nothing(void)
{
    struct lone lone = {.name = ""};

    sit_down(&lone, "Adam", PSD_COMM_UPDATE);
    refuses_to_save(&lone, 1, 0, lone.state, "there is no parameter 1; ids are 0 to 0");
    refuses_to_save(&lone, -1, 0, lone.state, "there is no parameter -1; ids are 0 to 0");
    refuses_to_save(&lone, 0, 2, lone.state, "p has no state 2: the rule Adam keeps 2");
    refuses_to_save(
        &lone, 0, 0, NULL,
        "the state of p is saved to NULL on rank 0, which hosts worker 0 and collects it");
    CHECK_OK(psd_comm_begin(lone.comm, 7, 1));
    refuses_to_save(&lone, 0, 0, lone.state,
                    "state is saved in iteration 7 before p is synced: save it after the last wait "
                    "of an iteration and before the next begin");
    CHECK_OK(psd_comm_sync(lone.comm, 0, 0, lone.grad));
    CHECK_OK(psd_comm_wait(lone.comm, 0));
    CHECK_OK(psd_comm_save_state(lone.comm, 0, 1, lone.state));
    psd_comm_close(lone.comm);
}

static void a_load_out_of_turn_is_refused_and_changes_nothing(void)
{
    struct lone lone = {.name = ""};
    float given[COUNT] = {1, 2, 3, 4};

    sit_down(&lone, "SGD", PSD_COMM_UPDATE);
    CHECK_OK(psd_comm_load_state(lone.comm, 0, 0, given));
    CHECK_STATUS(PSD_EINVAL, psd_comm_load_state(lone.comm, 1, 0, given));
    CHECK_STATUS(PSD_EINVAL, psd_comm_load_state(lone.comm, 0, 1, given));
    CHECK_STATUS(PSD_EINVAL, psd_comm_load_state(lone.comm, 0, 0, NULL));
    CHECK_TEXT("the state of p to load is NULL", psd_error());
    CHECK_OK(psd_comm_begin(lone.comm, 7, 1));
    memset(given, 0, sizeof given);
    CHECK_STATUS(PSD_EINVAL, psd_comm_load_state(lone.comm, 0, 0, given));
    CHECK_TEXT("the state of p is loaded when iteration 7 has begun: load it after the start and "
               "before the first begin",
               psd_error());
    CHECK_OK(psd_comm_sync(lone.comm, 0, 0, lone.grad)); /* which is zero */
    CHECK_OK(psd_comm_wait(lone.comm, 0));
    CHECK_NEAR(lone.value[3], -4, 0);
    psd_comm_close(lone.comm);
}

static void in_sum_mode_there_is_no_state(void)
{
    struct lone lone = {.name = ""};

    sit_down(&lone, "Adam", PSD_COMM_SUM);
    CHECK(psd_comm_states(lone.comm) == 0);
    refuses_to_save(&lone, 0, 0, lone.state,
                    "p has no state here: in sum mode the caller has the rule");
    psd_comm_close(lone.comm);
}

int main(int argc, char **argv)
{
    RUN(dense_jobs_go_on_elsewhere)
    RUN(dense_jobs_go_on_elsewhere_with_the_other_rules)
    RUN(factored_jobs_go_on_elsewhere)
    RUN(factored_jobs_go_on_elsewhere_with_the_other_rules)
    RUN(mixed_jobs_go_on_elsewhere)
    RUN(mixed_jobs_go_on_elsewhere_with_the_other_rules)
    RUN(without_its_state_a_job_goes_on_differently)
    RUN(the_process_of_worker_0_collects_whatever_its_rank)
    RUN(what_is_loaded_can_be_saved_at_once)
    RUN(states_are_saved_over_sockets)
    RUN(a_rule_says_how_many_numbers_it_keeps)
    RUN(a_save_out_of_turn_is_refused_and_changes_nothing)
    RUN(a_load_out_of_turn_is_refused_and_changes_nothing)
    RUN(in_sum_mode_there_is_no_state)
}
