/* registry.c - a list: a process has a handful of endpoints, and looks one up at connect only. */
#include "net/inproc/registry.h"
#include "base/status.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;                     /* guards the list */
static struct psd_list endpoints = {.next = &endpoints, .prev = &endpoints}; /* borrowed */

void psd_inproc_registry_lock(void)
{
    pthread_mutex_lock(&lock);
}

void psd_inproc_registry_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct psd_endpoint *psd_inproc_find(const char *address)
{
    PSD_LIST_EACH (link, &endpoints) {
        struct psd_endpoint *endpoint = PSD_CONTAINER_OF(link, struct psd_endpoint, registered);
        if (strcmp(endpoint->address, address) == 0)
            return endpoint;
    }
    return NULL;
}

psd_status psd_inproc_register(struct psd_endpoint *endpoint)
{
    pthread_mutex_lock(&lock);
    bool is_taken = psd_inproc_find(endpoint->address) != NULL;
    if (!is_taken)
        psd_list_push_back(&endpoints, &endpoint->registered);
    pthread_mutex_unlock(&lock);
    return is_taken ? psd_fail(PSD_ECONFIG, "inproc://%s is taken", endpoint->address) : PSD_OK;
}

void psd_inproc_unregister(struct psd_endpoint *endpoint)
{
    pthread_mutex_lock(&lock);
    psd_list_remove(&endpoint->registered);
    pthread_mutex_unlock(&lock);
}
