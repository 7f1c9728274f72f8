/* tasks_test.c - what was asked for is done once, in order, and the room stays. */
#include "base/alloc.h"
#include "base/tasks.h"
#include "test.h"

enum { MANY = 100 };

static int done[2 * MANY];
static int count;

static void note(void *arg)
{
    const int *number = arg;

    done[count++] = *number;
}

static psd_status append_many(struct psd_tasks *tasks, int *numbers)
{
    psd_status status = PSD_OK;

    for (int i = 0; i < MANY && status == PSD_OK; i++) {
        numbers[i] = i;
        status = psd_tasks_append(tasks, (struct psd_task){note, &numbers[i]});
    }
    return status;
}

static void tasks_run_once_and_in_order(void)
{
    struct psd_tasks tasks = {.count = 0};
    int numbers[MANY];

    psd_tasks_run(&tasks);
    CHECK(count == 0);
    CHECK_OK(append_many(&tasks, numbers));
    CHECK(count == 0 && tasks.count == MANY);
    psd_tasks_run(&tasks);
    psd_tasks_run(&tasks);
    CHECK(count == MANY && tasks.count == 0);
    for (int i = 0; i < MANY; i++)
        CHECK(done[i] == i);
    psd_tasks_fini(&tasks);
}

static void the_room_stays_when_tasks_have_run(void)
{
    struct psd_tasks tasks = {.count = 0};
    int numbers[MANY];

    CHECK_OK(psd_tasks_reserve(&tasks, MANY));
    psd_alloc_fail_at(0);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(append_many(&tasks, numbers));
        psd_tasks_run(&tasks);
    }
    CHECK_OK(append_many(&tasks, numbers));
    CHECK_STATUS(PSD_ENOMEM, psd_tasks_append(&tasks, (struct psd_task){note, &numbers[0]}));
    CHECK(psd_alloc_fail_at(-1) && tasks.count == MANY);
    psd_tasks_fini(&tasks);
}

static void tasks_survive_every_failed_allocation(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_tasks tasks = {.count = 0};
        int numbers[MANY];
        psd_alloc_fail_at(n);
        psd_status status = append_many(&tasks, numbers);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (tasks.count < MANY));
        count = 0;
        psd_tasks_run(&tasks);
        CHECK((count == MANY) == !failed);
        psd_tasks_fini(&tasks);
    }
}

int main(int argc, char **argv)
{
    RUN(tasks_run_once_and_in_order)
    RUN(the_room_stays_when_tasks_have_run)
    RUN(tasks_survive_every_failed_allocation)
}
