/* letters.c - copies out, and an inbox for each sender. */
#include "comm/letters.h"
#include "base/alloc.h"
#include "base/status.h"

#include <string.h>

enum { LONGEST = 64 << 20 };

struct psd_letter {
    struct psd_frame frame;
    struct psd_letter *next; /* owned */
    unsigned to;
    unsigned char bytes[];
};

psd_status psd_letters_init(struct psd_letters *letters, unsigned rank, unsigned ranks)
{
    *letters = (struct psd_letters){.rank = rank, .ranks = ranks};
    letters->inbox = psd_alloc_zero(ranks, sizeof *letters->inbox);
    letters->coming = psd_alloc_zero(ranks, sizeof *letters->coming);
    return letters->inbox && letters->coming ? PSD_OK : PSD_ENOMEM;
}

void psd_letters_fini(struct psd_letters *letters)
{
    struct psd_letter *next;

    for (struct psd_letter *letter = letters->first; letter; letter = next) {
        next = letter->next;
        psd_alloc_free(letter);
    }
    for (unsigned i = 0; letters->inbox && i < letters->ranks; i++)
        psd_pack_fini(&letters->inbox[i]);
    psd_alloc_free(letters->inbox);
    psd_alloc_free(letters->coming);
    *letters = (struct psd_letters){.mesh = NULL};
}

static psd_status send_one(struct psd_letters *letters, struct psd_message message, unsigned to,
                           const void *bytes)
{
    struct psd_letter *letter = psd_alloc_zero(1, sizeof *letter + message.length);

    if (!letter)
        return PSD_ENOMEM;
    if (message.length)
        memcpy(letter->bytes, bytes, message.length);
    psd_message_encode(&message, letter->frame.header);
    letter->frame.payload[0] = (struct psd_span){letter->bytes, message.length};
    letter->to = to;
    letter->next = letters->first;
    letters->first = letter;
    psd_mesh_send(letters->mesh, to, &letter->frame);
    return PSD_OK;
}

psd_status psd_letters_send(struct psd_letters *letters, enum psd_message_kind kind, uint32_t which,
                            unsigned to, const void *bytes, size_t length)
{
    struct psd_message message = {
        .kind = kind, .from = letters->rank, .which = which, .length = length};

    for (unsigned i = 0; letters->mesh && i < letters->ranks; i++) {
        bool wanted = to == letters->ranks || to == i;
        if (wanted && i != letters->rank && psd_mesh_has(letters->mesh, i))
            PSD_TRY(send_one(letters, message, i, bytes));
    }
    return PSD_OK;
}

bool psd_letters_sent(struct psd_letters *letters, struct psd_frame *frame)
{
    for (struct psd_letter **at = &letters->first; *at; at = &(*at)->next) {
        struct psd_letter *letter = *at;
        if (&letter->frame != frame)
            continue;
        *at = letter->next;
        psd_alloc_free(letter);
        return true;
    }
    return false;
}

void psd_letters_forget(struct psd_letters *letters, unsigned rank)
{
    letters->coming[rank] = (enum psd_message_kind)0;
    for (struct psd_letter **at = &letters->first; *at;) {
        struct psd_letter *letter = *at;
        if (letter->to == rank) {
            *at = letter->next;
            psd_alloc_free(letter);
        } else {
            at = &letter->next;
        }
    }
}

psd_status psd_letters_place(struct psd_letters *letters, const struct psd_message *message,
                             struct psd_place *place)
{
    struct psd_pack *inbox = &letters->inbox[message->from];

    if (message->length > LONGEST)
        return psd_fail(PSD_EPEER, "rank %u sends %s of %llu bytes; %d is the most", message->from,
                        psd_message_name(message->kind), (unsigned long long)message->length,
                        LONGEST);
    if (letters->coming[message->from]) {
        place->later = true;
        return PSD_OK;
    }
    psd_pack_fini(inbox);
    inbox->bytes = psd_alloc(message->length + 1);
    if (!inbox->bytes)
        return PSD_ENOMEM;
    letters->coming[message->from] = message->kind;
    inbox->length = message->length;
    inbox->bytes[message->length] = '\0';
    place->spans[0].data = inbox->bytes;
    place->spans[0].bytes = message->length;
    return PSD_OK;
}

bool psd_letters_arrived(struct psd_letters *letters, const struct psd_message *message)
{
    if (letters->coming[message->from] != message->kind)
        return false;
    letters->coming[message->from] = (enum psd_message_kind)0;
    return true;
}

const struct psd_pack *psd_letters_inbox(const struct psd_letters *letters, unsigned from)
{
    return &letters->inbox[from];
}

bool psd_letters_busy(const struct psd_letters *letters)
{
    return letters->first != NULL;
}
