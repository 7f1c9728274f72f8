/* share.h - samples, or workers, dealt out evenly: where shares cannot be equal the first have one more.
 *
 *     10 for 4      0 1 2 | 3 4 5 | 6 7 | 8 9
 */
#ifndef PSD_ENGINE_SHARE_H
#define PSD_ENGINE_SHARE_H

#include <stddef.h>

/* How many of `all` number `which` of `of` gets, and how many those before it get. */
size_t psd_share_size(size_t all, unsigned of, unsigned which);
size_t psd_share_offset(size_t all, unsigned of, unsigned which);

#endif
