/* thread.h - starts the library's own threads, so that they disturb nobody.
 *
 *     psd_status status = psd_thread_start("psd-loop", run, loop, &loop->thread);
 *     ...
 *     pthread_join(loop->thread, NULL);
 *
 * A thread started here leaves signals to the application: Ctrl-C reaches a thread that knows what
 * to do with it, and the system calls of ours are not interrupted. Its name is seen in debuggers
 * and in `top -H`. Any thread. */
#ifndef PSD_BASE_THREAD_H
#define PSD_BASE_THREAD_H

#include "poseidon/status.h"

#include <pthread.h>

/* Starts a thread that runs `run(arg)`; the caller joins *out. `name` is borrowed for as long as
 * the thread runs; the system shows its first 15 bytes. PSD_ENOMEM: no more threads to be had. */
psd_status psd_thread_start(const char *name, void (*run)(void *arg), void *arg, pthread_t *out);

/* How many processors we may run on, which may be fewer than the machine has; at least 1. */
unsigned psd_thread_processors(void);

#endif
