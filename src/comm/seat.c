/* seat.c - what comes from other members, as long as there is no node to hand it to; and the end. */
#include "comm/seat.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

/* Tells a member, or with `to` == ranks all, how the job has ended. Who does not hear it hears that we
 * close. */
static void tell_end(struct psd_comm *comm, unsigned to)
{
    const char *sentence = comm->sentence ? comm->sentence : "another rank is out of memory";

    (void)psd_letters_send(&comm->letters, PSD_MESSAGE_END, (uint32_t)-comm->status, to, sentence,
                           strlen(sentence));
}

void psd_seat_end(struct psd_comm *comm, psd_status status, const char *sentence)
{
    if (atomic_load(&comm->ended))
        return;
    if (comm->node) {
        psd_node_end(comm->node, status, sentence);
        return;
    }
    psd_seat_note_end(comm, status, sentence);
    tell_end(comm, comm->ranks);
}

void psd_seat_check(struct psd_comm *comm, psd_status status)
{
    if (status != PSD_OK)
        psd_seat_end(comm, status, psd_error());
}

/* Who comes when the job has ended already is told why. */
static void joined(void *user, unsigned from)
{
    struct psd_comm *comm = user;

    comm->joined++;
    comm->members[from].joined = true;
    if (atomic_load(&comm->ended))
        tell_end(comm, from);
    else
        psd_seat_joined(comm, from);
}

static void lost(void *user, unsigned from, const char *why)
{
    struct psd_comm *comm = user;

    psd_letters_forget(&comm->letters, from);
    if (comm->node)
        psd_node_lost(comm->node, from, why);
    else if (!atomic_load(&comm->ended))
        psd_seat_lost(comm, from, why);
}

static void stranger(void *user, unsigned rank)
{
    struct psd_comm *comm = user;
    char sentence[256];

    if (rank < comm->ranks)
        snprintf(sentence, sizeof sentence, "two processes want to be rank %u at %s", rank,
                 comm->coordinator);
    else
        snprintf(sentence, sizeof sentence,
                 "a process wants to be rank %u at %s, where %u ranks are", rank, comm->coordinator,
                 comm->ranks);
    psd_seat_end(comm, PSD_EPEER, sentence);
}

static bool is_letter(const struct psd_comm *comm, enum psd_message_kind kind)
{
    switch (kind) {
    case PSD_MESSAGE_JOIN:
    case PSD_MESSAGE_ROSTER:
    case PSD_MESSAGE_PARAMS:
    case PSD_MESSAGE_PLAN:
    case PSD_MESSAGE_PARTED:
    case PSD_MESSAGE_MEASURE:
    case PSD_MESSAGE_PING:
    case PSD_MESSAGE_PONG:
    case PSD_MESSAGE_MEASURED:
    case PSD_MESSAGE_CAME:
        return true;
    default:
        return kind == PSD_MESSAGE_END && !comm->node;
    }
}

static psd_status place(void *user, unsigned from, const struct psd_message *message,
                        struct psd_place *out)
{
    struct psd_comm *comm = user;

    if (message->from != from)
        return psd_fail(PSD_EPEER, "rank %u speaks as rank %u", from, message->from);
    if (is_letter(comm, message->kind))
        return psd_letters_place(&comm->letters, message, out);
    if (message->kind == PSD_MESSAGE_FLOW)
        return psd_seat_place_flow(comm, from, message, out);
    if (comm->node)
        psd_node_place(comm->node, from, message, out);
    else if (atomic_load(&comm->ended))
        out->spans[0].bytes = message->length; /* nowhere; behind it may be how others have ended */
    else
        out->later = true; /* the sender has the plan, and it is on its way here */
    return PSD_OK;
}

/* Another member ends the job. It may not reach all, and whoever closes first must not be taken for
 * the cause: everybody passes it on. */
static void take_end(struct psd_comm *comm, const struct psd_message *message)
{
    const struct psd_pack *letter = psd_letters_inbox(&comm->letters, message->from);

    psd_seat_end(comm, psd_message_status(message), (const char *)letter->bytes);
}

static psd_status take_measuring(struct psd_comm *comm, unsigned from, enum psd_message_kind kind)
{
    bool is_time = comm->job && !comm->node;

    if (kind == PSD_MESSAGE_MEASURE && from == 0 && is_time)
        return psd_seat_take_measure(comm);
    if (kind == PSD_MESSAGE_PING && is_time)
        return psd_seat_take_ping(comm, from);
    if (kind == PSD_MESSAGE_PONG && is_time)
        return psd_seat_take_pong(comm, from);
    if (kind == PSD_MESSAGE_MEASURED && comm->roster && is_time)
        return psd_seat_take_measured(comm, from);
    return psd_fail(PSD_EPEER, "rank %u sends %s out of turn", from, psd_message_name(kind));
}

static psd_status take_letter(struct psd_comm *comm, unsigned from, enum psd_message_kind kind)
{
    const struct psd_pack *letter = psd_letters_inbox(&comm->letters, from);

    if (kind == PSD_MESSAGE_JOIN && comm->roster)
        return psd_seat_take_join(comm, from);
    if (kind == PSD_MESSAGE_ROSTER && from == 0 && !comm->job)
        return psd_seat_take_roster(comm, letter);
    if (kind == PSD_MESSAGE_PARAMS && comm->roster && comm->job)
        return psd_seat_take_params(comm, from);
    if (kind == PSD_MESSAGE_PLAN && from == 0 && !comm->node)
        return psd_seat_take_plan(comm, letter);
    if (kind == PSD_MESSAGE_PARTED && comm->node) {
        comm->members[from].parted = true;
        return PSD_OK;
    }
    return take_measuring(comm, from, kind);
}

static void take(struct psd_comm *comm, unsigned from, const struct psd_message *message)
{
    if (message->kind == PSD_MESSAGE_END)
        take_end(comm, message);
    else if (!atomic_load(&comm->ended) && message->kind == PSD_MESSAGE_CAME)
        psd_seat_check(comm, psd_seat_take_came(comm, from, message->which));
    else if (!atomic_load(&comm->ended))
        psd_seat_check(comm, take_letter(comm, from, message->kind));
}

static psd_status arrived(void *user, unsigned from, const struct psd_message *message)
{
    struct psd_comm *comm = user;

    if (message->kind == PSD_MESSAGE_END)
        comm->members[from].ended = true;
    if (psd_letters_arrived(&comm->letters, message)) {
        take(comm, from, message);
    } else if (message->kind == PSD_MESSAGE_FLOW) {
        if (!atomic_load(&comm->ended))
            psd_seat_check(comm, psd_seat_take_flow(comm, message));
    } else if (comm->node) {
        psd_node_arrived(comm->node, message);
        if (message->kind == PSD_MESSAGE_LEAVE)
            psd_seat_note_leave(comm, from);
    }
    return PSD_OK;
}

static void sent(void *user, struct psd_frame *frame)
{
    struct psd_comm *comm = user;

    if (!psd_letters_sent(&comm->letters, frame) && !psd_seat_flow_sent(comm, frame))
        psd_node_sent(comm->node, PSD_CONTAINER_OF(frame, struct psd_send, frame));
}

static const struct psd_mesh_handler handler = {.joined = joined,
                                                .place = place,
                                                .arrived = arrived,
                                                .sent = sent,
                                                .lost = lost,
                                                .stranger = stranger};

static struct psd_net_config config_of(const struct psd_comm_options *options)
{
    return (struct psd_net_config){.job = options->job,
                                   .in_clear = options->in_clear,
                                   .no_ktls = options->no_ktls,
                                   .streams = options->streams,
                                   .lanes = options->lanes,
                                   .congestion = options->congestion,
                                   .window = options->window,
                                   .timeout_ns = options->timeout_ms * PSD_CLOCK_MS};
}

psd_status psd_seat_open_mesh(struct psd_comm *comm)
{
    struct psd_mesh_options options = {.transport = comm->transport,
                                       .address = comm->address,
                                       .towards = comm->options.rank ? comm->first : NULL,
                                       .loop = comm->loop,
                                       .rank = comm->options.rank,
                                       .ranks = comm->ranks,
                                       .key = comm->options.key,
                                       .key_size = comm->options.key_size,
                                       .config = config_of(&comm->options),
                                       .handler = &handler,
                                       .user = comm};

    PSD_TRY(psd_letters_init(&comm->letters, comm->options.rank, comm->ranks));
    PSD_TRY(psd_mesh_open(&options, &comm->mesh));
    comm->letters.mesh = comm->mesh;
    return PSD_OK;
}

void psd_seat_leave(void *arg)
{
    struct psd_comm *comm = arg;

    psd_loop_cancel(comm->loop, &comm->retry);
    psd_loop_cancel(comm->loop, &comm->overdue);
    psd_seat_tell_refused(comm);
    psd_mesh_close(comm->mesh);
    psd_seat_free_flow(comm);
    psd_letters_fini(&comm->letters);
    comm->mesh = NULL;
}
