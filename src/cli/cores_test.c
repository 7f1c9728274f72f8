/* cores_test.c - shares of processors: whole, disjoint, even, neighbours. */
#include "cli/cores.h"
#include "test.h"

static struct psd_cores cores, share, again;

static void make(unsigned count)
{
    cores.count = count;
    for (unsigned i = 0; i < count; i++)
        cores.list[i] = (struct psd_core){.id = 2 * i + 1, .package = -1, .core = -1};
}

static void check_shares(unsigned ranks)
{
    unsigned next = 0, count = cores.count;

    for (unsigned rank = 0; rank < ranks; rank++) {
        psd_cores_divide(&cores, rank, ranks, &share);
        CHECK(share.count == count / ranks || share.count == (count + ranks - 1) / ranks);
        for (unsigned i = 0; i < share.count; i++)
            CHECK(share.list[i].id == cores.list[next++].id);
    }
    CHECK(next == count);
}

static void shares_are_neighbours_that_make_up_the_whole(void)
{
    for (unsigned count = 1; count <= 70; count++) {
        make(count);
        for (unsigned ranks = 1; ranks <= count; ranks++)
            check_shares(ranks);
    }
}

static void more_processes_than_processors_share_them_all(void)
{
    make(2);
    for (unsigned rank = 0; rank < 8; rank++) {
        psd_cores_divide(&cores, rank, 8, &share);
        CHECK(share.count == 2 && share.list[0].id == 1 && share.list[1].id == 3);
    }
    make(0);
    psd_cores_divide(&cores, 0, 1, &share);
    CHECK(share.count == 0);
}

/* Two packages of two cores with two threads each, numbered as on a usual machine. */
static void processors_of_one_core_stand_side_by_side(void)
{
    static const unsigned order[] = {0, 4, 2, 6, 1, 5, 3, 7};

    cores.count = 8;
    for (unsigned i = 0; i < 8; i++)
        cores.list[i] = (struct psd_core){7 - i, (int)(7 - i) % 2, (int)(7 - i) / 2 % 2};
    psd_cores_sort(&cores);
    for (unsigned i = 0; i < 8; i++)
        CHECK(cores.list[i].id == order[i]);
}

static void who_is_bound_runs_there_and_nowhere_else(void)
{
    psd_cores_read(&cores);
    CHECK(cores.count > 0);
    psd_cores_divide(&cores, cores.count - 1, cores.count, &share);
    CHECK(share.count == 1);
    CHECK_OK(psd_cores_bind(&share));
    psd_cores_read(&again);
    CHECK(again.count == 1 && again.list[0].id == share.list[0].id);
    share.count = 0;
    CHECK_STATUS(PSD_ENOSUP, psd_cores_bind(&share));
    CHECK(strstr(psd_error(), "--bind off"));
}

int main(int argc, char **argv)
{
    RUN(shares_are_neighbours_that_make_up_the_whole)
    RUN(more_processes_than_processors_share_them_all)
    RUN(processors_of_one_core_stand_side_by_side)
    RUN(who_is_bound_runs_there_and_nowhere_else)
}
