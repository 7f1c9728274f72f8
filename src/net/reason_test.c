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
    };
    char text[PSD_REASON_SIZE];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        psd_reason_say(cases[i].reason, "sim", "a", text, sizeof text);
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
    RUN(a_long_address_is_cut)
}
