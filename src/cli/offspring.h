/* offspring.h - the children of this process, and those it adopts from descendants that end.
 *
 *     psd_offspring_adopt(true)          we
 *                                         '- member
 *                                             '- its child, a group and session of its own or not
 *                                                  when the member ends it is ours
 *
 * Killing all children again and again thus ends all descendants, whatever they have done to hide. For
 * processes of one thread. */
#ifndef PSD_CLI_OFFSPRING_H
#define PSD_CLI_OFFSPRING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PSD_OFFSPRING_MOST = 256 };

struct psd_offspring {
    size_t count;
    pid_t ids[PSD_OFFSPRING_MOST];
};

/* Whether orphans among our descendants are to become our children. Returns whether they were. */
bool psd_offspring_adopt(bool adopts);

/* Lists children, ended ones that nobody has waited for too; not all where there are very many. None
 * where there is no /proc. */
void psd_offspring_list(struct psd_offspring *out);

/* Sends a signal to the children that psd_offspring_list finds, without those in `spared` (NULL: none). */
void psd_offspring_signal(int number, const struct psd_offspring *spared);

/* Kills the children without `spared` and their descendants, and waits for them, but not for longer than
 * some seconds: there are processes that no signal ends. */
void psd_offspring_end(const struct psd_offspring *spared);

#endif
