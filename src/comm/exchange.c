/* exchange.c - makes what is known of a weight whose factors are exchanged. */
#include "base/alloc.h"
#include "comm/node_state.h"

const struct psd_job_param *psd_exchange_weight(const struct psd_exchange *exchange)
{
    return &exchange->node->job->params[exchange->param];
}

bool psd_exchange_is_broadcast(const struct psd_exchange *exchange)
{
    enum psd_route route = psd_exchange_weight(exchange)->route;

    return route == PSD_ROUTE_BROADCAST || exchange->node->job->ranks == 1;
}

size_t psd_exchange_rows(const struct psd_exchange *exchange)
{
    return exchange->rows.end - exchange->rows.first;
}

struct psd_cut psd_exchange_cut(const struct psd_exchange *exchange, unsigned worker, size_t rows)
{
    size_t floats =
        exchange->node->job->batch[worker] * (rows + psd_exchange_weight(exchange)->cols);

    return psd_cut_of(floats * sizeof(float), exchange->node->layout->most);
}

struct psd_exchange *psd_exchange_find(const struct psd_node *node, size_t param)
{
    uint32_t index = param < node->job->n_params ? node->exchanges.of_param[param] : 0;

    return index ? &node->exchanges.all[index - 1] : NULL;
}

static psd_status init_one(struct psd_node *node, struct psd_exchange *exchange, size_t param)
{
    size_t bias = psd_job_follower(node->job, param);

    exchange->node = node;
    exchange->param = param;
    exchange->bias = bias < node->job->n_params ? bias : SIZE_MAX;
    exchange->rows = psd_layout_rows(node->layout, param, node->rank);
    if (!psd_exchange_is_broadcast(exchange))
        PSD_TRY(psd_exchange_init_own(exchange));
    if (psd_exchange_rows(exchange) == 0)
        return PSD_OK;
    PSD_TRY(psd_exchange_init_gathers(exchange));
    return psd_exchange_init_works(exchange);
}

static bool is_exchanged(const struct psd_job *job, size_t param)
{
    return psd_job_is_factored(job, param) && !psd_job_follows(job, param);
}

psd_status psd_exchange_init(struct psd_node *node)
{
    struct psd_exchanges *exchanges = &node->exchanges;

    exchanges->of_param = psd_alloc_zero(node->job->n_params, sizeof *exchanges->of_param);
    if (!exchanges->of_param)
        return PSD_ENOMEM;
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (is_exchanged(node->job, i))
            exchanges->of_param[i] = (uint32_t)++exchanges->count;
    }
    exchanges->all = psd_alloc_zero(exchanges->count, sizeof *exchanges->all);
    if (!exchanges->all)
        return PSD_ENOMEM;
    for (size_t i = 0; i < node->job->n_params; i++) {
        if (exchanges->of_param[i])
            PSD_TRY(init_one(node, &exchanges->all[exchanges->of_param[i] - 1], i));
    }
    return PSD_OK;
}

void psd_exchange_fini(struct psd_node *node)
{
    for (size_t i = 0; node->exchanges.all && i < node->exchanges.count; i++) {
        struct psd_exchange *exchange = &node->exchanges.all[i];
        psd_exchange_fini_works(exchange);
        psd_exchange_fini_gathers(exchange);
        psd_alloc_free(exchange->staging);
        psd_alloc_free(exchange->own);
    }
    psd_alloc_free(node->exchanges.all);
    psd_alloc_free(node->exchanges.of_param);
}

bool psd_exchange_is_whole(const struct psd_node *node, size_t param)
{
    const struct psd_exchange *exchange = psd_exchange_find(node, psd_job_leader(node->job, param));

    return exchange && psd_exchange_is_broadcast(exchange);
}
