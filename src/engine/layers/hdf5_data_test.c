#include "base/alloc.h"
#include "engine/share.h"
#include "hdf5_files.h"
#include "nets.h"

/* A net that reads the files of the test's folder; good until the next call. */
static const char *net_text(const char *more)
{
    static char text[1000];

    write_rows("one.h5", 0, 3);
    write_rows("two.h5", 3, 5);
    write_rows("three.h5", 8, 2);
    snprintf(text, sizeof text,
             "layer { name: 'd' type: 'HDF5Data' top: 'data' top: 'label' "
             "hdf5_data_param { source: '%s' %s } }",
             write_list("list.txt", "one.h5\ntwo.h5\nthree.h5\n"), more);
    return text;
}

static void batches_go_through_all_files(void)
{
    struct lab lab = lab_of(net_text("batch_size: 4"));

    CHECK(psd_net_blob(lab.net, "data")->shape.axes == 2);
    CHECK(psd_net_blob(lab.net, "label")->shape.dim[0] == 4);
    for (size_t batch = 0; batch < 10; batch++) {
        CHECK_OK(psd_net_forward(lab.net, NULL));
        for (size_t i = 0; i < 4; i++) {
            CHECK_NEAR(lab_values(&lab, "data")[2 * i], (4 * batch + i) % 10, 0);
            CHECK_NEAR(-lab_values(&lab, "label")[i], (4 * batch + i) % 10, 0);
        }
    }
    lab_close(&lab);
}

static void one_top_is_enough(void)
{
    char text[1000];

    snprintf(text, sizeof text, "%s", net_text("batch_size: 4"));
    memset(strstr(text, "top: 'data'"), ' ', strlen("top: 'data'"));
    struct lab lab = lab_of(text);
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK_NEAR(lab_values(&lab, "label")[3], -3, 0);
    lab_close(&lab);
}

enum { GLOBAL = 10, ROUNDS = 5 };

/* What workers `first` to `first + count - 1` of `of` see, who have equal shares. */
static void check_shares(const struct lab *whole, const char *text, unsigned first, unsigned count,
                         unsigned of)
{
    static const unsigned all[GLOBAL] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct psd_net_position position = {
        .workers = all + first, .n_workers = count, .of = of, .global_batch = GLOBAL};
    size_t share = psd_share_size(GLOBAL, of, first);
    struct lab lab = lab_with(text, &(struct psd_net_options){.batch = share});

    CHECK_OK(psd_net_seek(whole->net, &(struct psd_net_position){0}));
    CHECK_OK(psd_net_seek(lab.net, &position));
    for (unsigned n = 0; n < ROUNDS * count; n++) {
        size_t offset = psd_share_offset(GLOBAL, of, first + n % count);
        if (n % count == 0)
            CHECK_OK(psd_net_forward(whole->net, NULL));
        CHECK_OK(psd_net_forward(lab.net, NULL));
        CHECK(same_bits(lab_values(&lab, "data"), lab_values(whole, "data") + offset * 2,
                        share * 2 * sizeof(float)));
        CHECK(same_bits(lab_values(&lab, "label"), lab_values(whole, "label") + offset,
                        share * sizeof(float)));
    }
    lab_close(&lab);
}

static void workers_see_together_what_one_with_the_global_batch_sees(void)
{
    static const char *const more[] = {"batch_size: 10", "batch_size: 10 shuffle: true"};

    for (size_t i = 0; i < 2; i++) {
        const char *text = net_text(more[i]);
        struct lab whole = lab_of(text);
        for (unsigned of = 1; of <= GLOBAL; of++) {
            unsigned larger = GLOBAL % of ? GLOBAL % of : of;
            check_shares(&whole, text, 0, larger, of);
            if (larger < of)
                check_shares(&whole, text, larger, of - larger, of);
        }
        lab_close(&whole);
    }
}

static void the_order_of_shuffled_rows_is_the_seeds(void)
{
    const char *text = net_text("batch_size: 20 shuffle: true");
    struct lab one = lab_of(text), other = lab_with(text, &(struct psd_net_options){.seed = 2});
    float first[20];

    CHECK_OK(psd_net_forward(one.net, NULL));
    CHECK_OK(psd_net_forward(other.net, NULL));
    memcpy(first, lab_values(&one, "label"), sizeof first);
    CHECK(!same_bits(first, lab_values(&other, "label"), sizeof first));
    other.net->seed = 1; /* of a state that was restored */
    CHECK_OK(psd_net_seek(other.net, &(struct psd_net_position){0}));
    CHECK_OK(psd_net_forward(other.net, NULL));
    CHECK(same_bits(first, lab_values(&other, "label"), sizeof first));
    lab_close(&other);
    lab_close(&one);
}

static void a_net_has_workers_of_one_share(void)
{
    static const unsigned workers[] = {1, 2};
    struct psd_net_position position = {
        .workers = workers, .n_workers = 2, .of = 4, .global_batch = GLOBAL};
    struct lab lab = lab_with(net_text("batch_size: 10"), &(struct psd_net_options){.batch = 3});

    CHECK_STATUS(PSD_EINVAL, psd_net_seek(lab.net, &position)); /* 3 and 2 samples */
    CHECK_TEXT("layer d: worker 2 of 4 has 2 of a global batch of 10 samples, but the net's batch "
               "is 3",
               psd_error());
    lab_close(&lab);
}

#define LAYER_WITH(more) "layer { name: 'd' type: 'HDF5Data' top: 'data' " more " }"

static void impossible_parameters_are_refused(void)
{
    static const struct {
        const char *net, *sentence;
    } cases[] = {
        {LAYER_WITH(""), "test.prototxt:1:1: layer d: has no source, a list of HDF5 files"},
        {LAYER_WITH("hdf5_data_param { source: 'x' }"),
         "test.prototxt:1:48: layer d: has no batch_size; 1 is the least"},
        {LAYER_WITH("hdf5_data_param { source: 'x' batch_size: 2 }"),
         "test.prototxt:1:66: layer d: test.prototxt names x, but there is no such file"},
        {LAYER_WITH("transform_param { scale: 2 }"),
         "test.prototxt:1:48: layer d: does not transform what it reads; leave transform_param "
         "out"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].sentence, lab_refuses(cases[i].net));
}

/* A file that became another one under us. */
static void a_file_that_changes_is_told(void)
{
    struct lab lab = lab_of(net_text("batch_size: 4"));

    write_rows("one.h5", 0, 2);
    CHECK_STATUS(PSD_ECONFIG, psd_net_forward(lab.net, NULL));
    CHECK(strstr(psd_error(), "one.h5 was changed since it was opened"));
    CHECK(strstr(psd_error(), "test.prototxt:1:"));
    lab_close(&lab);
}

static void creating_survives_every_failed_allocation(void)
{
    CHECK(lab_survives(net_text("batch_size: 4 shuffle: true"), NULL) > 1);
}

int main(int argc, char **argv)
{
    RUN(batches_go_through_all_files)
    RUN(one_top_is_enough)
    RUN(workers_see_together_what_one_with_the_global_batch_sees)
    RUN(the_order_of_shuffled_rows_is_the_seeds)
    RUN(a_net_has_workers_of_one_share)
    RUN(impossible_parameters_are_refused)
    RUN(a_file_that_changes_is_told)
    RUN(creating_survives_every_failed_allocation)
}
