/* common.h - memory that a process and those it forks see alike.
 *
 *     board = psd_common_map(sizeof *board);       all zero
 *     fork ...                                     what one writes, all see
 *     psd_common_unmap(board, sizeof *board);
 *
 * Atomic fields, or an order that is kept otherwise, are the users' affair. */
#ifndef PSD_CLI_COMMON_H
#define PSD_CLI_COMMON_H

#include <stddef.h>

/* NULL: there is none; psd_error() says so. */
void *psd_common_map(size_t bytes);

/* NULL is fine. */
void psd_common_unmap(void *memory, size_t bytes);

#endif
