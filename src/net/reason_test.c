/* reason_test.c - each reason is a sentence that names the peer. */
#include "net/reason.h"
#include "test.h"

static void each_reason_names_the_peer(void)
{
    static const struct {
        enum psd_reason reason;
        const char *sentence;
    } cases[] = {
        {PSD_REASON_CLOSED, "sim://a has closed the connection"},
        {PSD_REASON_NOBODY, "nobody listens at sim://a"},
        {PSD_REASON_CUT, "the connection with sim://a is cut"},
        {PSD_REASON_DEAD, "sim://a is gone"},
        {PSD_REASON_MEMORY, "the connection with sim://a broke: out of memory"},
        {PSD_REASON_KEY, "sim://a has another key"},
        {PSD_REASON_UNREACHABLE, "there is no way to sim://a"},
    };
    char text[PSD_REASON_SIZE];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        psd_reason_say(cases[i].reason, "sim", "a", text, sizeof text);
        CHECK_TEXT(cases[i].sentence, text);
    }
}

static void some_reasons_speak_of_a_time(void)
{
    static const struct {
        enum psd_reason reason;
        uint64_t time_ns;
        const char *sentence;
    } cases[] = {
        {PSD_REASON_LATE, 250000000, "tcp://a:1 has not answered within 0.25 s"},
        {PSD_REASON_SILENT, 10000000000, "tcp://a:1 has been silent for 10 s"},
        {PSD_REASON_STUCK, 2500000000,
         "tcp://a:1 has acknowledged nothing for 2.5 s: is the cable cut?"},
    };
    char text[PSD_REASON_SIZE];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        psd_reason_say_time(cases[i].reason, "tcp", "a:1", cases[i].time_ns, text, sizeof text);
        CHECK_TEXT(cases[i].sentence, text);
    }
}

static void a_long_address_is_cut(void)
{
    char text[12];

    psd_reason_say(PSD_REASON_DEAD, "sim", "a-very-long-address", text, sizeof text);
    CHECK_TEXT("sim://a-ver", text);
}

int main(int argc, char **argv)
{
    RUN(each_reason_names_the_peer)
    RUN(some_reasons_speak_of_a_time)
    RUN(a_long_address_is_cut)
}
