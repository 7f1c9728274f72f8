/* tasks.h - things to do, in the order in which they were asked for.
 *
 *     append a, b, c   ->   [ a b c ]   -> run: a(), b(), c()  ->  [ ]   the memory stays
 *
 * The memory stays when the tasks have run, so that a list in use soon allocates no more. It has no
 * lock. */
#ifndef PSD_BASE_TASKS_H
#define PSD_BASE_TASKS_H

#include "poseidon/status.h"

#include <stddef.h>

struct psd_task {
    void (*fn)(void *arg);
    void *arg; /* borrowed until fn has run */
};

/* Zero is an empty list. */
struct psd_tasks {
    struct psd_task *list; /* owned */
    size_t count, room;
};

void psd_tasks_fini(struct psd_tasks *tasks);

/* Room for `count` tasks in all: appending needs no memory until there are more. */
psd_status psd_tasks_reserve(struct psd_tasks *tasks, size_t count);

psd_status psd_tasks_append(struct psd_tasks *tasks, struct psd_task task);

/* Runs all and leaves the list empty; nobody may append meanwhile. */
void psd_tasks_run(struct psd_tasks *tasks);

#endif
