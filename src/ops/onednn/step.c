/* step.c - primitives, their layouts and their scratch memory. */
#include "ops/onednn/step.h"

psd_status psd_onednn_status(dnnl_status_t status)
{
    switch (status) {
    case dnnl_success:
        return PSD_OK;
    case dnnl_out_of_memory:
        return psd_fail(PSD_ENOMEM, "oneDNN has no memory left");
    case dnnl_unimplemented:
        return PSD_ENOSUP;
    default:
        return psd_fail(PSD_EDEVICE, "oneDNN failed with status %d", (int)status);
    }
}

#define DNNL_TRY(call) PSD_TRY(psd_onednn_status(call))

/* Scratch memory is ours: oneDNN's own belongs to the thread that made the primitive, and any of ours
 * may run it. */
static psd_status make_primitive(struct psd_onednn_step *step, const void *operation,
                                 const_dnnl_primitive_desc_t hint)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_primitive_desc_t description = NULL;

    DNNL_TRY(dnnl_primitive_attr_create(&attributes));
    dnnl_status_t status =
        dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (status == dnnl_success)
        status =
            dnnl_primitive_desc_create(&description, operation, attributes, step->engine, hint);
    dnnl_primitive_attr_destroy(attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&step->primitive, description);
    if (description)
        dnnl_primitive_desc_destroy(description);
    return psd_onednn_status(status);
}

static const dnnl_memory_desc_t *layout_of(const struct psd_onednn_step *step, int arg)
{
    const_dnnl_primitive_desc_t description = NULL;

    if (dnnl_primitive_get_primitive_desc(step->primitive, &description) != dnnl_success)
        return NULL;
    return dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, arg);
}

psd_status psd_onednn_step_open(struct psd_onednn_step *step, dnnl_engine_t engine,
                                const void *operation, const_dnnl_primitive_desc_t hint)
{
    *step = (struct psd_onednn_step){.engine = engine};
    PSD_TRY(make_primitive(step, operation, hint));
    const dnnl_memory_desc_t *scratch = layout_of(step, DNNL_ARG_SCRATCHPAD);
    if (!scratch || dnnl_memory_desc_get_size(scratch) == 0)
        return PSD_OK;
    return psd_onednn_status(
        dnnl_memory_create(&step->scratch, scratch, engine, DNNL_MEMORY_ALLOCATE));
}

static psd_status make_reorder(struct psd_onednn_step *step, struct psd_onednn_port *port,
                               const dnnl_memory_desc_t *plain, const dnnl_memory_desc_t *inner)
{
    const dnnl_memory_desc_t *from = port->writes ? inner : plain;
    const dnnl_memory_desc_t *to = port->writes ? plain : inner;
    dnnl_primitive_desc_t description = NULL;

    DNNL_TRY(dnnl_memory_create(&port->inner, inner, step->engine, DNNL_MEMORY_ALLOCATE));
    DNNL_TRY(dnnl_reorder_primitive_desc_create(&description, from, step->engine, to, step->engine,
                                                NULL));
    dnnl_status_t status = dnnl_primitive_create(&port->reorder, description);
    dnnl_primitive_desc_destroy(description);
    return psd_onednn_status(status);
}

psd_status psd_onednn_step_port(struct psd_onednn_step *step, int arg, bool writes,
                                const dnnl_memory_desc_t *plain)
{
    struct psd_onednn_port *port = &step->ports[step->n_ports++];
    const dnnl_memory_desc_t *inner = layout_of(step, arg);

    port->arg = arg;
    port->writes = writes;
    DNNL_TRY(dnnl_memory_create(&port->user, plain, step->engine, DNNL_MEMORY_NONE));
    if (!inner || dnnl_memory_desc_equal(plain, inner))
        return PSD_OK;
    return make_reorder(step, port, plain, inner);
}

static psd_status run_reorder(const struct psd_onednn_port *port, dnnl_stream_t stream)
{
    dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_FROM, port->writes ? port->inner : port->user},
        {DNNL_ARG_TO, port->writes ? port->user : port->inner},
    };

    return psd_onednn_status(dnnl_primitive_execute(port->reorder, stream, 2, arguments));
}

psd_status psd_onednn_step_run(struct psd_onednn_step *step, dnnl_stream_t stream,
                               void *const *data)
{
    dnnl_exec_arg_t arguments[PSD_ONEDNN_PORTS + 1];
    int n = 0;

    for (size_t i = 0; i < step->n_ports; i++) {
        struct psd_onednn_port *port = &step->ports[i];
        DNNL_TRY(dnnl_memory_set_data_handle(port->user, data[i]));
        if (port->reorder && !port->writes)
            PSD_TRY(run_reorder(port, stream));
        arguments[n++] = (dnnl_exec_arg_t){port->arg, port->inner ? port->inner : port->user};
    }
    if (step->scratch)
        arguments[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, step->scratch};
    DNNL_TRY(dnnl_primitive_execute(step->primitive, stream, n, arguments));
    for (size_t i = 0; i < step->n_ports; i++) {
        if (step->ports[i].reorder && step->ports[i].writes)
            PSD_TRY(run_reorder(&step->ports[i], stream));
    }
    return psd_onednn_status(dnnl_stream_wait(stream));
}

void psd_onednn_step_close(struct psd_onednn_step *step)
{
    for (size_t i = 0; i < step->n_ports; i++) {
        dnnl_memory_destroy(step->ports[i].user);
        dnnl_memory_destroy(step->ports[i].inner);
        dnnl_primitive_destroy(step->ports[i].reorder);
    }
    dnnl_memory_destroy(step->scratch);
    dnnl_primitive_destroy(step->primitive);
    *step = (struct psd_onednn_step){0};
}
