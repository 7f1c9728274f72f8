/* map_test.c - names and their numbers. */
#include "base/alloc.h"
#include "base/map.h"
#include "test.h"

static void what_was_put_is_found_and_nothing_else(void)
{
    struct psd_map map;
    size_t value = 77;

    psd_map_init(&map);
    CHECK(!psd_map_find(&map, "data", &value) && value == 77);
    CHECK_OK(psd_map_put(&map, "data", 3));
    CHECK(psd_map_find(&map, "data", &value) && value == 3);
    CHECK(!psd_map_find(&map, "label", &value) && value == 3);
    psd_map_fini(&map);
}

static void a_later_number_takes_the_place_of_an_earlier(void)
{
    struct psd_map map;
    char copy[] = "data";
    size_t value = 0;

    psd_map_init(&map);
    CHECK_OK(psd_map_put(&map, "data", 3));
    CHECK_OK(psd_map_put(&map, copy, 4));
    CHECK(psd_map_find(&map, "data", &value) && value == 4 && map.count == 1);
    psd_map_fini(&map);
}

static void thousands_of_names_keep_their_numbers(void)
{
    static char names[5000][12];
    struct psd_map map;

    psd_map_init(&map);
    for (size_t i = 0; i < 5000; i++) {
        snprintf(names[i], sizeof names[i], "conv%zu", i);
        CHECK_OK(psd_map_put(&map, names[i], i));
    }
    for (size_t i = 0; i < 5000; i++) {
        size_t value = 0;
        CHECK(psd_map_find(&map, names[i], &value) && value == i);
    }
    psd_map_fini(&map);
}

static void a_failed_allocation_leaves_the_map_as_it_was(void)
{
    struct psd_map map;
    size_t value = 0;

    psd_map_init(&map);
    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_map_put(&map, "data", 1));
    psd_alloc_fail_at(-1);
    CHECK(!psd_map_find(&map, "data", &value));
    CHECK_OK(psd_map_put(&map, "data", 1));
    CHECK(psd_map_find(&map, "data", &value) && value == 1);
    psd_map_fini(&map);
}

int main(int argc, char **argv)
{
    RUN(what_was_put_is_found_and_nothing_else)
    RUN(a_later_number_takes_the_place_of_an_earlier)
    RUN(thousands_of_names_keep_their_numbers)
    RUN(a_failed_allocation_leaves_the_map_as_it_was)
}
