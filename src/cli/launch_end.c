/* launch_end.c - of many ends one is the cause, and the others follow. */
#include "base/clock.h"
#include "cli/launch_state.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const uint64_t patience_ns = 2 * PSD_CLOCK_S; /* from SIGTERM to SIGKILL */
static const uint64_t lost_ns = PSD_CLOCK_S;         /* to SIGCONT, once a member misses another */

static void tell(const struct psd_launch *launch, const char *sentence)
{
    if (launch->options->tell)
        launch->options->tell(launch->options->arg, sentence);
}

static void act_after(struct psd_launch *launch, uint64_t delay_ns)
{
    launch->act_at = psd_clock_now() + delay_ns;
}

static void keep(struct psd_launch *launch, unsigned rank, psd_status status, const char *sentence)
{
    launch->end->rank = rank;
    launch->end->status = status;
    launch->end->is_own = false;
    snprintf(launch->end->sentence, sizeof launch->end->sentence, "%s", sentence);
}

/* --- others end --------------------------------------------------------------------------------- */

void psd_launch_wake(struct psd_launch *launch)
{
    launch->wake_at = PSD_CLOCK_NEVER;
    if (launch->is_ending)
        return;
    tell(launch, "other members have not ended by themselves: any that is stopped goes on now");
    psd_keeper_order(&launch->keeper, SIGCONT);
}

void psd_launch_press(struct psd_launch *launch)
{
    if (launch->is_ending) {
        launch->act_at = PSD_CLOCK_NEVER;
        psd_keeper_order(&launch->keeper, SIGKILL);
        return;
    }
    launch->is_ending = true;
    act_after(launch, patience_ns);
    if (launch->cause.weight && launch->n_ended < launch->options->count)
        tell(launch, "other members have not ended by themselves: they are ended now");
    psd_keeper_order(&launch->keeper, SIGTERM);
    psd_keeper_order(&launch->keeper, SIGCONT); /* who is stopped hears nothing */
}

void psd_launch_give_up(struct psd_launch *launch, psd_status status)
{
    launch->status = status;
    keep(launch, 0, status, psd_error());
    if (!launch->is_ending)
        psd_launch_press(launch);
}

/* --- one has ended ------------------------------------------------------------------------------ */

static bool has_lost(const struct psd_launch *launch, unsigned rank)
{
    return launch->wills[rank].status == PSD_EPEER;
}

/* How it has ended is told of one that was killed, unless by what we passed on, and of the first that has
 * failed without words, unless it is alone or was asked to end. */
static bool is_strange(const struct psd_launch *launch, int state, bool is_cause, bool has_words)
{
    if (WIFSIGNALED(state)) /* a reader that went away needs no words */
        return !sigismember(&launch->sent, WTERMSIG(state)) && WTERMSIG(state) != SIGPIPE;
    return is_cause && !has_words && launch->options->count > 1 && !launch->is_asked;
}

/* And the words of one member are told: others have the same to say. Those of a loss wait for the end, as it
 * may turn out to be none. */
static void tell_end(struct psd_launch *launch, unsigned rank, int state, bool is_cause)
{
    const struct psd_launch_will *will = &launch->wills[rank];
    bool has_words = will->status != PSD_OK;
    char sentence[200];

    psd_cause_say(rank, state, sentence, sizeof sentence);
    if (is_cause) {
        keep(launch, rank, has_words ? will->status : PSD_EPEER,
             has_words ? will->sentence : sentence);
        launch->end->is_own = has_words;
    }
    if (launch->is_asked && has_lost(launch, rank))
        return;
    if (is_strange(launch, state, is_cause, has_words))
        tell(launch, sentence);
    else if (has_words && !launch->has_told)
        tell(launch, will->sentence);
    launch->has_told = launch->has_told || has_words;
}

/* One that misses another has waited for it long enough. Who can hear has heard of it, too, and needs its
 * time only to write what it has; who is stopped has to go on to hear of it. */
static bool is_missing_another(const struct psd_launch *launch, unsigned rank)
{
    return has_lost(launch, rank) || launch->wills[rank].status == PSD_ETIMEOUT;
}

static void let_others_end(struct psd_launch *launch, unsigned rank)
{
    bool is_missing = is_missing_another(launch, rank);

    if (is_missing)
        launch->wake_at = psd_clock_now() + lost_ns;
    if (!launch->is_asked)
        act_after(launch, launch->options->grace_ns);
    else if (is_missing) /* it may be about to end as it was asked to */
        act_after(launch, lost_ns + launch->options->grace_ns);
}

/* Who has lost one that ended as it was asked to has only not heard of that yet; nobody is hurried then. */
static void note_end(struct psd_launch *launch, const struct psd_keeper_news *news)
{
    bool is_first = launch->cause.weight == PSD_CAUSE_NONE;

    if (launch->relay)
        psd_relay_hear(launch->relay, news->rank); /* its last words come before ours */
    launch->n_ended++;
    if (launch->is_ending || news->state == 0)
        return;
    bool is_cause = psd_cause_hear(&launch->cause, news->rank, news->state, launch->is_asked,
                                   has_lost(launch, news->rank));
    tell_end(launch, news->rank, news->state, is_cause);
    if (is_first)
        let_others_end(launch, news->rank);
    else if (is_cause && launch->cause.weight == PSD_CAUSE_ASKED)
        launch->act_at = launch->wake_at = PSD_CLOCK_NEVER;
}

static void note_failed_start(struct psd_launch *launch, const struct psd_keeper_news *news)
{
    psd_launch_give_up(launch, psd_fail(PSD_ENOMEM, "start rank %u: %s", news->rank,
                                        strerrordesc_np(news->error)));
}

/* A keeper that is killed leaves to us what members have left to it. */
static void note_gone(struct psd_launch *launch)
{
    int state = psd_keeper_finish(&launch->keeper);

    launch->is_gone = true;
    launch->act_at = launch->wake_at = PSD_CLOCK_NEVER;
    if (launch->cause.weight == PSD_CAUSE_LOSS)
        tell(launch, launch->end->sentence);
    if (state == 0)
        return;
    psd_offspring_end(&launch->others);
    if (launch->is_ending)
        return;
    launch->cause = (struct psd_cause){PSD_CAUSE_KILLED, 0, psd_cause_exit_code(state)};
    keep(launch, 0, PSD_EPEER, "the process that keeps the members was killed, and they with it");
    tell(launch, launch->end->sentence);
}

void psd_launch_hear(struct psd_launch *launch)
{
    enum psd_keeper_hearing hearing;
    struct psd_keeper_news news;

    while ((hearing = psd_keeper_hear(&launch->keeper, &news)) == PSD_KEEPER_NEWS) {
        if (news.error)
            note_failed_start(launch, &news);
        else
            note_end(launch, &news);
    }
    if (hearing == PSD_KEEPER_GONE)
        note_gone(launch);
}
