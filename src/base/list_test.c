/* list_test.c - what comes in which order, and what may leave when. */
#include "base/list.h"
#include "test.h"

struct letter {
    char letter;
    struct psd_list link;
};

/* The letters of a list from front to back; valid until the next call. */
static const char *spelled(const struct psd_list *list)
{
    static char text[16];
    size_t length = 0;

    PSD_LIST_EACH (at, list)
        text[length++] = PSD_CONTAINER_OF(at, struct letter, link)->letter;
    text[length] = 0;
    return text;
}

static void a_new_list_is_empty(void)
{
    struct psd_list list;

    psd_list_init(&list);
    CHECK(psd_list_is_empty(&list));
    CHECK(psd_list_first(&list) == NULL);
    CHECK_TEXT("", spelled(&list));
}

static void elements_keep_the_order_in_which_they_are_pushed(void)
{
    struct letter a = {.letter = 'a'}, b = {.letter = 'b'}, c = {.letter = 'c'};
    struct psd_list list;

    psd_list_init(&list);
    psd_list_push_back(&list, &b.link);
    psd_list_push_back(&list, &c.link);
    psd_list_push_front(&list, &a.link);
    CHECK_TEXT("abc", spelled(&list));
    CHECK(psd_list_first(&list) == &a.link);
}

static void any_element_can_be_removed(void)
{
    struct letter letters[] = {{.letter = 'a'}, {.letter = 'b'}, {.letter = 'c'}};
    static const char *const rest[] = {"bc", "ac", "ab"};

    for (size_t gone = 0; gone < 3; gone++) {
        struct psd_list list;
        psd_list_init(&list);
        for (size_t i = 0; i < 3; i++)
            psd_list_push_back(&list, &letters[i].link);
        psd_list_remove(&letters[gone].link);
        CHECK_TEXT(rest[gone], spelled(&list));
    }
}

static void removing_twice_changes_nothing(void)
{
    struct letter a = {.letter = 'a'}, b = {.letter = 'b'};
    struct psd_list list;

    psd_list_init(&list);
    psd_list_push_back(&list, &a.link);
    psd_list_push_back(&list, &b.link);
    psd_list_remove(&a.link);
    psd_list_remove(&a.link);
    CHECK_TEXT("b", spelled(&list));
    CHECK(psd_list_is_empty(&a.link));
}

static void the_current_element_may_leave_during_a_visit(void)
{
    struct letter letters[] = {{.letter = 'a'}, {.letter = 'b'}, {.letter = 'c'}};
    struct psd_list from, to;

    psd_list_init(&from);
    psd_list_init(&to);
    for (size_t i = 0; i < 3; i++)
        psd_list_push_back(&from, &letters[i].link);
    PSD_LIST_EACH (at, &from) {
        psd_list_remove(at);
        psd_list_push_front(&to, at);
    }
    CHECK(psd_list_is_empty(&from));
    CHECK_TEXT("cba", spelled(&to));
}

static void visits_can_be_nested(void)
{
    struct letter letters[] = {{.letter = 'a'}, {.letter = 'b'}, {.letter = 'c'}};
    struct psd_list list;
    int pairs = 0;

    psd_list_init(&list);
    for (size_t i = 0; i < 3; i++)
        psd_list_push_back(&list, &letters[i].link);
    PSD_LIST_EACH (one, &list) {
        PSD_LIST_EACH (other, &list)
            pairs += one != other;
    }
    CHECK(pairs == 6);
}

int main(int argc, char **argv)
{
    RUN(a_new_list_is_empty)
    RUN(elements_keep_the_order_in_which_they_are_pushed)
    RUN(any_element_can_be_removed)
    RUN(removing_twice_changes_nothing)
    RUN(the_current_element_may_leave_during_a_visit)
    RUN(visits_can_be_nested)
}
