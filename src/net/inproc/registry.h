/* registry.h - the names of the process's endpoints, as a kernel has its ports.
 *
 * The only thing in the room that hangs off no handle: whoever knows a name reaches the endpoint
 * behind it from any thread. It holds no state of any job. A name is in it from open to close, and
 * while it is there its loop runs; so what is found may be used while the registry is locked. */
#ifndef PSD_NET_INPROC_REGISTRY_H
#define PSD_NET_INPROC_REGISTRY_H

#include "base/list.h"
#include "net/transport.h"

struct psd_secret;

struct psd_endpoint {
    struct psd_list registered;            /* guarded by the registry's lock */
    struct psd_loop *loop;                 /* borrowed */
    const struct psd_net_handler *handler; /* borrowed */
    void *user;                            /* borrowed */
    struct psd_list ends;                  /* of connections that are ours; loop thread only */
    size_t put_off;                        /* of them, waiting for an arrival; loop thread only */
    struct psd_secret *key;                /* owned; constant */
    char address[];
};

/* PSD_ECONFIG: the name is taken. */
psd_status psd_inproc_register(struct psd_endpoint *endpoint);
void psd_inproc_unregister(struct psd_endpoint *endpoint);

void psd_inproc_registry_lock(void);
void psd_inproc_registry_unlock(void);

/* With the lock held: the endpoint of that name, borrowed until it is given back; NULL: none. */
struct psd_endpoint *psd_inproc_find(const char *address);

#endif
