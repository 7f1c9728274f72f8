/* wire_writer.c - protobuf-c's writer, pointed at a sink. */
#include "proto/wire.h"

struct buffer {
    ProtobufCBuffer base; /* first: protobuf-c hands it back to us */
    const struct psd_sink *sink;
};

static void append(ProtobufCBuffer *base, size_t size, const uint8_t *data)
{
    const struct psd_sink *sink = ((struct buffer *)base)->sink;

    sink->write(sink->context, data, size);
}

psd_status psd_wire_write(const ProtobufCMessage *message, const struct psd_sink *sink)
{
    struct buffer buffer = {.base = {.append = append}, .sink = sink};
    size_t size = protobuf_c_message_get_packed_size(message);

    if (size > INT32_MAX)
        return psd_fail(PSD_ENOSUP,
                        "a message of %zu bytes does not fit into the binary form, which ends at "
                        "2 GiB; write the weights to HDF5 or in several files",
                        size);
    protobuf_c_message_pack_to_buffer(message, &buffer.base);
    return PSD_OK;
}
