/* stream_fuzz.c - any bytes after the handshake, and frames of ours with anything changed in them.
 *
 * The input is a list of orders, a byte each with what it needs behind it:
 *
 *     0  n  bytes...     n bytes as they are
 *     1  n               a right frame with n bytes of payload
 *     2  n  at  xor      the same with one byte changed after it was sealed
 *     3  n  at  xor      the same with one byte of its head changed before: a member that lies
 *     4                  a right beat
 *
 * The reader arrives at right frames only, as long as all before them were right, refuses one frame at
 * most, counts why, and then is over. */
#define TEST_STOP() abort()
#include "fuzz.h"
#include "stream_bytes.h"

static struct mouth mouth; /* one handshake for all inputs */

/* What is said in one run. */
struct speech {
    unsigned char bytes[1 << 14];
    size_t count;
    unsigned right; /* frames with data before the first that is not right */
    bool is_right;
};

static unsigned char next(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    (*size)--;
    return *(*data)++;
}

static void add_bytes(struct speech *speech, const uint8_t **data, size_t *size)
{
    size_t count = next(data, size);

    count = count < *size ? count : *size;
    memcpy(speech->bytes + speech->count, *data, count);
    speech->count += count;
    *data += count;
    *size -= count;
    speech->is_right &= count == 0;
}

static void add_frame(struct speech *speech, unsigned order, const uint8_t **data, size_t *size)
{
    static const unsigned char zeros[256];
    unsigned char *at = speech->bytes + speech->count;
    size_t length = order == 4 ? 0 : next(data, size);
    struct psd_wire_head head = {.kind = order == 4 ? PSD_WIRE_BEAT : PSD_WIRE_DATA,
                                 .length = length};
    size_t count = make_frame(&mouth, head, zeros, at);

    if (order == 2 || order == 3) {
        size_t where = next(data, size) % (order == 2 ? count : PSD_WIRE_SEALED);
        unsigned char change = next(data, size);
        at[where] ^= change;
        bool is_header = order == 3 && where >= 32; /* which may be anything */
        speech->is_right &= change == 0 || is_header;
        if (order == 3)
            psd_seal_put(mouth.seals[0], at);
    }
    speech->count += count;
    speech->right += speech->is_right && order != 4;
}

static void prepare(struct speech *speech, const uint8_t *data, size_t size)
{
    speech->right = 0;
    speech->is_right = true;
    speech->count =
        make_frame(&mouth, (struct psd_wire_head){.kind = PSD_WIRE_OPEN}, NULL, speech->bytes);
    while (size > 0 && speech->count < sizeof speech->bytes - 512) {
        unsigned order = next(&data, &size) % 5;
        if (order == 0)
            add_bytes(speech, &data, &size);
        else
            add_frame(speech, order, &data, &size);
    }
}

/* Listens to the end; says how many frames have arrived. */
static unsigned listen_to(void)
{
    enum psd_reader_news news = PSD_READER_NOTHING;
    unsigned arrived = 0;
    psd_status status = PSD_OK;

    psd_reader_turn(&mouth.reader, SIZE_MAX);
    do {
        status = psd_reader_step(&mouth.reader, &news);
        if (status == PSD_OK && news == PSD_READER_HEAD)
            status = mouth.reader.head.length > MOUTH_MOST ? PSD_EPEER : give_place(&mouth, false);
        arrived += status == PSD_OK && news == PSD_READER_ARRIVED;
    } while (status == PSD_OK && news != PSD_READER_NOTHING && news != PSD_READER_BYE);
    if (mouth.reader.refusal != PSD_READER_FINE)
        CHECK(status == PSD_EPEER && psd_reader_step(&mouth.reader, &news) == PSD_EPEER);
    return arrived;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct speech speech;
    unsigned char rest[4096];

    if (!mouth.pair.trust)
        open_mouth(&mouth);
    psd_reader_fini(&mouth.reader);
    start_reader(&mouth);
    prepare(&speech, data, size);
    say_bytes(&mouth, speech.bytes, speech.count);
    unsigned arrived = listen_to();
    CHECK(arrived >= speech.right && (!speech.is_right || arrived == speech.right));
    CHECK(!speech.is_right || mouth.reader.refusal == PSD_READER_FINE);
    while (recv(psd_channel_fd(mouth.pair.channels[1]), rest, sizeof rest, 0) > 0)
        ;
    return 0;
}
