/* comm_mistake_test.c - one rank makes a mistake, and every rank hears of it in the same words. */
#include "base/clock.h"
#include "base/status.h"
#include "crew.h"

enum {
    PROMISED_S = 5,
    TRIES = 10
}; /* how soon everybody hears, on a machine that is not too busy */
enum { RANKS = 3, CULPRIT = 1, SCALE = 0, FC = 1, BIAS = 2, LARGE = 3, PARAMS = 4, BATCH = 2 };

/* What the culprit does, most of it in iteration 2. */
enum deed {
    NOTHING,
    OTHER_MOMENTUM,
    OTHER_RANKS,
    WRONG_RANK,
    WORKER_OF_ANOTHER,
    OTHER_SHAPE,
    OTHER_NAME,
    OTHER_ROUTE,
    NOT_AVERAGED,
    ONE_MORE_PARAMETER,
    SYNC_TWICE,
    FACTORS_TWICE,
    SYNC_MISSING,
    SYNC_MISSING_AT_CLOSE,
    OTHER_BATCH,
    FACTORED_AS_DENSE,
    DENSE_AS_FACTORED,
    NO_WAIT,
    OTHER_ITERATION,
    OTHER_RATE,
    CLOSE_EARLY,
    CLOSE_BEFORE_START,
    OTHER_COUNT,
    OTHER_LENGTH,
    CLOSE_BEFORE_BARRIER,
};

/* One rank's program, and how it ended. */
struct player {
    const char *name;
    enum deed deed;        /* NOTHING for all but the culprit */
    atomic_bool *is_heard; /* another rank has failed; borrowed */
    atomic_bool *is_told;  /* the culprit has failed; borrowed */
    bool comes_late;       /* when it has been told, and a while after */
    unsigned rank;
    uint64_t timeout_ms;
    struct psd_comm *comm;
    float scale[40], fc[6 * 4], bias[6], large[50000];
    float grads[3][50000];
    float u[BATCH * 6], v[BATCH * 4];
    uint64_t deed_ns;  /* when it began with what is a mistake if it is the culprit, */
    uint64_t heard_ns; /* and when it failed */
    bool is_done;      /* the deed: later calls are not it */
    psd_status status;
    char sentence[1024];
};

/* What follows is a mistake, unless all goes well. */
static void stamp(struct player *player)
{
    if (!player->is_done)
        player->deed_ns = psd_clock_now();
}

static bool is_deed(struct player *player, enum deed deed, uint64_t iteration)
{
    if (player->deed != deed || iteration != 2)
        return false;
    stamp(player);
    player->is_done = true;
    return true;
}

static psd_status take_seat(struct player *player)
{
    static const unsigned hosted[RANKS][1] = {{0}, {1}, {2}}, twice[] = {2};
    struct psd_comm_options options = {.coordinator = player->name,
                                       .rank = player->rank,
                                       .ranks = RANKS,
                                       .hosted = hosted[player->rank],
                                       .n_hosted = 1,
                                       .batch = BATCH,
                                       .update = {.momentum = 0.9f},
                                       .timeout_ms = player->timeout_ms};

    if (player->deed == OTHER_MOMENTUM)
        options.update.momentum = 0.5f;
    if (player->deed == OTHER_RANKS)
        options.ranks = options.workers = RANKS + 1;
    if (player->deed == WRONG_RANK) {
        options.ranks = options.workers = RANKS + 4;
        options.rank = RANKS + 3;
        options.timeout_ms = 500; /* and once more, until it was heard of */
    }
    if (player->deed == WORKER_OF_ANOTHER)
        options.hosted = twice;
    options = crew_grounded(options);
    psd_status status = psd_comm_open(&options, &player->comm);
    while (player->deed == WRONG_RANK && status == PSD_ETIMEOUT && !atomic_load(player->is_heard))
        status = psd_comm_open(&options, &player->comm);
    return status;
}

static psd_status add_params(struct player *player)
{
    enum deed deed = player->deed;
    struct psd_comm_param params[PARAMS + 1] = {
        {.name = deed == OTHER_NAME ? "shift" : "scale", .rows = 1, .cols = 40},
        {.name = "fc", .rows = 6, .cols = 4, .factors = true, .form = PSD_FORM_FACTORED},
        {.name = "fc.bias", .rows = 1, .cols = 6, .bias_of = 1 + FC},
        {.name = "large", .rows = 1, .cols = 50000},
        {.name = "more", .rows = 1, .cols = 40}};
    float *values[] = {player->scale, player->fc, player->bias, player->large, player->scale};
    int id = -1;

    params[SCALE].averaged = deed != NOT_AVERAGED;
    if (deed == OTHER_SHAPE)
        params[FC].cols = 3;
    if (deed == OTHER_ROUTE)
        params[FC].route = PSD_ROUTE_ROW_SHARDED;
    for (int i = 0; i < PARAMS + (deed == ONE_MORE_PARAMETER); i++) {
        params[i].value = values[i];
        PSD_TRY(psd_comm_add(player->comm, &params[i], &id));
    }
    return PSD_OK;
}

static psd_status sync_large(struct player *player, uint64_t iteration)
{
    if (is_deed(player, SYNC_MISSING, iteration) ||
        is_deed(player, SYNC_MISSING_AT_CLOSE, iteration))
        return PSD_OK;
    if (is_deed(player, DENSE_AS_FACTORED, iteration))
        return psd_comm_sync_factors(player->comm, LARGE, player->rank, player->grads[0],
                                     player->grads[1], BATCH);
    PSD_TRY(psd_comm_sync(player->comm, LARGE, player->rank, player->grads[2]));
    if (is_deed(player, SYNC_TWICE, iteration))
        return psd_comm_sync(player->comm, LARGE, player->rank, player->grads[2]);
    return PSD_OK;
}

static psd_status sync_fc(struct player *player, uint64_t iteration)
{
    size_t batch = is_deed(player, OTHER_BATCH, iteration) ? BATCH - 1 : BATCH;

    if (is_deed(player, FACTORED_AS_DENSE, iteration))
        return psd_comm_sync(player->comm, FC, player->rank, player->grads[1]);
    PSD_TRY(psd_comm_sync_factors(player->comm, FC, player->rank, player->u, player->v, batch));
    if (is_deed(player, FACTORS_TWICE, iteration))
        return psd_comm_sync_factors(player->comm, FC, player->rank, player->u, player->v, batch);
    return PSD_OK;
}

static psd_status collect(struct player *player)
{
    float numbers[8] = {1};

    if (player->deed == CLOSE_BEFORE_BARRIER)
        return PSD_OK;
    PSD_TRY(psd_comm_barrier(player->comm));
    PSD_TRY(psd_comm_broadcast(player->comm, numbers, player->deed == OTHER_LENGTH ? 9 : 8));
    return psd_comm_reduce(player->comm, numbers, player->deed == OTHER_COUNT ? 3 : 4);
}

static psd_status iterate(struct player *player, uint64_t iteration)
{
    uint64_t number = iteration + 5 + (player->deed == OTHER_ITERATION);

    if (iteration == 0)
        stamp(player);
    PSD_TRY(
        psd_comm_begin(player->comm, number, is_deed(player, OTHER_RATE, iteration) ? 0.2f : 0.1f));
    PSD_TRY(sync_large(player, iteration));
    PSD_TRY(sync_fc(player, iteration));
    PSD_TRY(psd_comm_sync(player->comm, SCALE, player->rank, player->grads[0]));
    if (is_deed(player, SYNC_MISSING_AT_CLOSE, iteration))
        return PSD_OK;
    for (int i = 0; i < PARAMS; i++) {
        if ((i != LARGE || !is_deed(player, SYNC_MISSING, iteration)) &&
            (i != FC || !is_deed(player, NO_WAIT, iteration)))
            PSD_TRY(psd_comm_wait(player->comm, i));
    }
    return PSD_OK;
}

/* Until the culprit knows of its mistake, and rank 0 has long seen it. */
static void be_late(const struct player *player)
{
    while (!atomic_load(player->is_told))
        psd_clock_sleep_until(psd_clock_now() + PSD_CLOCK_MS);
    psd_clock_sleep_until(psd_clock_now() + 3 * PSD_CLOCK_S / 2);
}

static psd_status play(struct player *player)
{
    if (player->comes_late)
        be_late(player);
    stamp(player);
    PSD_TRY(take_seat(player));
    stamp(player);
    if (player->deed == CLOSE_BEFORE_START)
        return PSD_OK;
    PSD_TRY(add_params(player));
    PSD_TRY(psd_comm_start(player->comm));
    for (uint64_t iteration = 0; iteration < 6; iteration++) {
        PSD_TRY(iterate(player, iteration));
        if (is_deed(player, CLOSE_EARLY, iteration) ||
            is_deed(player, SYNC_MISSING_AT_CLOSE, iteration))
            return PSD_OK;
    }
    stamp(player);
    return collect(player);
}

/* --- everybody -------------------------------------------------------------------------------- */

struct scene {
    enum deed deed;
    char name[32];
    atomic_bool is_heard, is_told;
    bool last_is_late;
    uint64_t timeout_ms;
    struct player players[RANKS];
};

static void play_one(void *arg, unsigned rank)
{
    struct scene *scene = arg;
    struct player *player = &scene->players[rank];

    player->name = scene->name;
    player->rank = rank;
    player->timeout_ms = scene->timeout_ms;
    player->is_heard = &scene->is_heard;
    player->is_told = &scene->is_told;
    player->comes_late = scene->last_is_late && rank == RANKS - 1;
    player->deed = rank == CULPRIT ? scene->deed : NOTHING;
    player->status = play(player);
    player->heard_ns = psd_clock_now();
    if (player->status != PSD_OK)
        snprintf(player->sentence, sizeof player->sentence, "%s", psd_error());
    if (player->status != PSD_OK)
        atomic_store(rank == CULPRIT ? &scene->is_told : &scene->is_heard, true);
    psd_comm_close(player->comm);
}

/* All play; the caller frees the scene. */
static struct scene *stage(enum deed deed, bool last_is_late, uint64_t timeout_ms)
{
    struct scene *scene = calloc(1, sizeof *scene);

    CHECK(scene);
    scene->deed = deed;
    scene->last_is_late = last_is_late;
    scene->timeout_ms = timeout_ms;
    crew_name(scene->name);
    crew_each(RANKS, play_one, scene);
    return scene;
}

/* And nobody waits until a time is over, which is much longer. */
static struct scene *perform_with(enum deed deed, bool last_is_late)
{
    uint64_t begin_ns = psd_clock_now();
    struct scene *scene = stage(deed, last_is_late, (uint64_t)10 * CREW_PATIENCE_MS);

    CHECK(psd_clock_now() - begin_ns < CREW_PATIENCE_MS * PSD_CLOCK_MS);
    return scene;
}

/* Whether everybody has heard of the culprit's deed as soon as is promised. */
static bool is_in_time(const struct scene *scene)
{
    uint64_t latest_ns = 0;

    for (unsigned rank = 0; rank < RANKS; rank++) {
        const struct player *player = &scene->players[rank];
        if (player->status != PSD_OK && player->heard_ns > latest_ns)
            latest_ns = player->heard_ns;
    }
    return latest_ns < scene->players[CULPRIT].deed_ns + PROMISED_S * PSD_CLOCK_S;
}

/* A machine may be too busy for that now and then, but not each time. */
static struct scene *perform(enum deed deed)
{
    struct scene *scene = perform_with(deed, false);

    for (unsigned i = 1; !TEST_IS_SANITIZED && !is_in_time(scene); i++) {
        CHECK(i < TRIES);
        free(scene);
        scene = perform_with(deed, false);
    }
    return scene;
}

static void without_a_mistake_all_goes_well(void)
{
    struct scene *scene = perform(NOTHING);

    for (unsigned i = 0; i < RANKS; i++)
        CHECK_STATUS(PSD_OK, scene->players[i].status);
    free(scene);
}

static void every_rank_hears_of_a_mistake_in_the_same_words(void)
{
    static const struct {
        const char *words;
        enum deed deed;
        psd_status own; /* what the culprit's call answers */
    } cases[] = {
        {"rank 1 joins with momentum 0.5, rank 0 has 0.9", OTHER_MOMENTUM, PSD_EPEER},
        {"rank 1 joins with ranks 4, rank 0 has 3", OTHER_RANKS, PSD_EPEER},
        {"worker 2 is hosted by rank 1 and by rank 2", WORKER_OF_ANOTHER, PSD_EPEER},
        {"rank 1 has fc as 6 x 3, rank 0 as 6 x 4", OTHER_SHAPE, PSD_EPEER},
        {"rank 1 has shift as parameter 0, rank 0 has scale", OTHER_NAME, PSD_EPEER},
        {"rank 1 asks for another form or route of fc than rank 0", OTHER_ROUTE, PSD_EPEER},
        {"rank 1 and rank 0 say differently whether scale is averaged", NOT_AVERAGED, PSD_EPEER},
        {"rank 1 has 5 parameters, rank 0 has 4", ONE_MORE_PARAMETER, PSD_EPEER},
        {"rank 1: worker 1 syncs large twice in iteration 7; every worker syncs a parameter once",
         SYNC_TWICE, PSD_EINVAL},
        {"rank 1: worker 1 syncs fc twice in iteration 7; every worker syncs a parameter once",
         FACTORS_TWICE, PSD_EINVAL},
        {"rank 1 has not synced large in iteration 7; every worker syncs every parameter once",
         SYNC_MISSING, PSD_EINVAL},
        {"rank 1: worker 1 syncs fc with 1 samples; 2 were agreed", OTHER_BATCH, PSD_EINVAL},
        {"rank 1: worker 1 syncs a gradient of fc, which is factored; sync its factors, as the "
         "others do",
         FACTORED_AS_DENSE, PSD_EINVAL},
        {"rank 1: worker 1 syncs factors of large, which is dense; sync its gradient, as the "
         "others do",
         DENSE_AS_FACTORED, PSD_EINVAL},
        {"rank 1 broadcasts 9 bytes where rank 0 broadcasts 8: all ranks make the same calls in "
         "the same order",
         OTHER_LENGTH, PSD_EPEER},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].words);
        struct scene *scene = perform(cases[i].deed);
        for (unsigned rank = 0; rank < RANKS; rank++) {
            CHECK_TEXT(cases[i].words, scene->players[rank].sentence);
            CHECK(scene->players[rank].status == (rank == CULPRIT ? cases[i].own : PSD_EPEER));
        }
        free(scene);
    }
}

/* A mistake whose words depend on who sees it first: all have the same, and these are in it. */
static void check_words(enum deed deed, bool culprit_too, const char *first, const char *second)
{
    struct scene *scene = perform(deed);
    const char *sentence = scene->players[0].sentence;

    fprintf(stderr, "    %s\n", sentence);
    CHECK(strstr(sentence, first) && strstr(sentence, second));
    CHECK(scene->players[0].status == PSD_EPEER && scene->players[2].status == PSD_EPEER);
    CHECK(culprit_too == (scene->players[CULPRIT].status != PSD_OK));
    free(scene);
}

static void a_seat_that_closes_early_is_named(void)
{
    check_words(SYNC_MISSING_AT_CLOSE, false,
                "rank 1 closes its seat before it has synced large in iteration 7", "");
    check_words(CLOSE_EARLY, false, "rank 1 has closed its seat, and rank ", " of iteration 8");
    check_words(CLOSE_BEFORE_START, false, "rank 1 is lost", "closed");
    check_words(CLOSE_BEFORE_BARRIER, false, "rank 1 has closed its seat, and rank ",
                " waits in a reduce, barrier or broadcast");
}

static void another_iteration_is_named(void)
{
    check_words(OTHER_ITERATION, true, " in iteration ", "where others are in ");
}

static void another_rate_is_named(void)
{
    check_words(OTHER_RATE, true, "rank 1 ", "0.200000003");
    check_words(OTHER_RATE, true, " iteration 7 with a rate of 0.", "0.100000001");
}

static void another_count_is_named(void)
{
    check_words(OTHER_COUNT, true, "reduces 3", "all ranks make the same calls");
}

static void a_value_that_is_not_waited_for_is_named(void)
{
    struct scene *scene = perform(NO_WAIT);

    /* It may have come all the same, and then all is well. */
    for (unsigned rank = 0; rank < RANKS; rank++)
        CHECK(scene->players[rank].status == PSD_OK || strstr(scene->players[rank].sentence, "fc"));
    free(scene);
}

/* Rank 0 waits a while for the one in whose place it came, and not until a slow rank 2 has heard. */
static bool knock(uint64_t timeout_ms)
{
    struct scene *scene = stage(WRONG_RANK, false, timeout_ms);
    psd_status culprit = scene->players[CULPRIT].status;
    bool heard = true;

    CHECK(culprit == PSD_ETIMEOUT || culprit == PSD_EPEER);
    for (unsigned rank = 0; rank < RANKS; rank += 2) {
        heard &= scene->players[rank].status == PSD_EPEER;
        CHECK(!heard || strstr(scene->players[rank].sentence, "a process wants to be rank 6 at "));
    }
    free(scene);
    return heard;
}

static void a_rank_that_nobody_expects_is_named(void)
{
    crew_be_patient(10000, knock);
}

/* Rank 0 stays until everybody knows why there is no job. */
static void a_rank_that_comes_late_hears_of_it_too(void)
{
    struct scene *scene = perform_with(OTHER_MOMENTUM, true);

    for (unsigned rank = 0; rank < RANKS; rank++) {
        CHECK_TEXT("rank 1 joins with momentum 0.5, rank 0 has 0.9", scene->players[rank].sentence);
        CHECK(scene->players[rank].status == PSD_EPEER);
    }
    free(scene);
}

/* --- over sockets ----------------------------------------------------------------------------- */

static void a_mean_is_not_synced_in_the_memory_of_its_value(void)
{
    float value[4] = {1, 2, 3, 4}, copy[4] = {5, 6, 7, 8};
    struct psd_comm_param param = {
        .name = "mean", .rows = 1, .cols = 4, .value = value, .averaged = true};
    struct psd_comm *comm = NULL;
    char name[32];
    int id = -1;

    CHECK_OK(psd_comm_open(&(struct psd_comm_options){.coordinator = crew_name(name)}, &comm));
    CHECK_OK(psd_comm_add(comm, &param, &id));
    CHECK_OK(psd_comm_start(comm));
    CHECK_OK(psd_comm_begin(comm, 0, 1));
    CHECK_STATUS(PSD_EINVAL, psd_comm_sync(comm, id, 0, value));
    CHECK_TEXT("mean is synced in the memory of its value; let each worker have a copy",
               psd_error());
    CHECK_OK(psd_comm_sync(comm, id, 0, copy));
    CHECK_OK(psd_comm_wait(comm, id));
    CHECK(value[0] == 5 && value[3] == 8);
    psd_comm_close(comm);
}

static void all_that_is_heard_over_sockets_too(void)
{
    crew_ground = CREW_TLS;
    without_a_mistake_all_goes_well();
    every_rank_hears_of_a_mistake_in_the_same_words();
    another_iteration_is_named();
    another_rate_is_named();
    another_count_is_named();
    a_rank_that_nobody_expects_is_named();
    a_rank_that_comes_late_hears_of_it_too();
}

static void who_closes_early_is_named_on_any_ground(void)
{
    for (crew_ground = CREW_TLS; crew_ground <= CREW_LANES; crew_ground++)
        a_seat_that_closes_early_is_named();
}

int main(int argc, char **argv)
{
    RUN(without_a_mistake_all_goes_well)
    RUN(every_rank_hears_of_a_mistake_in_the_same_words)
    RUN(a_seat_that_closes_early_is_named)
    RUN(another_iteration_is_named)
    RUN(another_rate_is_named)
    RUN(another_count_is_named)
    RUN(a_value_that_is_not_waited_for_is_named)
    RUN(a_rank_that_nobody_expects_is_named)
    RUN(a_rank_that_comes_late_hears_of_it_too)
    RUN(a_mean_is_not_synced_in_the_memory_of_its_value)
    RUN(all_that_is_heard_over_sockets_too)
    RUN(who_closes_early_is_named_on_any_ground)
}
