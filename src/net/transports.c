/* transports.c - the one list of the ways in which frames travel. */
#include "base/status.h"
#include "base/suggest.h"
#include "net/transport.h"

#include <stdio.h>
#include <string.h>

static const struct psd_transport *const transports[] = {
    /* in order of preference */
    &psd_transport_inproc,
    &psd_transport_tcp,
    &psd_transport_sim,
};

enum { TRANSPORTS = sizeof transports / sizeof *transports };

/* The sentence for an address that begins with no scheme of ours; `length` is that of the scheme, 0
 * when there is none. */
static void say_what_there_is(const char *address, size_t length)
{
    char known[256] = "";
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, address, length);
    for (size_t i = 0; i < TRANSPORTS; i++) {
        size_t used = strlen(known);
        psd_suggest_offer(&suggest, transports[i]->scheme);
        snprintf(known + used, sizeof known - used, "%s%s://", i ? ", " : "",
                 transports[i]->scheme);
    }
    if (length == 0)
        psd_fail(PSD_ECONFIG, "\"%s\" does not say how to get there: begin with one of %s", address,
                 known);
    else
        psd_fail(PSD_ECONFIG, "%s: this build has no transport \"%.*s\"; it has %s%s", address,
                 (int)length, address, known, psd_suggest_phrase(&suggest));
}

const struct psd_transport *psd_transport_find(const char *address, const char **rest)
{
    const char *end = strstr(address, "://");
    size_t length = end ? (size_t)(end - address) : 0;

    for (size_t i = 0; i < TRANSPORTS; i++) {
        const char *scheme = transports[i]->scheme;
        if (strlen(scheme) == length && memcmp(scheme, address, length) == 0) {
            *rest = end + strlen("://");
            return transports[i];
        }
    }
    say_what_there_is(address, length);
    return NULL;
}

void psd_conn_set_tag(struct psd_conn *conn, void *tag)
{
    conn->tag = tag;
}

void *psd_conn_tag(const struct psd_conn *conn)
{
    return conn->tag;
}
