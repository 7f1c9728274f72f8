/* tasks.c - an array that doubles. */
#include "base/tasks.h"
#include "base/alloc.h"
#include "base/status.h"

void psd_tasks_fini(struct psd_tasks *tasks)
{
    psd_alloc_free(tasks->list);
    *tasks = (struct psd_tasks){.list = NULL};
}

psd_status psd_tasks_reserve(struct psd_tasks *tasks, size_t count)
{
    if (count <= tasks->room)
        return PSD_OK;
    struct psd_task *list = psd_alloc_resize(tasks->list, count, sizeof *list);
    if (!list)
        return PSD_ENOMEM;
    tasks->list = list;
    tasks->room = count;
    return PSD_OK;
}

psd_status psd_tasks_append(struct psd_tasks *tasks, struct psd_task task)
{
    if (tasks->count == tasks->room)
        PSD_TRY(psd_tasks_reserve(tasks, tasks->room ? 2 * tasks->room : 16));
    tasks->list[tasks->count++] = task;
    return PSD_OK;
}

void psd_tasks_run(struct psd_tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++)
        tasks->list[i].fn(tasks->list[i].arg);
    tasks->count = 0;
}
