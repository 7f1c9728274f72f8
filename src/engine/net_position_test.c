#include "engine/net_position.h"
#include "nets.h"

#define X "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }\n"

static const unsigned three[] = {1, 2, 5};

static void a_pass_for_each_worker_makes_an_iteration(void)
{
    struct lab lab = lab_of(X);
    struct psd_net_position position = {.iteration = 7, .workers = three, .n_workers = 3, .of = 8};

    for (unsigned from = 0; from < 3; from++) {
        position.turn = from;
        CHECK_OK(psd_net_seek(lab.net, &position));
        for (unsigned n = from; n < 10; n++) {
            uint64_t batch = (7 + n / 3) * 8 + three[n % 3];
            CHECK(psd_net_next_batch(lab.net) == batch);
            CHECK_OK(psd_net_forward(lab.net, NULL));
            CHECK(psd_net_batch(lab.net) == batch);
            CHECK(psd_net_worker(&lab.net->pass) == three[n % 3]);
            CHECK(lab.net->pass.iteration == 7 + n / 3);
        }
    }
    lab_close(&lab);
}

static void it_starts_as_the_only_worker_or_where_it_is_told(void)
{
    struct lab lab = lab_of(X);
    struct lab other = lab_with(
        X, &(struct psd_net_options){
               .position = {.iteration = 4, .workers = three, .n_workers = 3, .turn = 1, .of = 6}});

    CHECK(psd_net_next_batch(lab.net) == 0);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_net_next_batch(lab.net) == 1);
    CHECK(psd_net_next_batch(other.net) == 26);
    CHECK_OK(psd_net_seek(other.net, &(struct psd_net_position){.iteration = 3}));
    CHECK(psd_net_next_batch(other.net) == 3);
    lab_close(&other);
    lab_close(&lab);
}

static void positions_that_make_no_sense_are_refused(void)
{
    static const unsigned falling[] = {2, 1}, twice[] = {1, 1};
    static const struct {
        struct psd_net_position position;
        psd_status status;
        const char *sentence;
    } cases[] = {
        {{.workers = three, .n_workers = 3, .turn = 3, .of = 8},
         PSD_EINVAL,
         "a net's position has turn 3 of 3 workers"},
        {{.n_workers = 2, .of = 2}, PSD_EINVAL, "a net's position has turn 0 of 2 workers"},
        {{.workers = three, .n_workers = 3, .of = 5},
         PSD_EINVAL,
         "a net's position has worker 5 of 5 at place 2; workers rise"},
        {{.workers = falling, .n_workers = 2, .of = 5},
         PSD_EINVAL,
         "a net's position has worker 1 of 5 at place 1; workers rise"},
        {{.workers = twice, .n_workers = 2, .of = 5},
         PSD_EINVAL,
         "a net's position has worker 1 of 5 at place 1; workers rise"},
        {{.of = 8, .global_batch = 64},
         PSD_ECONFIG,
         "test.prototxt: --global-batch needs a Data or HDF5Data layer, which takes any number of "
         "samples; "
         "this "
         "net has none"},
    };
    struct lab lab = lab_of(X), refused = lab;

    CHECK_STATUS(PSD_ECONFIG, lab_build(&refused, &(struct psd_net_options){.batch = 2}));
    CHECK_OK(psd_net_forward(lab.net, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_net_options options = {.position = cases[i].position};
        CHECK_STATUS(cases[i].status, psd_net_seek(lab.net, &cases[i].position));
        CHECK_TEXT(cases[i].sentence, psd_error());
        CHECK(psd_net_next_batch(lab.net) == 1);
        CHECK_STATUS(cases[i].status, lab_build(&refused, &options));
    }
    lab_close(&lab);
}

static void check_rows(struct psd_net *net, size_t rows, size_t global)
{
    struct psd_net_position *pass = &net->pass;

    *pass = (struct psd_net_position){
        .iteration = 5, .workers = three, .n_workers = 3, .of = 8, .global_batch = global};
    for (pass->turn = 0; pass->turn < 3; pass->turn++) {
        size_t before = three[pass->turn] * rows;
        CHECK(psd_net_row(net, rows) == 40 * rows + before);
    }
}

/* A pass of 8 samples in three layers: one with a row a sample, one with four, one with two samples a
 * row. Whether the global batch is told or not, it is the same. */
static void rows_are_numbered_over_all_workers(void)
{
    static const size_t rows[] = {8, 32, 4};
    struct lab lab = lab_of(X);

    for (size_t i = 0; i < 3; i++) {
        check_rows(lab.net, rows[i], 0);
        check_rows(lab.net, rows[i], 64);
    }
    lab_close(&lab);
}

static void rows_of_uneven_shares_follow_each_other(void)
{
    static const unsigned all[] = {0, 1, 2, 3};
    static const size_t shares[] = {6, 6, 5, 5};
    struct lab lab = lab_of(X);
    struct psd_net_position *pass = &lab.net->pass;

    for (size_t each = 1; each < 4; each++) { /* rows of a sample */
        uint64_t next = 0;
        *pass = (struct psd_net_position){
            .workers = all, .n_workers = 4, .of = 4, .global_batch = 22, .stride = 1};
        for (size_t n = 0; n < 40; n++) {
            size_t rows = shares[n % 4] * each;
            CHECK(psd_net_row(lab.net, rows) == next);
            next += rows;
            psd_net_advance(pass);
        }
    }
    lab_close(&lab);
}

static void positions_are_of_the_same_workers_or_not(void)
{
    static const unsigned zero = 0, same[] = {1, 2, 5}, other[] = {1, 2, 4};
    const struct psd_net_position whole = {
        .workers = three, .n_workers = 3, .of = 8, .global_batch = 64, .iteration = 3, .turn = 2};
    struct psd_net_position a = whole;

    a.workers = same;
    a.iteration = a.turn = 0;
    CHECK(psd_net_same_workers(&a, &whole));
    a.workers = other;
    CHECK(!psd_net_same_workers(&a, &whole));
    a = whole;
    a.of = 9;
    CHECK(!psd_net_same_workers(&a, &whole));
    a = whole;
    a.n_workers = 2;
    CHECK(!psd_net_same_workers(&a, &whole));
    a = whole;
    a.global_batch = 0;
    CHECK(!psd_net_same_workers(&a, &whole));
    struct psd_net_position alone = {.n_workers = 1, .of = 2}, first = alone, second = alone;
    first.workers = &zero;
    second.workers = three;
    CHECK(psd_net_same_workers(&alone, &alone) && psd_net_same_workers(&alone, &first));
    CHECK(psd_net_same_workers(&first, &alone) && !psd_net_same_workers(&second, &alone));
}

int main(int argc, char **argv)
{
    RUN(a_pass_for_each_worker_makes_an_iteration)
    RUN(it_starts_as_the_only_worker_or_where_it_is_told)
    RUN(positions_that_make_no_sense_are_refused)
    RUN(rows_are_numbered_over_all_workers)
    RUN(rows_of_uneven_shares_follow_each_other)
    RUN(positions_are_of_the_same_workers_or_not)
}
