/* seat_measure.c - measures the network before the plan is made.
 *
 *     rank 0   all have called psd_comm_start --> measure --> all
 *     all      | pings to the next rank | warm-up | pieces to the next rank | measured --> rank 0
 *              0                      60 ms      100                      300 ms
 *     rank 0   all have measured --> plan --> all
 *
 * The pieces are seat_flow.c's. What is made of all this is in measure.h. */
#include "comm/seat_measure.h"
#include "base/clock.h"
#include "base/status.h"

static const uint64_t ping_ns = 60 * PSD_CLOCK_MS;

psd_status psd_seat_out_of_turn(unsigned from, enum psd_message_kind kind)
{
    return psd_fail(PSD_EPEER, "rank %u sends %s out of turn", from, psd_message_name(kind));
}

/* --- results ---------------------------------------------------------------------------------- */

static psd_status use_results(struct psd_comm *comm)
{
    struct psd_measured out = {0, 0};

    PSD_TRY(psd_measure_combine(comm->flow->all, comm->ranks, &out, &comm->network.slowest));
    comm->network.bandwidth = (double)out.bandwidth;
    comm->network.bandwidth_is = "measured";
    if (comm->options.latency <= 0) {
        comm->network.latency = (double)out.latency_ns / (double)PSD_CLOCK_S;
        comm->network.latency_is = "measured";
    }
    return psd_seat_plan(comm);
}

static psd_status note_result(struct psd_comm *comm, unsigned from,
                              const struct psd_measured *measured)
{
    struct psd_seat_flow *flow = comm->flow;

    if (!flow || !flow->begin_ns || flow->all[from].bandwidth)
        return psd_seat_out_of_turn(from, PSD_MESSAGE_MEASURED);
    flow->all[from] = *measured;
    return ++flow->came == comm->ranks ? use_results(comm) : PSD_OK;
}

psd_status psd_seat_take_measured(struct psd_comm *comm, unsigned from)
{
    const struct psd_pack *letter = psd_letters_inbox(&comm->letters, from);
    struct psd_measured measured;

    PSD_TRY(psd_measure_read(from, letter->bytes, letter->length, &measured));
    return note_result(comm, from, &measured);
}

static psd_status send_result(struct psd_comm *comm, const struct psd_measured *measured)
{
    struct psd_pack pack = {.bytes = NULL};
    psd_status status = psd_measure_pack(measured, &pack);

    if (status == PSD_OK)
        status =
            psd_letters_send(&comm->letters, PSD_MESSAGE_MEASURED, 0, 0, pack.bytes, pack.length);
    psd_pack_fini(&pack);
    return status;
}

psd_status psd_seat_check_measured(struct psd_comm *comm)
{
    struct psd_seat_flow *flow = comm->flow;

    if (flow->is_told || !flow->begin_ns || flow->asked_ns || !psd_measure_is_done(&flow->seen))
        return PSD_OK;
    flow->is_told = true;
    struct psd_measured result = psd_measure_result(&flow->seen, flow->begin_ns + ping_ns);
    return comm->options.rank == 0 ? note_result(comm, 0, &result) : send_result(comm, &result);
}

/* --- round trips ------------------------------------------------------------------------------ */

static psd_status ping(struct psd_comm *comm)
{
    comm->flow->asked_ns = psd_clock_now();
    return psd_letters_send(&comm->letters, PSD_MESSAGE_PING, 0, psd_seat_next_rank(comm), NULL, 0);
}

psd_status psd_seat_take_ping(struct psd_comm *comm, unsigned from)
{
    return psd_letters_send(&comm->letters, PSD_MESSAGE_PONG, 0, from, NULL, 0);
}

/* No ping is begun in the last quarter of their time: its answer should not meet the flow. */
psd_status psd_seat_take_pong(struct psd_comm *comm, unsigned from)
{
    struct psd_seat_flow *flow = comm->flow;
    uint64_t now_ns = psd_clock_now();

    if (!flow || !flow->asked_ns || from != psd_seat_next_rank(comm))
        return psd_seat_out_of_turn(from, PSD_MESSAGE_PONG);
    psd_measure_round(&flow->seen, now_ns - flow->asked_ns);
    flow->asked_ns = 0;
    if (flow->seen.n_rounds < PSD_MEASURE_ROUNDS && now_ns < flow->begin_ns + ping_ns / 4 * 3)
        return ping(comm);
    return psd_seat_check_measured(comm);
}

static psd_status begin(struct psd_comm *comm)
{
    PSD_TRY(psd_seat_make_flow(comm));
    comm->flow->begin_ns = psd_clock_now();
    PSD_TRY(psd_loop_at(comm->loop, comm->flow->begin_ns + ping_ns, psd_seat_start_flow, comm,
                        &comm->flow->timer));
    return ping(comm);
}

psd_status psd_seat_measure(struct psd_comm *comm)
{
    PSD_TRY(psd_letters_send(&comm->letters, PSD_MESSAGE_MEASURE, 0, comm->ranks, NULL, 0));
    return begin(comm);
}

psd_status psd_seat_take_measure(struct psd_comm *comm)
{
    if (!comm->has_offered[comm->options.rank] || (comm->flow && comm->flow->begin_ns))
        return psd_seat_out_of_turn(0, PSD_MESSAGE_MEASURE);
    return begin(comm);
}
