/* landing_test.c - payloads that come in parts, and where they end up. */
#include "base/alloc.h"
#include "base/crc32c.h"
#include "net/tcp/landing.h"
#include "test.h"

enum { FLOATS = 50000, BYTES = FLOATS * (int)sizeof(float) };

static float from[FLOATS], into[FLOATS + 1];

static struct psd_place place_of(size_t border, bool add)
{
    struct psd_place place = {.add = add};

    place.spans[0].data = into;
    place.spans[0].bytes = border;
    place.spans[1].data = (unsigned char *)into + border;
    place.spans[1].bytes = BYTES - border;
    return place;
}

static void prepare(void)
{
    for (size_t i = 0; i < FLOATS; i++) {
        from[i] = (float)i;
        into[i] = 0.5f;
    }
    into[FLOATS] = 77;
}

/* Reads the payload as a socket would that has `portion` bytes each time. */
static void read_all(struct psd_landing *landing, size_t portion)
{
    struct iovec to[2] = {{0}};
    size_t at = 0;
    int pieces;

    while ((pieces = psd_landing_room(landing, to)) > 0) {
        size_t left = portion, taken = 0;
        for (int i = 0; i < pieces && left > 0; i++) {
            size_t part = to[i].iov_len < left ? to[i].iov_len : left;
            memcpy(to[i].iov_base, (unsigned char *)from + at + taken, part);
            taken += part;
            left -= part;
        }
        psd_landing_take(landing, taken);
        at += taken;
    }
    CHECK(at == BYTES);
}

static void check_all(const struct psd_landing *landing, bool add)
{
    for (size_t i = 0; i < FLOATS; i++)
        CHECK(into[i] == from[i] + (add ? 0.5f : 0));
    CHECK(into[FLOATS] == 77);
    CHECK(landing->crc == (landing->has_crc ? psd_crc32c(0, from, BYTES) : 0));
}

static void parts_of_any_length_are_stored_or_added(void)
{
    static const size_t portions[] = {1, 2, 3, 4, 5, 4095, 65535, 65536, 65537, SIZE_MAX};
    static const size_t borders[] = {0, 4, 4096, 65536, BYTES - 4, BYTES};
    struct psd_landing landing;

    for (unsigned kind = 0; kind < 4; kind++) {
        CHECK_OK(psd_landing_init(&landing, kind & 1));
        for (size_t i = 0; i < sizeof portions / sizeof *portions; i++) {
            size_t border = borders[i % (sizeof borders / sizeof *borders)];
            struct psd_place place = place_of(border, kind & 2);
            prepare();
            CHECK_OK(psd_landing_start(&landing, &place, BYTES));
            read_all(&landing, portions[i]);
            check_all(&landing, kind & 2);
        }
        psd_landing_fini(&landing);
    }
}

static void a_place_without_memory_takes_it_nowhere(void)
{
    struct psd_landing landing;

    for (unsigned kind = 0; kind < 4; kind++) {
        struct psd_place place = place_of(kind & 1 ? 4096 : BYTES, kind & 2);
        CHECK_OK(psd_landing_init(&landing, true));
        place.spans[1].data = NULL;
        if (kind & 1)
            CHECK_STATUS(PSD_EINVAL, psd_landing_start(&landing, &place, BYTES)); /* half of it */
        place.spans[0].data = NULL;
        prepare();
        CHECK_OK(psd_landing_start(&landing, &place, BYTES));
        read_all(&landing, 65537);
        CHECK(into[0] == 0.5f && into[FLOATS - 1] == 0.5f);
        CHECK(landing.crc == psd_crc32c(0, from, BYTES));
        psd_landing_fini(&landing);
    }
}

static void what_was_read_elsewhere_is_copied_and_not_more(void)
{
    struct psd_landing landing;
    const unsigned char *bytes = (const unsigned char *)from;

    CHECK_OK(psd_landing_init(&landing, true));
    for (unsigned add = 0; add < 2; add++) {
        struct psd_place place = place_of(400, add);
        prepare();
        CHECK_OK(psd_landing_start(&landing, &place, BYTES));
        CHECK(psd_landing_copy(&landing, bytes, 3) == 3);
        CHECK(psd_landing_copy(&landing, bytes + 3, 100000) == 100000);
        CHECK(psd_landing_copy(&landing, bytes + 100003, BYTES) == BYTES - 100003);
        CHECK(psd_landing_copy(&landing, bytes, 1) == 0);
        check_all(&landing, add);
    }
    psd_landing_fini(&landing);
}

static void init_survives_a_failed_allocation(void)
{
    struct psd_landing landing;

    psd_alloc_fail_at(0);
    CHECK_STATUS(PSD_ENOMEM, psd_landing_init(&landing, true));
    psd_alloc_fail_at(-1);
    psd_landing_fini(&landing);
}

int main(int argc, char **argv)
{
    RUN(parts_of_any_length_are_stored_or_added)
    RUN(a_place_without_memory_takes_it_nowhere)
    RUN(what_was_read_elsewhere_is_copied_and_not_more)
    RUN(init_survives_a_failed_allocation)
}
