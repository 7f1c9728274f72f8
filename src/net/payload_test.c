/* payload_test.c - payloads reach their place, whatever the borders are. */
#include "base/random.h"
#include "net/payload.h"
#include "test.h"

enum { MOST = 41 }; /* floats */

/* A frame over from[0..n) cut at `f`, and a place over into[0..n) cut at `p`, in floats. */
static struct psd_frame cut_frame(const float *from, size_t f, size_t n)
{
    return (struct psd_frame){
        .payload = {{from, f * sizeof *from}, {from + f, (n - f) * sizeof *from}}};
}

static struct psd_place cut_place(float *into, size_t p, size_t n, bool add)
{
    return (struct psd_place){
        .spans = {{into, p * sizeof *into}, {into + p, (n - p) * sizeof *into}}, .add = add};
}

static void check_move(size_t n, size_t f, size_t p, bool add)
{
    float from[MOST], into[MOST], before[MOST];

    psd_random_fill_normal(1, n, 0, MOST, from);
    psd_random_fill_normal(2, n, 0, MOST, into);
    memcpy(before, into, sizeof before);
    struct psd_frame frame = cut_frame(from, f, n);
    struct psd_place place = cut_place(into, p, n, add);
    CHECK(psd_payload_bytes(&frame) == n * sizeof *from);
    CHECK_OK(psd_payload_move(&frame, &place));
    for (size_t i = 0; i < MOST; i++) {
        float wanted = i >= n ? before[i] : add ? before[i] + from[i] : from[i];
        CHECK(into[i] == wanted);
    }
}

static void every_border_is_kept(void)
{
    static const size_t lengths[] = {0, 1, 2, 7, 16, 40};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t f = 0; f <= lengths[i]; f++) {
            for (size_t p = 0; p <= lengths[i]; p++) {
                check_move(lengths[i], f, p, false);
                check_move(lengths[i], f, p, true);
            }
        }
    }
}

static void bytes_need_no_alignment_to_be_stored(void)
{
    char into[6] = "......";
    struct psd_frame frame = {.payload = {{"abc", 3}, {"de", 2}}};
    struct psd_place place = {.spans = {{into, 1}, {into + 2, 4}}};

    CHECK_OK(psd_payload_move(&frame, &place));
    CHECK(memcmp(into, "a.bcde", 6) == 0);
}

static void sizes_alone_move_nothing(void)
{
    float data[2] = {1, 2};
    struct psd_frame frame = {.payload = {{NULL, 4}, {data, 4}}};
    struct psd_place place = {.spans = {{data, 4}, {NULL, 4}}};

    CHECK_OK(psd_payload_move(&frame, &place));
    CHECK(data[0] == 1 && data[1] == 2);
}

static void places_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *why;
        size_t from[2], into[2];
        bool add;
        psd_status expected;
    } cases[] = {
        {"shorter", {8, 8}, {8, 4}, false, PSD_EINVAL},
        {"longer", {8, 8}, {16, 4}, true, PSD_EINVAL},
        {"a float cut by the frame", {6, 2}, {8, 0}, true, PSD_EINVAL},
        {"a float cut by the place", {8, 0}, {2, 6}, true, PSD_EINVAL},
        {"half a float too many", {4, 2}, {4, 2}, true, PSD_EINVAL},
        {"all this without adding", {6, 2}, {3, 5}, false, PSD_OK},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct psd_frame frame = {.payload = {{NULL, cases[i].from[0]}, {NULL, cases[i].from[1]}}};
        struct psd_place place = {.spans = {{NULL, cases[i].into[0]}, {NULL, cases[i].into[1]}},
                                  .add = cases[i].add};
        fprintf(stderr, "    %s\n", cases[i].why);
        CHECK_STATUS(cases[i].expected, psd_payload_move(&frame, &place));
    }
}

int main(int argc, char **argv)
{
    RUN(every_border_is_kept)
    RUN(bytes_need_no_alignment_to_be_stored)
    RUN(sizes_alone_move_nothing)
    RUN(places_that_do_not_fit_are_refused)
}
