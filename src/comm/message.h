/* message.h - what members say to each other: a header of 40 bytes and a payload.
 *
 *     offset  bytes
 *          0      1   kind
 *          1      3   from: the sender's rank
 *          4      4   rate: of the sender's iteration, the bits of a float; in push and factors
 *          8      8   iteration, or the number of a collective
 *         16      4   subject: a piece, a part, a parameter or a kind of collective
 *         20      4   which: an input of the merge, a logical worker, a state, or as the kind says
 *         24      4   first: part of a shared piece, which message of several, or as the kind says
 *         28      4   count: parts from there on, or as the kind says
 *         32      8   length of the payload in bytes
 *
 * All numbers are little-endian. Transports carry header and payload whole (net/transport.h); a
 * header is checked against the layout before anything is done with it. */
#ifndef PSD_COMM_MESSAGE_H
#define PSD_COMM_MESSAGE_H

#include "poseidon/status.h"

#include <stddef.h>
#include <stdint.h>

enum { PSD_MESSAGE_SIZE = 40 };

enum psd_message_kind {
    PSD_MESSAGE_HELLO = 1, /* the first on a connection: who we are */
    PSD_MESSAGE_PUSH,      /* parts of a piece, summed over `which` input: worker to server */
    PSD_MESSAGE_VALUE,     /* parts of a piece, updated or summed: server to all */
    PSD_MESSAGE_INITIAL,   /* a piece's initial value: host of worker 0 to server, server to all */
    PSD_MESSAGE_FACTORS, /* subject: the weight; which: the worker. Rows of u for the receiver, v */
    PSD_MESSAGE_SQUARES, /* block sums of what the sender owns, for clipping: to rank 0 */
    PSD_MESSAGE_SCALE,   /* which: the bits of a float, what clipping leaves: rank 0 to all */
    PSD_MESSAGE_GIVE,    /* a member's part in a sum: to rank 0; or its call for a copy */
    PSD_MESSAGE_TAKE,    /* the sum: rank 0 to all; or the copy: host of worker 0 to all */
    PSD_MESSAGE_WHO,     /* subject: a part. Whose gradient of it is missing? to its server */
    PSD_MESSAGE_MISSING, /* the answer; first: a rank's, or UINT32_MAX: nobody's */
    PSD_MESSAGE_END,     /* the job ends; payload: the sentence; which: a psd_status, negated */
    PSD_MESSAGE_JOIN,    /* a member's options: to rank 0 */
    PSD_MESSAGE_ROSTER,  /* everybody's: rank 0 to all */
    PSD_MESSAGE_PARAMS,  /* a member's parameters: to rank 0 */
    PSD_MESSAGE_PLAN,    /* forms, routes and the window: rank 0 to all */
    PSD_MESSAGE_LEAVE,   /* the sender closes its seat; iteration: the first that it does not sync;
                            first, count, which: sums, copies and saves that it took part in */
    PSD_MESSAGE_PARTED,  /* the answer: the receiver has all that it needs from who leaves */
    PSD_MESSAGE_MEASURE, /* let us measure the network: rank 0 to all */
    PSD_MESSAGE_PING,    /* an answer is wanted at once: to the next rank */
    PSD_MESSAGE_PONG,    /* it */
    PSD_MESSAGE_FLOW, /* any bytes: to the next rank; count: 0, or, in the last, of all before it */
    PSD_MESSAGE_MEASURED, /* what a member has measured: to rank 0 */
    PSD_MESSAGE_FETCH, /* subject: a parameter; which: a state of it, wanted by the host of worker 0 */
    PSD_MESSAGE_STATE, /* subject: a part of it; which: the same. Who keeps it to host of worker 0 */
    PSD_MESSAGE_CAME,  /* a piece of a flow; which: its bytes. The answer to who has sent it */
    PSD_MESSAGE_KINDS
};

struct psd_message {
    enum psd_message_kind kind;
    uint32_t from; /* below 2^24 */
    uint32_t rate;
    uint64_t iteration;
    uint32_t subject, which, first, count;
    uint64_t length;
};

void psd_message_encode(const struct psd_message *message, unsigned char out[PSD_MESSAGE_SIZE]);

/* PSD_EPEER: not a header of ours. */
psd_status psd_message_decode(const unsigned char header[PSD_MESSAGE_SIZE],
                              struct psd_message *message);

/* What an END's status is to who hears it: PSD_ETIMEOUT as it is, and of all else PSD_EPEER, since the
 * mistake is another's. */
psd_status psd_message_status(const struct psd_message *end);

/* The name of a kind, such as "push"; never NULL. */
const char *psd_message_name(enum psd_message_kind kind);

#endif
