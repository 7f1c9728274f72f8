/* pack.c - byte by byte. */
#include "comm/pack.h"
#include "base/alloc.h"
#include "base/little.h"
#include "base/status.h"

#include <string.h>

static void put(struct psd_pack *pack, const void *bytes, size_t count)
{
    if (pack->status != PSD_OK)
        return;
    if (pack->room - pack->length < count) {
        size_t room = 2 * pack->room + count;
        unsigned char *more = psd_alloc_resize(pack->bytes, room, 1);
        if (!more) {
            pack->status = PSD_ENOMEM;
            return;
        }
        pack->bytes = more;
        pack->room = room;
    }
    memcpy(pack->bytes + pack->length, bytes, count);
    pack->length += count;
}

static void put_number(struct psd_pack *pack, uint64_t number, size_t count)
{
    unsigned char bytes[8];

    psd_little_put(bytes, number, count);
    put(pack, bytes, count);
}

void psd_pack_u32(struct psd_pack *pack, uint32_t number)
{
    put_number(pack, number, sizeof number);
}

void psd_pack_u64(struct psd_pack *pack, uint64_t number)
{
    put_number(pack, number, sizeof number);
}

void psd_pack_f32(struct psd_pack *pack, float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    psd_pack_u32(pack, bits);
}

void psd_pack_text(struct psd_pack *pack, const char *text)
{
    size_t length = strlen(text);

    psd_pack_u32(pack, (uint32_t)length);
    put(pack, text, length);
}

void psd_pack_fini(struct psd_pack *pack)
{
    psd_alloc_free(pack->bytes);
    *pack = (struct psd_pack){.bytes = NULL};
}

/* The next `count` bytes; NULL: there are not as many, or something has failed before. */
static const unsigned char *get(struct psd_unpack *unpack, size_t count)
{
    const unsigned char *bytes = unpack->at;

    if (unpack->status == PSD_OK && unpack->left < count)
        unpack->status = PSD_EPEER;
    if (unpack->status != PSD_OK)
        return NULL;
    unpack->at += count;
    unpack->left -= count;
    return bytes;
}

static uint64_t get_number(struct psd_unpack *unpack, size_t count)
{
    const unsigned char *bytes = get(unpack, count);

    return bytes ? psd_little_get(bytes, count) : 0;
}

uint32_t psd_unpack_u32(struct psd_unpack *unpack)
{
    return (uint32_t)get_number(unpack, sizeof(uint32_t));
}

uint64_t psd_unpack_u64(struct psd_unpack *unpack)
{
    return get_number(unpack, sizeof(uint64_t));
}

float psd_unpack_f32(struct psd_unpack *unpack)
{
    uint32_t bits = psd_unpack_u32(unpack);
    float number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

char *psd_unpack_text(struct psd_unpack *unpack, size_t most)
{
    size_t length = psd_unpack_u32(unpack);
    const unsigned char *bytes = get(unpack, length);

    if (!bytes)
        return NULL;
    if (length > most || memchr(bytes, 0, length)) {
        unpack->status = PSD_EPEER;
        return NULL;
    }
    char *text = psd_alloc(length + 1);
    if (!text) {
        unpack->status = PSD_ENOMEM;
        return NULL;
    }
    memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

psd_status psd_unpack_end(const struct psd_unpack *unpack, unsigned from, const char *what)
{
    if (unpack->status == PSD_ENOMEM)
        return PSD_ENOMEM;
    if (unpack->status != PSD_OK || unpack->left)
        return psd_fail(PSD_EPEER, "rank %u sends %s that cannot be read", from, what);
    return PSD_OK;
}
