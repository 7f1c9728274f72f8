/* status.h - how a failure is put into words.
 *
 *     seen            passed up          shown
 *     psd_fail(...) -> status -> ... -> psd_error(), by whoever has a user
 *
 * The sentence is made where the failure is seen and waits in a buffer of the thread; what travels
 * is the status alone. */
#ifndef PSD_BASE_STATUS_H
#define PSD_BASE_STATUS_H

#include "poseidon/status.h"

/* Keeps the sentence for psd_error() and returns `status`. The sentence may contain psd_error()'s
 * own text as an argument; what does not fit into 16 KiB is cut and ends in "...". */
__attribute__((format(printf, 2, 3))) psd_status psd_fail(psd_status status, const char *format,
                                                          ...);

/* Passes a failure up; for functions that hold nothing they would have to give back. */
#define PSD_TRY(call)                       \
    do {                                    \
        psd_status psd_try_status = (call); \
        if (psd_try_status != PSD_OK)       \
            return psd_try_status;          \
    } while (0)

#endif
