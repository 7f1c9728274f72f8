/* cores.c - the kernel's set of processors, as a list. */
#include "cli/cores.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of /sys/devices/system/cpu/cpuN/topology. */
static int topology(unsigned id, const char *what)
{
    char path[128], line[32];
    int number = -1;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", id, what);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    if (fgets(line, sizeof line, file))
        number = (int)strtol(line, NULL, 10);
    fclose(file);
    return number;
}

void psd_cores_read(struct psd_cores *out)
{
    cpu_set_t set;

    out->count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (unsigned id = 0; id < PSD_CORES_MOST; id++) {
        if (CPU_ISSET(id, &set))
            out->list[out->count++] =
                (struct psd_core){id, topology(id, "physical_package_id"), topology(id, "core_id")};
    }
    psd_cores_sort(out);
}

static int compare(const void *left, const void *right)
{
    const struct psd_core *a = left, *b = right;

    if (a->package != b->package)
        return a->package < b->package ? -1 : 1;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void psd_cores_sort(struct psd_cores *cores)
{
    qsort(cores->list, cores->count, sizeof *cores->list, compare);
}

void psd_cores_divide(const struct psd_cores *cores, unsigned rank, unsigned ranks,
                      struct psd_cores *out)
{
    unsigned first = 0, end = cores->count;

    if (ranks <= cores->count) {
        first = cores->count * rank / ranks;
        end = cores->count * (rank + 1) / ranks;
    }
    out->count = end - first;
    memcpy(out->list, cores->list + first, out->count * sizeof *out->list);
}

psd_status psd_cores_bind(const struct psd_cores *cores)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (unsigned i = 0; i < cores->count; i++)
        CPU_SET(cores->list[i].id, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return psd_fail(PSD_ENOSUP, "bind to %u processors: %s; --bind off does without",
                        cores->count, strerrordesc_np(errno));
    return PSD_OK;
}
