/* inproc_test.c - frames between loops of one process. */
#include "net_contract.h"

static void nobody_at_the_address_is_heard_as_closed(void)
{
    struct seat seat = {.closed = 0};

    sit(&seat, "a");
    connect_to(&seat, "nowhere");
    wait_for(&seat, "closed: nobody listens at inproc://nowhere\n");
    stand_up(&seat);
}

static void who_has_another_key_does_not_connect(void)
{
    static const char *const keys[][2] = {{"sesame", "sesamo"}, {"sesame", "ses"}, {"x", NULL}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct seat seats[3] = {{.key = keys[i][0]}, {.key = keys[i][1]}, {.key = keys[i][0]}};
        sit(&seats[0], "a");
        sit(&seats[1], "b");
        sit(&seats[2], "c");
        connect_to(&seats[1], "a");
        wait_for(&seats[1], "closed: net://a has another key\n");
        connect_to(&seats[2], "a");
        wait_for(&seats[2], "connected\n");
        wait_for(&seats[0], "accepted\n"); /* and nothing of the other */
        for (size_t k = 0; k < 3; k++)
            stand_up(&seats[k]);
    }
}

static void a_name_is_one_endpoints_until_it_closes(void)
{
    struct seat seats[2] = {{.closed = 0}};

    sit(&seats[0], "a");
    sit(&seats[1], "b");
    struct errand errand = {.seat = &seats[1], .address = "a"};
    struct psd_endpoint *b = seats[1].endpoint;
    on_loop(seats[1].loop, open_now, &errand);
    CHECK_STATUS(PSD_ECONFIG, errand.status);
    CHECK(seats[1].endpoint == b);
    on_loop(seats[0].loop, close_now, &seats[0]);
    on_loop(seats[1].loop, close_now, &seats[1]);
    on_loop(seats[1].loop, open_now, &errand);
    CHECK_OK(errand.status);
    stand_up(&seats[0]);
    stand_up(&seats[1]);
}

static void without_a_name_the_first_free_one_below_a_peers_is_taken(void)
{
    struct seat seats[3] = {{.closed = 0}};

    sit(&seats[0], "a");
    CHECK_TEXT("a", psd_transport_inproc.address(seats[0].endpoint));
    for (unsigned i = 1; i < 3; i++) {
        struct errand errand = {.seat = &seats[i], .address = "", .towards = "a"};
        sit(&seats[i], "b");
        on_loop(seats[i].loop, close_now, &seats[i]);
        on_loop(seats[i].loop, open_now, &errand);
        CHECK_OK(errand.status);
        CHECK_TEXT(i == 1 ? "a/1" : "a/2", psd_transport_inproc.address(seats[i].endpoint));
    }
    connect_to(&seats[1], "a/2");
    wait_for(&seats[2], "accepted\n");
    for (unsigned i = 0; i < 3; i++)
        stand_up(&seats[i]);
}

static void an_endpoint_needs_a_loop_and_an_address(void)
{
    struct psd_endpoint *endpoint = NULL;
    struct psd_endpoint_options options = {.address = "a", .handler = &seat_handler};
    struct seat seat = {.closed = 0};

    CHECK_STATUS(PSD_EINVAL, seat_transport->open(&options, &endpoint));
    sit(&seat, "a");
    struct errand errand = {.seat = &seat, .address = ""};
    on_loop(seat.loop, open_now, &errand);
    CHECK_STATUS(PSD_ECONFIG, errand.status);
    errand.address = NULL;
    on_loop(seat.loop, open_now, &errand);
    CHECK_STATUS(PSD_ECONFIG, errand.status);
    errand.address = "b";
    seat.key = "a key of more than sixty-four bytes is not what anybody needs to keep";
    on_loop(seat.loop, open_now, &errand);
    CHECK_STATUS(PSD_EINVAL, errand.status);
    stand_up(&seat);
    CHECK(endpoint == NULL);
}

int main(int argc, char **argv)
{
    RUN_CONTRACT
    RUN(nobody_at_the_address_is_heard_as_closed)
    RUN(who_has_another_key_does_not_connect)
    RUN(a_name_is_one_endpoints_until_it_closes)
    RUN(without_a_name_the_first_free_one_below_a_peers_is_taken)
    RUN(an_endpoint_needs_a_loop_and_an_address)
}
