/* list.h - a doubly linked list whose links live inside its elements.
 *
 *     struct psd_list          struct task          struct task
 *      .------.                .-----------.        .-----------.
 *      | list | <------------> | .link     | <----> | .link     | <--.
 *      '------'                | .fn       |        | .fn       |    |
 *         ^                    '-----------'        '-----------'    |
 *         '----------------------------------------------------------'
 *
 *     PSD_LIST_EACH (link, &tasks) {
 *         struct task *task = PSD_CONTAINER_OF(link, struct task, link);
 *         ...
 *     }
 *
 * The ring through the list itself spares every special case at the ends. Linking allocates nothing
 * and cannot fail; the list owns none of its elements. It has no lock: it belongs to whoever owns
 * the structure that it is in. */
#ifndef PSD_BASE_LIST_H
#define PSD_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A list, or a place in one. An element that is in no list is a ring of its own. */
struct psd_list {
    struct psd_list *next, *prev; /* borrowed; never NULL after init */
};

/* The structure of type `type` whose member `member` is at `pointer`. */
#define PSD_CONTAINER_OF(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Visits each element from front to back; the body may remove the one it is at, but no other.
 * NOLINTBEGIN(bugprone-macro-parentheses): a name that is declared cannot stand in parentheses. */
#define PSD_LIST_EACH(at, list)                                                   \
    for (struct psd_list *at = (list)->next, *at##_next = at->next; at != (list); \
         at = at##_next, at##_next = at->next)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Makes `list` an empty list, or an element that is in no list. */
static inline void psd_list_init(struct psd_list *list)
{
    list->next = list;
    list->prev = list;
}

static inline bool psd_list_is_empty(const struct psd_list *list)
{
    return list->next == list;
}

/* The element in front; NULL when there is none. */
static inline struct psd_list *psd_list_first(const struct psd_list *list)
{
    return psd_list_is_empty(list) ? NULL : list->next;
}

/* Puts `element`, which is in no list, in front of the others. */
static inline void psd_list_push_front(struct psd_list *list, struct psd_list *element)
{
    element->prev = list;
    element->next = list->next;
    list->next->prev = element;
    list->next = element;
}

/* Puts `element`, which is in no list, behind the others. */
static inline void psd_list_push_back(struct psd_list *list, struct psd_list *element)
{
    psd_list_push_front(list->prev, element); /* in a ring, the back is before the front */
}

/* Takes `element` out of its list; one that is in none stays so. */
static inline void psd_list_remove(struct psd_list *element)
{
    element->prev->next = element->next;
    element->next->prev = element->prev;
    psd_list_init(element);
}

#endif
