/* data_sources_test.c - shared_file_system: who reads what. */
#include "base/alloc.h"
#include "nets.h"
#include "samples.h"

enum { BATCH = 4 };

static const unsigned all[] = {0, 1, 2, 3};

/* The records of part k have the labels 50 k, 50 k + 1 ... */
static int part;

static void mark(unsigned i, Caffe__Datum *datum)
{
    (void)i;
    datum->label += 50 * part;
}

/* A part of 10, 9, 8 ... records. */
static void write_part(int k)
{
    char name[16];

    snprintf(name, sizeof name, "db_%d", k);
    part = k;
    samples_write(name, (unsigned)(10 - k), mark);
}

static void write_whole(void)
{
    part = 4;
    samples_write("db", 30, mark);
}

static const char *text_with(const char *ending, const char *more)
{
    static char text[PATH_MAX + 300];

    snprintf(text, sizeof text,
             "layer { name: 'd' type: 'Data' top: 'x' top: 'label' data_param { source: '%s%s' "
             "batch_size: 4 backend: LMDB %s } }",
             scratch("db"), ending, more);
    return text;
}

#define APART text_with("", "shared_file_system: false")

static struct psd_net_position of_workers(const unsigned *workers, unsigned count)
{
    return (struct psd_net_position){.workers = workers, .n_workers = count, .of = 3};
}

/* The next pass has the records from `first` on of part `k`, which has `count`. */
static void expect(const struct lab *lab, int k, int first, int count)
{
    CHECK_OK(psd_net_forward(lab->net, NULL));
    for (int i = 0; i < BATCH; i++)
        CHECK_NEAR(lab_values(lab, "label")[i], 50 * k + (first + i) % count, 0);
}

/* --- parts -------------------------------------------------------------------------------------- */

static void each_worker_reads_its_own_part_from_the_beginning(void)
{
    struct psd_net_position position = of_workers(all + 1, 2);

    write_part(1);
    write_part(2); /* the others are on other machines, and so is the whole */
    for (int slash = 0; slash < 2; slash++) {
        struct lab lab = lab_with(text_with(slash ? "//" : "", "shared_file_system: false"),
                                  &(struct psd_net_options){.position = position});
        CHECK(psd_net_is_pinned(lab.net));
        for (int t = 0; t < 6; t++) {
            expect(&lab, 1, BATCH * t, 9);
            expect(&lab, 2, BATCH * t, 8);
        }
        lab_close(&lab);
    }
}

static void workers_may_change(void)
{
    struct psd_net_position both = of_workers(all + 1, 2), alone = of_workers(all + 2, 1);

    write_part(1);
    write_part(2);
    struct lab lab = lab_with(APART, &(struct psd_net_options){.position = both}), twin = lab;
    CHECK_OK(lab_build(&twin, &(struct psd_net_options){.twin_of = lab.net, .position = alone}));
    expect(&lab, 1, 0, 9);
    expect(&twin, 2, 0, 8);
    expect(&twin, 2, BATCH, 8);
    CHECK_OK(psd_net_seek(lab.net, &alone));
    expect(&lab, 2, 0, 8);
    both.turn = 1;
    CHECK_OK(psd_net_seek(lab.net, &both));
    expect(&lab, 2, 0, 8);
    expect(&lab, 1, BATCH, 9);
    psd_net_destroy(twin.net);
    lab_close(&lab);
}

static void a_part_that_is_missing_is_named(void)
{
    struct psd_net_position position = of_workers(all, 3);
    char sentence[PATH_MAX + 300];

    write_whole();
    write_part(0);
    write_part(2);
    struct lab lab = lab_of(APART);
    CHECK_STATUS(PSD_ECONFIG, psd_net_seek(lab.net, &position));
    snprintf(
        sentence, sizeof sentence,
        "layer d: since shared_file_system is false, worker 1 of 3 reads %s_1, but there is no "
        "such file; make a part for each worker, or say true",
        scratch("db"));
    CHECK(strstr(psd_error(), sentence) && strncmp(psd_error(), "test.prototxt:1:", 16) == 0);
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL)); /* it is still so */
    position.n_workers = 1;
    CHECK_OK(psd_net_seek(lab.net, &position));
    expect(&lab, 0, 0, 10);
    lab_close(&lab);
}

static void turn_all(unsigned i, Caffe__Datum *datum)
{
    (void)i;
    datum->width = 2, datum->height = 3;
}

static void a_part_of_another_shape_is_refused(void)
{
    struct psd_net_position first = of_workers(all, 1), second = of_workers(all + 1, 1);

    write_part(0);
    samples_write("db_1", 9, turn_all);
    struct lab lab = lab_with(APART, &(struct psd_net_options){.position = first});
    CHECK_STATUS(PSD_ECONFIG, psd_net_seek(lab.net, &second));
    CHECK(strstr(psd_error(), "layer d: these workers have samples of 1 x 3 x 2, but the net was "
                              "made for 1 x 2 x 3"));
    CHECK_OK(psd_net_seek(lab.net, &first));
    expect(&lab, 0, 0, 10);
    lab_close(&lab);
}

/* --- the whole ---------------------------------------------------------------------------------- */

static void one_source_is_shared_unless_told_otherwise(void)
{
    static const char *const texts[] = {"", "shared_file_system: true"};

    write_whole();
    write_part(1);
    for (size_t i = 0; i < 2; i++) {
        struct lab lab = lab_with(text_with("", texts[i]),
                                  &(struct psd_net_options){.position = of_workers(all + 1, 1)});
        CHECK(!psd_net_is_pinned(lab.net));
        expect(&lab, 4, BATCH, 30);
        expect(&lab, 4, 4 * BATCH, 30);
        lab_close(&lab);
    }
}

static void tests_and_the_only_worker_read_the_whole(void)
{
    write_whole();
    write_part(0);
    write_part(1);
    struct lab lab = lab_of(APART);
    CHECK(psd_net_is_pinned(lab.net));
    expect(&lab, 4, 0, 30);
    expect(&lab, 4, BATCH, 30);
    lab_close(&lab);

    struct psd_net_position position = of_workers(all + 1, 1);
    lab = lab_with(APART,
                   &(struct psd_net_options){.phase = CAFFE__PHASE__TEST, .position = position});
    CHECK(!psd_net_is_pinned(lab.net));
    expect(&lab, 4, BATCH, 30);
    lab_close(&lab);
}

static void without_the_whole_they_read_the_first_part(void)
{
    char sentence[2 * PATH_MAX];

    snprintf(sentence, sizeof sentence, "layer d: there is neither %s nor its first part, %s_0",
             scratch("db"), scratch("db"));
    CHECK(strstr(lab_refuses(APART), sentence));
    write_part(0);
    struct lab lab = lab_of(APART);
    expect(&lab, 0, 0, 10);
    lab_close(&lab);
    CHECK(strstr(lab_refuses(text_with("", "")), "but there is no such file"));
}

/* --- memory --------------------------------------------------------------------------------------- */

static void once_warm_it_allocates_nothing(void)
{
    struct psd_net_position position = of_workers(all + 1, 2);

    write_part(1);
    write_part(2);
    struct lab lab = lab_with(APART, &(struct psd_net_options){.position = position});
    for (int n = 0; n < 20; n++) {
        if (n == 10)
            psd_alloc_fail_at(0);
        CHECK_OK(psd_net_forward(lab.net, NULL));
    }
    CHECK(!psd_alloc_fail_at(-1));
    lab_close(&lab);
}

static void it_survives_every_failed_allocation(void)
{
    struct psd_net_position both = of_workers(all + 1, 2), alone = of_workers(all + 2, 1);
    bool failed = true;

    write_part(0);
    write_part(1);
    write_part(2);
    for (long n = 0; failed; n++) {
        struct lab lab;
        CHECK(lab_open(&lab, NULL, 1));
        lab.document = net_of(APART);
        psd_alloc_fail_at(n);
        psd_status status = lab_build(&lab, NULL);
        if (status == PSD_OK)
            status = psd_net_seek(lab.net, &both);
        if (status == PSD_OK)
            status = psd_net_seek(lab.net, &alone);
        if (status == PSD_OK)
            status = psd_net_forward(lab.net, NULL);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (lab.net) { /* memory is there again */
            CHECK_OK(psd_net_seek(lab.net, &both));
            expect(&lab, 1, 0, 9);
        }
        lab_close(&lab);
    }
}

int main(int argc, char **argv)
{
    RUN(each_worker_reads_its_own_part_from_the_beginning)
    RUN(workers_may_change)
    RUN(a_part_that_is_missing_is_named)
    RUN(a_part_of_another_shape_is_refused)
    RUN(one_source_is_shared_unless_told_otherwise)
    RUN(tests_and_the_only_worker_read_the_whole)
    RUN(without_the_whole_they_read_the_first_part)
    RUN(once_warm_it_allocates_nothing)
    RUN(it_survives_every_failed_allocation)
}
