/* seat_flow.c - pieces to the next rank for a while, and pieces from the rank before.
 *
 *     piece, piece, ... ==> next rank       what is not answered is at most as much as was, and 256 KB
 *     piece ==> ...     <-- came
 *
 * They begin small and grow as long as they leave quickly. But that the kernel has taken a piece says
 * nothing about the link: answers do, so a slow one is not filled for seconds. The receiver has a few
 * places, and says "later" when they are full. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "comm/seat_measure.h"

static const uint64_t flow_ns = 240 * PSD_CLOCK_MS, quick_ns = 8 * PSD_CLOCK_MS;
static const uint64_t at_first = 256 << 10; /* bytes that need no answer */

void psd_seat_free_flow(struct psd_comm *comm)
{
    struct psd_seat_flow *flow = comm->flow;

    if (!flow)
        return;
    psd_loop_cancel(comm->loop, &flow->timer);
    psd_alloc_free(flow->source);
    psd_alloc_free(flow->places);
    psd_alloc_free(flow->all);
    psd_alloc_free(flow);
    comm->flow = NULL;
}

void psd_seat_end_flow(struct psd_comm *comm)
{
    if (comm->flow && comm->flow->is_over && comm->node)
        psd_seat_free_flow(comm);
}

/* What comes from the rank before may be here sooner than rank 0's word. */
psd_status psd_seat_make_flow(struct psd_comm *comm)
{
    if (comm->flow)
        return PSD_OK;
    struct psd_seat_flow *flow = comm->flow = psd_alloc_zero(1, sizeof *flow);
    if (!flow)
        return PSD_ENOMEM;
    flow->source = psd_alloc(PSD_SEAT_LARGEST);
    flow->places = psd_alloc((size_t)PSD_SEAT_WINDOW * PSD_SEAT_LARGEST);
    flow->all = psd_alloc_zero(comm->ranks, sizeof *flow->all);
    return flow->source && flow->places && flow->all ? PSD_OK : PSD_ENOMEM;
}

/* --- the flow to the next rank ---------------------------------------------------------------- */

/* Bytes that may be sent now. */
static uint64_t room_for(const struct psd_seat_flow *flow)
{
    return at_first + 2 * flow->answered - flow->sent;
}

static void send_piece(struct psd_comm *comm, struct psd_seat_piece *piece, size_t bytes)
{
    struct psd_seat_flow *flow = comm->flow;
    struct psd_message message = {.kind = PSD_MESSAGE_FLOW,
                                  .from = comm->options.rank,
                                  .first = flow->pieces_n++,
                                  .length = bytes};

    psd_message_encode(&message, piece->frame.header);
    piece->frame.payload[0] = (struct psd_span){flow->source, bytes};
    piece->sent_ns = psd_clock_now();
    flow->sent += bytes;
    flow->in_flight++;
    psd_mesh_send(comm->mesh, psd_seat_next_rank(comm), &piece->frame);
}

static void send_last(struct psd_comm *comm)
{
    struct psd_seat_flow *flow = comm->flow;
    struct psd_message message = {
        .kind = PSD_MESSAGE_FLOW, .from = comm->options.rank, .count = flow->pieces_n};

    psd_message_encode(&message, flow->last.header);
    psd_mesh_send(comm->mesh, psd_seat_next_rank(comm), &flow->last);
}

/* When the time is over, and all that was sent is answered, so that no answer comes out of turn. */
static void end_if_done(struct psd_comm *comm)
{
    struct psd_seat_flow *flow = comm->flow;

    if (flow->in_flight == 0 && flow->answered == flow->sent && psd_clock_now() >= flow->until_ns)
        send_last(comm);
}

static void go_on(struct psd_comm *comm, struct psd_seat_piece *piece)
{
    struct psd_seat_flow *flow = comm->flow;
    uint64_t room = room_for(flow);

    piece->is_idle = room < PSD_SEAT_SMALLEST;
    bool is_time =
        psd_clock_now() < flow->until_ns || flow->sent == 0; /* without any it never ends */
    if (!piece->is_idle && is_time && !atomic_load(&comm->ended))
        send_piece(comm, piece, room < flow->size ? (size_t)room : flow->size);
}

static void piece_sent(struct psd_comm *comm, struct psd_seat_piece *piece)
{
    struct psd_seat_flow *flow = comm->flow;

    flow->in_flight--;
    if (psd_clock_now() - piece->sent_ns < quick_ns && flow->size < PSD_SEAT_LARGEST)
        flow->size *= 2;
    go_on(comm, piece);
    end_if_done(comm);
}

psd_status psd_seat_take_came(struct psd_comm *comm, unsigned from, uint32_t bytes)
{
    struct psd_seat_flow *flow = comm->flow;
    bool is_time = comm->job && !comm->node && flow;

    if (!is_time || from != psd_seat_next_rank(comm) || bytes == 0 ||
        bytes > flow->sent - flow->answered)
        return psd_seat_out_of_turn(from, PSD_MESSAGE_CAME);
    flow->answered += bytes;
    for (unsigned i = 0; i < PSD_SEAT_WINDOW; i++) {
        if (flow->pieces[i].is_idle)
            go_on(comm, &flow->pieces[i]);
    }
    end_if_done(comm);
    return PSD_OK;
}

bool psd_seat_flow_sent(struct psd_comm *comm, const struct psd_frame *frame)
{
    struct psd_seat_flow *flow = comm->flow;

    for (unsigned i = 0; flow && i < PSD_SEAT_WINDOW; i++) {
        if (frame == &flow->pieces[i].frame) {
            piece_sent(comm, &flow->pieces[i]);
            return true;
        }
    }
    if (!flow || frame != &flow->last)
        return false;
    flow->is_over = true;
    psd_seat_end_flow(comm);
    return true;
}

void psd_seat_start_flow(void *arg)
{
    struct psd_comm *comm = arg;
    struct psd_seat_flow *flow = comm->flow;

    if (atomic_load(&comm->ended))
        return;
    psd_random_fill_uniform(1, comm->options.rank, 0, PSD_SEAT_LARGEST / sizeof(float),
                            (float *)(void *)flow->source);
    flow->until_ns = psd_clock_now() + flow_ns;
    flow->size = PSD_SEAT_SMALLEST;
    for (unsigned i = 0; i < PSD_SEAT_WINDOW; i++)
        go_on(comm, &flow->pieces[i]);
}

static unsigned rank_before(const struct psd_comm *comm)
{
    return (comm->options.rank + comm->ranks - 1) % comm->ranks;
}

/* --- the flow from the rank before ------------------------------------------------------------ */

static psd_status check_flow(const struct psd_comm *comm, unsigned from,
                             const struct psd_message *message)
{
    bool is_piece = message->length != 0, is_last = message->count != 0;

    if (comm->node || from != rank_before(comm) || !comm->has_offered[comm->options.rank] ||
        message->length > PSD_SEAT_LARGEST || is_piece == is_last)
        return psd_seat_out_of_turn(from, message->kind);
    return PSD_OK;
}

psd_status psd_seat_place_flow(struct psd_comm *comm, unsigned from,
                               const struct psd_message *message, struct psd_place *place)
{
    unsigned i = 0;

    place->spans[0].bytes = message->length; /* nowhere, when the job has ended */
    if (atomic_load(&comm->ended))
        return PSD_OK;
    PSD_TRY(check_flow(comm, from, message));
    PSD_TRY(psd_seat_make_flow(comm));
    while (i < PSD_SEAT_WINDOW && comm->flow->slots[i].is_taken)
        i++;
    place->later = message->length && i == PSD_SEAT_WINDOW;
    if (!message->length || place->later)
        return PSD_OK;
    comm->flow->slots[i] = (struct psd_seat_slot){.is_taken = true, .number = message->first};
    place->spans[0].data = comm->flow->places + (size_t)i * PSD_SEAT_LARGEST;
    return PSD_OK;
}

psd_status psd_seat_take_flow(struct psd_comm *comm, const struct psd_message *message)
{
    struct psd_seat_flow *flow = comm->flow;

    if (message->count) {
        psd_measure_last(&flow->seen, message->count);
        return psd_seat_check_measured(comm);
    }
    for (unsigned i = 0; i < PSD_SEAT_WINDOW; i++) {
        if (flow->slots[i].number == message->first)
            flow->slots[i].is_taken = false;
    }
    psd_measure_piece(&flow->seen, psd_clock_now(), message->length);
    PSD_TRY(psd_letters_send(&comm->letters, PSD_MESSAGE_CAME, (uint32_t)message->length,
                             rank_before(comm), NULL, 0));
    return psd_seat_check_measured(comm);
}
