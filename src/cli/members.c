/* members.c - fork, run, and look now and then whether somebody has ended. */
#include "cli/members.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between two looks; others get so long to end by themselves after a failure. */
static const uint64_t look_ns = 10 * PSD_CLOCK_MS, grace_ns = 500 * PSD_CLOCK_MS;

/* What a member that fails leaves behind. */
struct will {
    atomic_bool written; /* by the first */
    unsigned rank;
    psd_status status;
    char sentence[2000];
};

struct crew {
    const struct psd_members_options *options; /* borrowed */
    struct will *will;                         /* owned; seen by all */
    pid_t ids[PSD_MEMBERS_MOST];               /* 0: it has ended */
    unsigned running;
    uint64_t kill_at; /* there is a failure; PSD_CLOCK_NEVER: none yet */
    psd_status status;
    char sentence[2100];
};

void *psd_members_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory != MAP_FAILED)
        return memory;
    psd_fail(PSD_ENOMEM, "out of memory: %zu bytes to share are not to be had", bytes);
    return NULL;
}

void psd_members_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

/* In the member, until it ends. */
__attribute__((noreturn)) static void live(struct crew *crew, unsigned rank, pid_t parent)
{
    const struct psd_members_options *options = crew->options;
    psd_status status = PSD_OK;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (options->enter)
        status = options->enter(options->place, rank);
    if (status == PSD_OK)
        status = options->run(options->arg, rank);
    if (status != PSD_OK && !atomic_exchange(&crew->will->written, true)) {
        crew->will->rank = rank;
        crew->will->status = status;
        snprintf(crew->will->sentence, sizeof crew->will->sentence, "%s", psd_error());
    }
    _exit(status == PSD_OK ? 0 : 1); /* buffered output is not ours */
}

static void note(struct crew *crew, psd_status status, const char *sentence)
{
    if (crew->status != PSD_OK)
        return;
    crew->status = status;
    snprintf(crew->sentence, sizeof crew->sentence, "%s", sentence);
    crew->kill_at = psd_clock_now() + grace_ns;
}

static void start(struct crew *crew, unsigned rank)
{
    char sentence[200];
    pid_t parent = getpid(), id = fork();

    if (id == 0)
        live(crew, rank, parent);
    if (id < 0) {
        snprintf(sentence, sizeof sentence, "start member %u: %s", rank, strerrordesc_np(errno));
        note(crew, PSD_ENOMEM, sentence);
        return;
    }
    crew->ids[rank] = id;
    crew->running++;
}

/* A member that is killed is the cause of what others complain of, unless it was us. */
static void say_how(struct crew *crew, unsigned rank, int state)
{
    const struct will *will = crew->will;
    char sentence[2100];

    if (WIFSIGNALED(state) && psd_clock_now() < crew->kill_at) {
        snprintf(sentence, sizeof sentence, "member %u was ended by signal %d", rank,
                 WTERMSIG(state));
        crew->status = PSD_OK;
        note(crew, PSD_EPEER, sentence);
    } else if (atomic_load(&will->written)) {
        snprintf(sentence, sizeof sentence, "member %u: %s", will->rank, will->sentence);
        note(crew, will->status, sentence);
    } else {
        snprintf(sentence, sizeof sentence, "member %u ended before its time", rank);
        note(crew, PSD_EPEER, sentence);
    }
}

static void look(struct crew *crew, unsigned rank)
{
    int state = 0;
    pid_t id = waitpid(crew->ids[rank], &state, WNOHANG);

    if (id == 0 || (id < 0 && errno == EINTR))
        return;
    crew->ids[rank] = 0;
    crew->running--;
    if (id < 0 || state != 0)
        say_how(crew, rank, state);
}

static void kill_all(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->options->count; i++) {
        if (crew->ids[i])
            kill(crew->ids[i], SIGKILL);
    }
}

static void wait_for_all(struct crew *crew)
{
    const struct psd_members_options *options = crew->options;

    while (crew->running > 0) {
        psd_clock_sleep_until(psd_clock_now() + look_ns);
        for (unsigned i = 0; i < options->count; i++) {
            if (crew->ids[i])
                look(crew, i);
        }
        if (options->watch && crew->status == PSD_OK) {
            psd_status status = options->watch(options->arg);
            if (status != PSD_OK)
                note(crew, status, psd_error());
        }
        if (psd_clock_now() >= crew->kill_at)
            kill_all(crew);
    }
}

psd_status psd_members_run(const struct psd_members_options *options)
{
    struct crew crew = {.options = options, .kill_at = PSD_CLOCK_NEVER, .status = PSD_OK};

    crew.will = psd_members_map(sizeof *crew.will);
    if (!crew.will)
        return PSD_ENOMEM;
    fflush(NULL); /* what is buffered is written once, by us */
    for (unsigned i = 0; i < options->count && crew.status == PSD_OK; i++)
        start(&crew, i);
    wait_for_all(&crew);
    psd_members_unmap(crew.will, sizeof *crew.will);
    return crew.status == PSD_OK ? PSD_OK : psd_fail(crew.status, "%s", crew.sentence);
}
