/* backends.c - the backends that are compiled in; the only place that asks which. */
#include "ops/backend.h"

#include <pthread.h>

const struct psd_backend *const psd_backends[] = {
/* in order of preference */
#if defined(__x86_64__)
    &psd_backend_simd,
#endif
    &psd_backend_onednn,
    &psd_backend_plain, /* does everything, so nobody is asked after it */
    NULL,
};

enum { BACKENDS = sizeof psd_backends / sizeof *psd_backends };

static const char *names[BACKENDS];

static void fill_names(void)
{
    for (size_t i = 0; psd_backends[i]; i++)
        names[i] = psd_backends[i]->name;
}

const char *const *psd_ops_backends(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_names);
    return names;
}
