/* invitation.c - a handful of variables, all of them or none. */
#include "cli/invitation.h"
#include "base/alloc.h"
#include "cli/key.h"
#include "net/transport.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables of a invitation, in the order of names[]; then those for frameworks. */
enum {
    COORDINATOR,
    RANK,
    RANKS,
    JOB,
    KEY,
    NEEDED,
    ADDRESS = NEEDED,
    OWN,
    FRAMEWORKS = 3,
    ALL = OWN + FRAMEWORKS
};

static const char *const names[ALL] = {
    "POSEIDON_COORDINATOR", "POSEIDON_RANK", "POSEIDON_RANKS", "POSEIDON_JOB", "POSEIDON_KEY",
    "POSEIDON_ADDRESS",     "RANK",          "LOCAL_RANK",     "WORLD_SIZE",
};

void psd_invitation_destroy(struct psd_invitation *invitation)
{
    if (!invitation)
        return;
    psd_secret_destroy(invitation->key);
    psd_alloc_free(invitation->coordinator);
    psd_alloc_free(invitation->address);
    psd_alloc_free(invitation);
}

/* With a key that becomes the invitation's own. */
static psd_status build(const struct psd_invitation *from, struct psd_secret *key,
                        struct psd_invitation **out)
{
    struct psd_invitation *invitation = psd_alloc_zero(1, sizeof *invitation);

    if (!invitation) {
        psd_secret_destroy(key);
        return PSD_ENOMEM;
    }
    *invitation = *from;
    invitation->key = key;
    invitation->coordinator = psd_alloc_text("%s", from->coordinator);
    invitation->address = from->address ? psd_alloc_text("%s", from->address) : NULL;
    if (!invitation->coordinator || (from->address && !invitation->address)) {
        psd_invitation_destroy(invitation);
        return PSD_ENOMEM;
    }
    *out = invitation;
    return PSD_OK;
}

psd_status psd_invitation_create(const struct psd_invitation *from, int key_fd,
                                 struct psd_invitation **out)
{
    struct psd_secret *key = NULL;

    PSD_TRY(psd_key_read(key_fd, "the launcher", &key));
    return build(from, key, out);
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Which of the variables `text`, "NAME=VALUE", is; ALL: none. */
static int variable(const char *text)
{
    int i = 0;

    for (; i < ALL; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) == 0 && text[length] == '=')
            break;
    }
    return i;
}

/* Finds the values; false: there is none. */
static bool find(char *const *environment, char *values[OWN])
{
    bool found = false;

    for (; *environment; environment++) {
        int i = variable(*environment);
        if (i < OWN) {
            values[i] = *environment + strlen(names[i]) + 1;
            found = true;
        }
    }
    return found;
}

static psd_status check_complete(char *const values[OWN])
{
    for (int i = 0; i < NEEDED; i++) {
        if (!values[i])
            return psd_fail(PSD_ECONFIG,
                            "%s is missing from the environment: a process of a job has it and the "
                            "four others, and one that is alone has none of POSEIDON_COORDINATOR, "
                            "_RANK, _RANKS, _JOB and _KEY",
                            names[i]);
    }
    return PSD_OK;
}

static psd_status read_number(const char *name, const char *text, uint64_t least, uint64_t most,
                              uint64_t *out)
{
    char *end = NULL;

    assert(text); /* the variables are complete */
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && !*end && errno == 0;
    if (!is_number || number < least || number > most)
        return psd_fail(PSD_ECONFIG, "%s is \"%s\": it is a whole number from %llu to %llu", name,
                        text, (unsigned long long)least, (unsigned long long)most);
    *out = number;
    return PSD_OK;
}

static psd_status read_values(char *const values[OWN], struct psd_invitation *invitation)
{
    uint64_t rank = 0, ranks = 0;
    const char *rest = NULL;

    PSD_TRY(check_complete(values));
    if (!psd_transport_find(values[COORDINATOR], &rest))
        return psd_fail(PSD_ECONFIG, "%s: %s", names[COORDINATOR], psd_error());
    if (values[ADDRESS] && !psd_transport_find(values[ADDRESS], &rest))
        return psd_fail(PSD_ECONFIG, "%s: %s", names[ADDRESS], psd_error());
    PSD_TRY(read_number(names[RANKS], values[RANKS], 1, UINT32_MAX, &ranks));
    PSD_TRY(read_number(names[RANK], values[RANK], 0, UINT32_MAX, &rank));
    if (rank >= ranks)
        return psd_fail(PSD_ECONFIG, "%s is %s, but ranks count from 0 and %s is %s", names[RANK],
                        values[RANK], names[RANKS], values[RANKS]);
    PSD_TRY(read_number(names[JOB], values[JOB], 1, UINT64_MAX, &invitation->job));
    invitation->coordinator = values[COORDINATOR];
    invitation->address = values[ADDRESS];
    invitation->rank = (unsigned)rank;
    invitation->ranks = (unsigned)ranks;
    return PSD_OK;
}

psd_status psd_invitation_read(char *const *environment, struct psd_invitation **out)
{
    struct psd_invitation invitation = {.rank = 0};
    struct psd_secret *key = NULL;
    char *values[OWN] = {NULL};

    if (!find(environment, values)) {
        *out = NULL;
        return PSD_OK;
    }
    PSD_TRY(read_values(values, &invitation));
    PSD_TRY(psd_key_find(values[KEY], &key));
    return build(&invitation, key, out);
}

/* --- writing ------------------------------------------------------------------------------------ */

static size_t count_of(char *const *environment)
{
    size_t count = 0;

    while (environment[count])
        count++;
    return count;
}

/* Writes variable `i` and returns the bytes it takes, or would take. */
static size_t write_variable(const struct psd_invitation *invitation, int key_fd, int i, char *to,
                             size_t size)
{
    unsigned rank = invitation->rank, ranks = invitation->ranks;
    int length;

    if (i == COORDINATOR)
        length = snprintf(to, size, "%s=%s", names[i], invitation->coordinator);
    else if (i == KEY)
        length = snprintf(to, size, "%s=fd:%d", names[i], key_fd);
    else if (i == ADDRESS)
        length = snprintf(to, size, "%s=%s", names[i], invitation->address);
    else if (i == JOB)
        length = snprintf(to, size, "%s=%llu", names[i], (unsigned long long)invitation->job);
    else
        length = snprintf(to, size, "%s=%u", names[i],
                          i == RANKS || i == ALL - 1 ? ranks : rank); /* the last is WORLD_SIZE */
    return (size_t)length + 1;
}

static bool is_said(const struct psd_invitation *invitation, int i)
{
    return i != ADDRESS || invitation->address;
}

psd_status psd_invitation_export(const struct psd_invitation *invitation, int key_fd,
                                 char *const *environment, char ***out)
{
    size_t kept = 0, texts = 0, table = (count_of(environment) + ALL + 1) * sizeof(char *);

    for (int i = 0; i < ALL; i++)
        texts += is_said(invitation, i) ? write_variable(invitation, key_fd, i, NULL, 0) : 0;
    char **all = psd_alloc_zero(1, table + texts);
    if (!all)
        return PSD_ENOMEM;
    for (; *environment; environment++) {
        if (variable(*environment) == ALL)
            all[kept++] = *environment;
    }
    char *text = (char *)all + table;
    for (int i = 0; i < ALL; i++) {
        if (!is_said(invitation, i))
            continue;
        all[kept++] = text;
        text += write_variable(invitation, key_fd, i, text, texts);
    }
    *out = all;
    return PSD_OK;
}
