/* suggest_test.c - which word is meant. */
#include "base/suggest.h"
#include "test.h"

static const char *nearest(const char *word)
{
    static const char *const known[] = {"kernel_size", "kernel_h", "kernel_w", "num_output",
                                        "pad",         "stride",   "group",    "axis"};
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, word, strlen(word));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        psd_suggest_offer(&suggest, known[i]);
    return psd_suggest_best(&suggest);
}

static void one_wrong_letter_is_seen_through(void)
{
    CHECK_TEXT("kernel_size", nearest("kernal_size"));
    CHECK_TEXT("kernel_size", nearest("kernelsize"));
    CHECK_TEXT("num_output", nearest("num_outputs"));
}

static void swapped_letters_are_one_mistake(void)
{
    CHECK_TEXT("stride", nearest("srtide"));
    CHECK_TEXT("pad", nearest("pda"));
}

static void case_does_not_matter(void)
{
    CHECK_TEXT("num_output", nearest("NUM_OUTPUT"));
}

static void of_two_near_words_the_nearer_wins(void)
{
    CHECK_TEXT("kernel_w", nearest("kernal_w"));
}

static void nothing_near_gives_nothing(void)
{
    CHECK(nearest("bias_filler") == NULL);
    CHECK(nearest("x") == NULL);
    CHECK(nearest("") == NULL);
}

static void the_phrase_ends_a_sentence(void)
{
    struct psd_suggest suggest;

    psd_suggest_init(&suggest, "strid", 5);
    CHECK_TEXT("", psd_suggest_phrase(&suggest));
    psd_suggest_offer(&suggest, "stride");
    CHECK_TEXT("; did you mean \"stride\"?", psd_suggest_phrase(&suggest));
}

static void endless_words_give_nothing(void)
{
    char word[1000];

    memset(word, 'p', sizeof word);
    word[sizeof word - 1] = 0;
    CHECK(nearest(word) == NULL);
}

int main(int argc, char **argv)
{
    RUN(one_wrong_letter_is_seen_through)
    RUN(swapped_letters_are_one_mistake)
    RUN(case_does_not_matter)
    RUN(of_two_near_words_the_nearer_wins)
    RUN(nothing_near_gives_nothing)
    RUN(the_phrase_ends_a_sentence)
    RUN(endless_words_give_nothing)
}
