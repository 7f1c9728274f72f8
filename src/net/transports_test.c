/* transports_test.c - an address begins with the way to get there. */
#include "net/transport.h"
#include "test.h"

static void an_address_names_its_transport(void)
{
    const char *rest = NULL;

    CHECK(psd_transport_find("inproc://demo", &rest) == &psd_transport_inproc);
    CHECK_TEXT("demo", rest);
    CHECK(psd_transport_find("tcp://10.0.0.1:7070", &rest) == &psd_transport_tcp);
    CHECK_TEXT("10.0.0.1:7070", rest);
    CHECK(psd_transport_find("sim://a://b", &rest) == &psd_transport_sim);
    CHECK_TEXT("a://b", rest);
}

static void what_is_not_known_gets_a_sentence_with_what_is(void)
{
    static const struct {
        const char *address, *sentence;
    } cases[] = {
        {"smi://a",
         "smi://a: this build has no transport \"smi\"; it has inproc://, tcp://, sim://; did "
         "you mean \"sim\"?"},
        {"pigeon://b:7070", "pigeon://b:7070: this build has no transport \"pigeon\"; it has "
                            "inproc://, tcp://, sim://"},
        {"10.0.0.1:7070", "\"10.0.0.1:7070\" does not say how to get there: begin with one of "
                          "inproc://, tcp://, sim://"},
        {"://a",
         "\"://a\" does not say how to get there: begin with one of inproc://, tcp://, sim://"},
        {"sim:/a",
         "\"sim:/a\" does not say how to get there: begin with one of inproc://, tcp://, sim://"},
        {"", "\"\" does not say how to get there: begin with one of inproc://, tcp://, sim://"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *rest = "untouched";
        CHECK(psd_transport_find(cases[i].address, &rest) == NULL);
        CHECK_TEXT(cases[i].sentence, psd_error());
        CHECK_TEXT("untouched", rest);
    }
}

static void a_connection_keeps_a_tag(void)
{
    struct psd_conn conn = {.transport = &psd_transport_sim};

    CHECK(psd_conn_tag(&conn) == NULL);
    psd_conn_set_tag(&conn, &conn);
    CHECK(psd_conn_tag(&conn) == &conn);
}

int main(int argc, char **argv)
{
    RUN(an_address_names_its_transport)
    RUN(what_is_not_known_gets_a_sentence_with_what_is)
    RUN(a_connection_keeps_a_tag)
}
