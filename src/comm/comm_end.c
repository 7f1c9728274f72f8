/* comm_end.c - a process ends the job for all, and says why. */
#include "comm/call.h"

#include <stdio.h>

/* What the loop is asked to say. */
struct words {
    struct psd_comm *comm; /* borrowed */
    char sentence[2048];
};

static void run_end(void *arg)
{
    struct words *words = arg;

    psd_seat_end(words->comm, PSD_EPEER, words->sentence);
}

/* Whoever has said it may end the process on the spot, so the others know when this returns, or have
 * had the time to. psd_error() stays as it is: `sentence` may be it. */
void psd_comm_end(struct psd_comm *comm, const char *sentence)
{
    struct words words = {.comm = comm};

    snprintf(words.sentence, sizeof words.sentence, "rank %u: %s", comm->options.rank, sentence);
    psd_call_surely(comm, run_end, &words);
    psd_call_tell(comm);
}
