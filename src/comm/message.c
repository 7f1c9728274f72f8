/* message.c - the header, number by number; message.h has it byte by byte. */
#include "comm/message.h"
#include "base/little.h"
#include "base/status.h"

static const char *const names[PSD_MESSAGE_KINDS] = {
    [PSD_MESSAGE_HELLO] = "hello",       [PSD_MESSAGE_PUSH] = "push",
    [PSD_MESSAGE_VALUE] = "value",       [PSD_MESSAGE_INITIAL] = "initial",
    [PSD_MESSAGE_FACTORS] = "factors",   [PSD_MESSAGE_SQUARES] = "squares",
    [PSD_MESSAGE_SCALE] = "scale",       [PSD_MESSAGE_GIVE] = "give",
    [PSD_MESSAGE_TAKE] = "take",         [PSD_MESSAGE_WHO] = "who",
    [PSD_MESSAGE_MISSING] = "missing",   [PSD_MESSAGE_END] = "end",
    [PSD_MESSAGE_JOIN] = "join",         [PSD_MESSAGE_ROSTER] = "roster",
    [PSD_MESSAGE_PARAMS] = "params",     [PSD_MESSAGE_PLAN] = "plan",
    [PSD_MESSAGE_LEAVE] = "leave",       [PSD_MESSAGE_PARTED] = "parted",
    [PSD_MESSAGE_MEASURE] = "measure",   [PSD_MESSAGE_PING] = "ping",
    [PSD_MESSAGE_PONG] = "pong",         [PSD_MESSAGE_FLOW] = "flow",
    [PSD_MESSAGE_MEASURED] = "measured", [PSD_MESSAGE_FETCH] = "fetch",
    [PSD_MESSAGE_STATE] = "state",       [PSD_MESSAGE_CAME] = "came",
};

void psd_message_encode(const struct psd_message *message, unsigned char out[PSD_MESSAGE_SIZE])
{
    psd_little_put(out, message->kind, 1);
    psd_little_put(out + 1, message->from, 3);
    psd_little_put(out + 4, message->rate, 4);
    psd_little_put(out + 8, message->iteration, 8);
    psd_little_put(out + 16, message->subject, 4);
    psd_little_put(out + 20, message->which, 4);
    psd_little_put(out + 24, message->first, 4);
    psd_little_put(out + 28, message->count, 4);
    psd_little_put(out + 32, message->length, 8);
}

psd_status psd_message_decode(const unsigned char header[PSD_MESSAGE_SIZE],
                              struct psd_message *message)
{
    uint64_t kind = psd_little_get(header, 1);

    if (kind == 0 || kind >= PSD_MESSAGE_KINDS)
        return psd_fail(PSD_EPEER,
                        "a message begins with %02x %02x %02x %02x, which is no kind of message: "
                        "let all processes run the same version of Poseidon",
                        header[0], header[1], header[2], header[3]);
    *message = (struct psd_message){
        .kind = (enum psd_message_kind)kind,
        .from = (uint32_t)psd_little_get(header + 1, 3),
        .rate = (uint32_t)psd_little_get(header + 4, 4),
        .iteration = psd_little_get(header + 8, 8),
        .subject = (uint32_t)psd_little_get(header + 16, 4),
        .which = (uint32_t)psd_little_get(header + 20, 4),
        .first = (uint32_t)psd_little_get(header + 24, 4),
        .count = (uint32_t)psd_little_get(header + 28, 4),
        .length = psd_little_get(header + 32, 8),
    };
    return PSD_OK;
}

psd_status psd_message_status(const struct psd_message *end)
{
    return end->which == (uint32_t)-PSD_ETIMEOUT ? PSD_ETIMEOUT : PSD_EPEER;
}

const char *psd_message_name(enum psd_message_kind kind)
{
    return (unsigned)kind < PSD_MESSAGE_KINDS && names[kind] ? names[kind] : "unknown";
}
