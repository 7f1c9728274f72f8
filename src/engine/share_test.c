#include "engine/share.h"
#include "test.h"

static void check_shares(size_t global, unsigned of)
{
    size_t next = 0;

    for (unsigned worker = 0; worker < of; worker++) {
        size_t size = psd_share_size(global, of, worker);
        CHECK(psd_share_offset(global, of, worker) == next);
        CHECK(size == global / of || size == global / of + 1);
        CHECK(worker == 0 || size <= psd_share_size(global, of, worker - 1));
        next += size;
    }
    CHECK(next == global && psd_share_offset(global, of, of) == global);
}

static void shares_are_a_run_each_and_differ_by_one(void)
{
    for (size_t global = 0; global < 100; global++) {
        for (unsigned of = 1; of < 20; of++)
            check_shares(global, of);
    }
}

static void the_first_have_one_more(void)
{
    static const size_t sizes[] = {3, 3, 2, 2}, offsets[] = {0, 3, 6, 8};

    for (unsigned worker = 0; worker < 4; worker++) {
        CHECK(psd_share_size(10, 4, worker) == sizes[worker]);
        CHECK(psd_share_offset(10, 4, worker) == offsets[worker]);
        CHECK(psd_share_size(64, 8, worker) == 8);
        CHECK(psd_share_offset(64, 8, worker) == (size_t)8 * worker);
    }
}

int main(int argc, char **argv)
{
    RUN(shares_are_a_run_each_and_differ_by_one)
    RUN(the_first_have_one_more)
}
