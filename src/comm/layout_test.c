/* layout_test.c - every value is in one piece, and every rank owns its share. */
#include "base/alloc.h"
#include "base/random.h"
#include "comm/layout.h"
#include "math/product.h"
#include "math/sum.h"
#include "test.h"

static struct psd_job *new_job(unsigned ranks)
{
    struct psd_job *job = NULL;

    CHECK_OK(psd_job_create(ranks, ranks, 32, PSD_COMM_UPDATE, NULL, &job));
    return job;
}

static struct psd_layout *new_layout(const struct psd_job *job, size_t most)
{
    struct psd_layout *layout = NULL;

    CHECK_OK(psd_layout_create(job, most, &layout));
    return layout;
}

static void add(struct psd_job *job, struct psd_comm_param param)
{
    char name[24];

    snprintf(name, sizeof name, "p%zu", job->n_params);
    param.name = name;
    CHECK_OK(psd_job_add(job, &param));
    struct psd_job_param *added = &job->params[job->n_params - 1];
    if (added->form == PSD_FORM_AUTO) { /* what a plan does */
        added->form = psd_job_follows(job, job->n_params - 1) ? PSD_FORM_FACTORED : PSD_FORM_DENSE;
        added->route =
            added->form == PSD_FORM_DENSE ? PSD_ROUTE_SERVERS : job->params[added->bias_of].route;
    }
}

static void add_dense(struct psd_job *job, size_t values)
{
    add(job, (struct psd_comm_param){.rows = 1, .cols = values});
}

/* A factored weight and its bias. */
static void add_factored(struct psd_job *job, size_t rows, size_t cols, enum psd_route route)
{
    add(job, (struct psd_comm_param){.rows = rows, .cols = cols, .factors = true, .route = route});
    add(job, (struct psd_comm_param){.rows = 1, .cols = rows, .bias_of = (int)job->n_params});
}

/* The parameter that stands after `param` (SIZE_MAX: before all): those that are averaged come last;
 * n_params: there is none. */
static size_t after(const struct psd_job *job, size_t param)
{
    bool averaged = param < job->n_params && job->params[param].averaged;

    for (size_t i = param + 1; i < job->n_params; i++) {
        if (job->params[i].averaged == averaged)
            return i;
    }
    for (size_t i = 0; i < job->n_params && !averaged; i++) {
        if (job->params[i].averaged)
            return i;
    }
    return job->n_params;
}

/* The fields of a layout agree with each other, and every value is in exactly one part. */
static void check_consistent(const struct psd_layout *layout)
{
    size_t next_part = 0, next_value = 0, param = after(layout->job, SIZE_MAX);

    for (size_t i = 0; i < layout->n_pieces; i++) {
        const struct psd_piece *piece = &layout->pieces[i];
        size_t at = 0;
        CHECK(piece->server < layout->job->ranks);
        CHECK(piece->first_part == next_part && piece->parts >= 1);
        CHECK(piece->parts <= PSD_LAYOUT_PARTS);
        for (size_t k = next_part; k < next_part + piece->parts; k++) {
            const struct psd_part *part = &layout->parts[k];
            CHECK(part->piece == i && part->param == param && part->at == at);
            CHECK(part->first == next_value && part->count > 0);
            at += part->count;
            next_value += part->count;
            if (next_value == psd_job_count(&layout->job->params[param])) {
                next_value = 0;
                param = after(layout->job, param);
            }
        }
        CHECK(piece->count == at);
        next_part += piece->parts;
    }
    CHECK(next_part == layout->n_parts && param == layout->job->n_params && next_value == 0);
}

static void check_params(const struct psd_layout *layout)
{
    for (size_t param = 0; param < layout->job->n_params; param++) {
        const struct psd_layout_param *p = &layout->params[param];
        const struct psd_part *first = &layout->parts[p->first_part];
        const struct psd_part *last = first + p->pieces - 1;
        CHECK(p->pieces >= 1 && first->param == param && last->param == param);
        CHECK(first->first == 0 && first->piece == p->first_piece);
        CHECK(last->piece == p->first_piece + p->pieces - 1);
        CHECK(last->first + last->count == psd_job_count(&layout->job->params[param]));
    }
}

/* Pieces of dense parameters begin at blocks and have a sensible size. */
static void check_dense(const struct psd_layout *layout, size_t most)
{
    size_t block = PSD_SUM_BLOCK * sizeof(float), largest = most > block ? most : block;
    size_t least = most < PSD_LAYOUT_LEAST ? most : PSD_LAYOUT_LEAST;

    for (size_t i = 0; i < layout->n_parts; i++) {
        const struct psd_part *part = &layout->parts[i];
        const struct psd_piece *piece = &layout->pieces[part->piece];
        if (psd_job_is_factored(layout->job, part->param))
            continue;
        CHECK(part->first % PSD_SUM_BLOCK == 0);
        CHECK(piece->count * sizeof(float) <= largest);
        CHECK(piece->parts == 1 || piece->count * sizeof(float) <= least);
        if (layout->params[part->param].pieces > 1 && most / 2 >= PSD_LAYOUT_LEAST)
            CHECK(piece->count * sizeof(float) >= least);
    }
}

static void check_row_shards(const struct psd_layout *layout, size_t param, size_t most)
{
    const struct psd_layout_param *p = &layout->params[param];
    size_t cols = layout->job->params[param].cols;

    for (size_t i = 0; i < p->pieces; i++) {
        const struct psd_part *part = &layout->parts[p->first_part + i];
        unsigned server = layout->pieces[part->piece].server;
        struct psd_rows rows = psd_layout_rows(layout, param, server);
        CHECK(part->first % cols == 0 && part->count % cols == 0);
        CHECK(part->first >= rows.first * cols);
        CHECK(part->first + part->count <= rows.end * cols);
        CHECK(part->count * sizeof(float) <= most || part->count == cols);
    }
}

static void check_bias_of_row_shards(const struct psd_layout *layout, size_t param)
{
    const struct psd_layout_param *p = &layout->params[param];

    for (size_t i = 0; i < p->pieces; i++) {
        const struct psd_part *part = &layout->parts[p->first_part + i];
        unsigned server = layout->pieces[part->piece].server;
        struct psd_rows rows =
            psd_layout_rows(layout, (size_t)layout->job->params[param].bias_of, server);
        CHECK(part->first == rows.first && part->first + part->count == rows.end);
    }
}

/* The rows of all ranks together are all rows, in tiles; or each rank has all. */
static void check_rows(const struct psd_layout *layout, size_t param)
{
    const struct psd_job_param *p = &layout->job->params[param];
    size_t next = 0, holders = 0;

    for (unsigned rank = 0; rank < layout->job->ranks; rank++) {
        struct psd_rows rows = psd_layout_rows(layout, param, rank);
        CHECK(rows.first <= rows.end && rows.end <= p->rows);
        if (p->route == PSD_ROUTE_ROW_SHARDED) {
            CHECK(rows.first == next);
            CHECK(rows.end % PSD_PRODUCT_ROWS == 0 || rows.end == p->rows);
            next = rows.end;
        } else if (rows.first < rows.end) {
            CHECK(rows.first == 0 && rows.end == p->rows);
            holders++;
        }
    }
    if (p->route == PSD_ROUTE_ROW_SHARDED)
        CHECK(next == p->rows);
    else
        CHECK(holders == (p->route == PSD_ROUTE_SINGLE_OWNER ? 1 : layout->job->ranks));
}

static void check_all(const struct psd_layout *layout, size_t most)
{
    check_consistent(layout);
    check_params(layout);
    check_dense(layout, most);
    for (size_t param = 0; param < layout->job->n_params; param++) {
        bool follows = psd_job_follows(layout->job, param);
        bool is_sharded = layout->job->params[param].route == PSD_ROUTE_ROW_SHARDED;
        if (psd_job_is_factored(layout->job, param) && !follows)
            check_rows(layout, param);
        if (is_sharded && follows)
            check_bias_of_row_shards(layout, param);
        else if (is_sharded)
            check_row_shards(layout, param, most);
    }
}

static size_t draw(uint64_t seed, uint64_t index, uint64_t below)
{
    return (size_t)psd_random_below(seed, 1, index, below);
}

/* Up to 40 parameters from one value to 4 MB, of all forms and routes. */
static struct psd_job *random_job(uint64_t seed)
{
    static const enum psd_route routes[] = {PSD_ROUTE_BROADCAST, PSD_ROUTE_ROW_SHARDED,
                                            PSD_ROUTE_SINGLE_OWNER};
    struct psd_job *job = new_job(1 + (unsigned)draw(seed, 0, seed % 10 ? 12 : 200));

    for (uint64_t i = 0, end = 1 + draw(seed, 1, 40); i < end; i++) {
        size_t size = (size_t)1 << draw(seed, 100 + i, 21);
        if (draw(seed, 200 + i, 4) > 0)
            add(job, (struct psd_comm_param){.rows = 1,
                                             .cols = 1 + draw(seed, 300 + i, size),
                                             .averaged = draw(seed, 700 + i, 4) == 0});
        else
            add_factored(job, 1 + draw(seed, 400 + i, 1000), 1 + draw(seed, 500 + i, 1000),
                         routes[draw(seed, 600 + i, 3)]);
    }
    return job;
}

static void every_value_of_random_jobs_is_in_one_part(void)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        size_t most = seed % 3 ? (size_t)PSD_LAYOUT_MOST >> draw(seed, 2, 12) : 0;
        struct psd_job *job = random_job(seed);
        struct psd_layout *layout = new_layout(job, most);
        check_all(layout, most ? most : PSD_LAYOUT_MOST);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
}

static bool are_equal(const struct psd_layout *a, const struct psd_layout *b)
{
    for (size_t i = 0; i < a->n_pieces && i < b->n_pieces; i++) {
        if (a->pieces[i].server != b->pieces[i].server || a->pieces[i].count != b->pieces[i].count)
            return false;
    }
    return a->n_pieces == b->n_pieces && a->n_parts == b->n_parts;
}

static void equal_jobs_have_equal_layouts(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct psd_job *jobs[2] = {random_job(seed), random_job(seed)};
        struct psd_layout *layouts[2] = {new_layout(jobs[0], 0), new_layout(jobs[1], 0)};
        CHECK(are_equal(layouts[0], layouts[1]));
        for (size_t i = 0; i < 2; i++) {
            psd_layout_destroy(layouts[i]);
            psd_job_destroy(jobs[i]);
        }
    }
}

static void small_neighbours_share_a_piece(void)
{
    struct psd_job *job = new_job(2);
    enum { SMALL = 16383, LARGE = 16384 }; /* values: just below, and at, 64 KB */

    add_dense(job, 1000);
    add_dense(job, 1);
    add_dense(job, LARGE); /* its own piece, and a border */
    add_dense(job, SMALL);
    add_dense(job, 1); /* 64 KB in all */
    add_dense(job, 1); /* one value too many */
    add_factored(job, 8, 8, PSD_ROUTE_BROADCAST);
    add_dense(job, 1); /* a factored parameter is a border too */
    struct psd_layout *layout = new_layout(job, 0);
    static const uint32_t want[] = {0, 0, 1, 2, 2, 3, 4, 5, 6};
    CHECK(job->n_params == sizeof want / sizeof *want && layout->n_pieces == 7);
    for (size_t i = 0; i < job->n_params; i++)
        CHECK(layout->params[i].first_piece == want[i] && layout->params[i].pieces == 1);
    CHECK(layout->pieces[0].parts == 2 && layout->pieces[0].count == 1001);
    CHECK(layout->parts[1].at == 1000 && layout->params[1].first_part == 1);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

/* Two layers with statistics of their own, a large parameter between them. */
static void what_is_averaged_shares_pieces_with_its_like_from_any_layer(void)
{
    static const struct {
        size_t values;
        bool averaged;
        uint32_t piece;
    } cases[] = {{64, false, 0},  {64, true, 6},     {64, true, 6},  {1, true, 6},
                 {64, false, 0},  {70000, false, 1}, {128, true, 6}, {1, true, 6},
                 {128, false, 5}, {50000, true, 7},  {7, true, 9}};
    struct psd_job *job = new_job(2);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        add(job, (struct psd_comm_param){
                     .rows = 1, .cols = cases[i].values, .averaged = cases[i].averaged});
    struct psd_layout *layout = new_layout(job, 0);
    check_all(layout, PSD_LAYOUT_MOST);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(layout->params[i].first_piece == cases[i].piece);
    CHECK(layout->pieces[6].parts == 5 && layout->n_pieces == 10);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void a_piece_is_shared_by_64_at_most(void)
{
    struct psd_job *job = new_job(2);

    for (size_t i = 0; i < 130; i++)
        add_dense(job, 3);
    struct psd_layout *layout = new_layout(job, 0);
    CHECK(layout->n_pieces == 3 && layout->n_parts == 130);
    CHECK(layout->pieces[0].parts == 64 && layout->pieces[1].parts == 64);
    CHECK(layout->pieces[2].parts == 2);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void parameters_are_cut_for_all_ranks_but_not_too_small(void)
{
    static const struct {
        size_t blocks, most; /* of 16 KB, and bytes */
        uint32_t ranks, pieces;
    } cases[] = {
        {1, 0, 1, 1},         {8, 0, 1, 1},           {9, 0, 1, 2},          {16, 0, 4, 4},
        {15, 0, 4, 3},        {7, 0, 4, 1},           {32, 0, 4, 4},         {33, 0, 4, 8},
        {512, 2 << 20, 3, 6}, {2304, 1 << 20, 8, 40}, {4000, 0, 1000, 1000}, {3999, 0, 1000, 999},
        {12, 64 << 10, 2, 3}, {5, 64 << 10, 2, 2},    {8, 16 << 10, 2, 8},   {8, 16 << 10, 3, 8},
        {3, 1, 2, 3},         {512, 2 << 20, 4, 4},   {513, 2 << 20, 4, 8},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = new_job(cases[i].ranks);
        add_dense(job, cases[i].blocks * PSD_SUM_BLOCK);
        struct psd_layout *layout = new_layout(job, cases[i].most);
        CHECK(layout->params[0].pieces == cases[i].pieces);
        check_all(layout, cases[i].most ? cases[i].most : PSD_LAYOUT_MOST);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
}

/* The least and the most that a rank owns of one parameter. */
static void count_owned(const struct psd_layout *layout, size_t param, unsigned *least,
                        unsigned *most)
{
    const struct psd_layout_param *p = &layout->params[param];

    *least = UINT32_MAX;
    *most = 0;
    for (unsigned rank = 0; rank < layout->job->ranks; rank++) {
        unsigned count = 0;
        for (uint32_t i = 0; i < p->pieces; i++)
            count += layout->pieces[p->first_piece + i].server == rank;
        *least = count < *least ? count : *least;
        *most = count > *most ? count : *most;
    }
}

static void a_multiple_of_the_ranks_gives_each_the_same_number(void)
{
    for (unsigned ranks = 1; ranks <= 9; ranks++) {
        struct psd_job *job = new_job(ranks);
        unsigned least = 0, most = 0;
        add_dense(job, 10000000);
        add_dense(job, 300000);
        add_dense(job, 5000000);
        add_dense(job, 30000);
        add_factored(job, 2000, 2000, PSD_ROUTE_BROADCAST);
        struct psd_layout *layout = new_layout(job, 0);
        for (size_t param = 0; param < 5; param++) {
            count_owned(layout, param, &least, &most);
            CHECK(layout->params[param].pieces % ranks != 0 || least == most);
        }
        CHECK(layout->params[0].pieces % ranks == 0);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
}

/* The most that a rank owns beyond the mean, as a share of it. */
static double unevenness(const struct psd_layout *layout)
{
    size_t most = 0, all = 0;

    for (unsigned rank = 0; rank < layout->job->ranks; rank++) {
        size_t owned = psd_layout_owned(layout, rank);
        most = owned > most ? owned : most;
        all += owned;
    }
    return (double)most * layout->job->ranks / (double)all - 1;
}

static void add_alexnet(struct psd_job *job)
{
    static const size_t values[] = {
        34848,  96,  307200,   256,  884736,   384,  663552,  384,
        442368, 256, 37748736, 4096, 16777216, 4096, 4096000, 1000,
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add_dense(job, values[i]);
}

static void alexnet_is_spread_to_one_percent(void)
{
    for (unsigned ranks = 1; ranks <= 8; ranks++) {
        struct psd_job *job = new_job(ranks);
        add_alexnet(job);
        struct psd_layout *layout = new_layout(job, 0);
        size_t owned = 0;
        for (unsigned rank = 0; rank < ranks; rank++)
            owned += psd_layout_owned(layout, rank);
        CHECK(owned == 60965224 * sizeof(float));
        fprintf(stderr, "    %u ranks: %.3f %%\n", ranks, 100 * unevenness(layout));
        CHECK(unevenness(layout) <= 0.01);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
}

static void a_thousand_ranks_are_spread_evenly(void)
{
    struct psd_job *job = new_job(1000);

    for (size_t i = 0; i < 250; i++) {
        add_dense(job, 500000 + 1000 * i);
        add_dense(job, 256);
    }
    struct psd_layout *layout = new_layout(job, 0);
    check_all(layout, PSD_LAYOUT_MOST);
    CHECK(unevenness(layout) <= 0.1);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void what_factors_rebuild_is_not_owned(void)
{
    struct psd_job *job = new_job(2);

    add_factored(job, 640, 1000, PSD_ROUTE_ROW_SHARDED);
    add_factored(job, 640, 1000, PSD_ROUTE_SINGLE_OWNER);
    struct psd_layout *layout = new_layout(job, 0);
    CHECK(psd_layout_owned(layout, 0) == 0 && psd_layout_owned(layout, 1) == 0);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void row_tiles_are_shared_out_evenly(void)
{
    static const struct {
        unsigned ranks;
        size_t rows, border[6];
    } cases[] = {
        {1, 100, {0, 100}},         {2, 64, {0, 32, 64}},
        {3, 100, {0, 32, 64, 100}}, {5, 40, {0, 0, 16, 16, 32, 40}}, /* three tiles for five */
        {2, 1, {0, 0, 1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_job *job = new_job(cases[i].ranks);
        add_factored(job, cases[i].rows, 7, PSD_ROUTE_ROW_SHARDED);
        struct psd_layout *layout = new_layout(job, 0);
        for (unsigned rank = 0; rank < cases[i].ranks; rank++) {
            struct psd_rows rows = psd_layout_rows(layout, 0, rank);
            CHECK(rows.first == cases[i].border[rank]);
            CHECK(rows.end == cases[i].border[rank + 1]);
        }
        check_all(layout, PSD_LAYOUT_MOST);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
}

static void a_long_row_is_a_piece_by_itself(void)
{
    struct psd_job *job = new_job(1);

    add_factored(job, 5, 1000000, PSD_ROUTE_ROW_SHARDED);
    struct psd_layout *layout = new_layout(job, 0);
    CHECK(layout->params[0].pieces == 5 && layout->params[1].pieces == 1);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void single_owners_are_spread_and_keep_their_bias(void)
{
    struct psd_job *job = new_job(3);

    for (size_t i = 0; i < 3; i++)
        add_factored(job, 1000, 1000, PSD_ROUTE_SINGLE_OWNER);
    struct psd_layout *layout = new_layout(job, 0);
    for (size_t param = 0; param < 6; param++) {
        unsigned least = 0, most = 0;
        count_owned(layout, param, &least, &most);
        CHECK(least == 0 && most == layout->params[param].pieces);
        CHECK(layout->pieces[layout->params[param].first_piece].server == param / 2);
    }
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void one_process_rebuilds_everything(void)
{
    static const enum psd_route routes[] = {PSD_ROUTE_LOCAL, PSD_ROUTE_BROADCAST,
                                            PSD_ROUTE_ROW_SHARDED, PSD_ROUTE_SINGLE_OWNER};

    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        struct psd_job *job = new_job(1);
        add_factored(job, 100, 30, routes[i]);
        struct psd_layout *layout = new_layout(job, 0);
        struct psd_rows rows = psd_layout_rows(layout, 0, 0);
        CHECK(rows.first == 0 && rows.end == 100);
        psd_layout_destroy(layout);
        psd_job_destroy(job);
    }
}

static void a_job_without_parameters_has_no_pieces(void)
{
    struct psd_job *job = new_job(3);
    struct psd_layout *layout = new_layout(job, 0);

    CHECK(layout->n_pieces == 0 && layout->n_parts == 0 && psd_layout_owned(layout, 0) == 0);
    psd_layout_destroy(layout);
    psd_job_destroy(job);
}

static void create_survives_every_failed_allocation(void)
{
    struct psd_job *job = random_job(7);
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_layout *layout = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_layout_create(job, 0, &layout);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (layout == NULL));
        psd_layout_destroy(layout);
    }
    psd_job_destroy(job);
}

int main(int argc, char **argv)
{
    RUN(every_value_of_random_jobs_is_in_one_part)
    RUN(equal_jobs_have_equal_layouts)
    RUN(small_neighbours_share_a_piece)
    RUN(what_is_averaged_shares_pieces_with_its_like_from_any_layer)
    RUN(a_piece_is_shared_by_64_at_most)
    RUN(parameters_are_cut_for_all_ranks_but_not_too_small)
    RUN(a_multiple_of_the_ranks_gives_each_the_same_number)
    RUN(alexnet_is_spread_to_one_percent)
    RUN(a_thousand_ranks_are_spread_evenly)
    RUN(what_factors_rebuild_is_not_owned)
    RUN(row_tiles_are_shared_out_evenly)
    RUN(a_long_row_is_a_piece_by_itself)
    RUN(single_owners_are_spread_and_keep_their_bias)
    RUN(one_process_rebuilds_everything)
    RUN(a_job_without_parameters_has_no_pieces)
    RUN(create_survives_every_failed_allocation)
}
