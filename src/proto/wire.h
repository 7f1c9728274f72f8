/* wire.h - a message in the binary form: .caffemodel, .solverstate, .binaryproto.
 *
 *     field    tag = number << 3 | shape        payload
 *     shape 0  varint: 7 bits a byte, low first, the high bit says that more follow
 *     shape 1  8 bytes, little-endian           shape 5  4 bytes, little-endian
 *     shape 2  length (varint), then as many bytes: a string, a message, or packed numbers
 *
 * Reading follows the descriptors and copies each array once, straight from the file to its place.
 * It is ours because protobuf-c's own reader cannot say where a file is damaged, takes up to
 * sixteen times the file's size for numbers that are not packed, and loses what follows a NUL in a
 * string (docs/decisions/3-own-binary-reader.md). Writing is protobuf-c's. */
#ifndef PSD_PROTO_WIRE_H
#define PSD_PROTO_WIRE_H

#include "proto/bytes.h"
#include "proto/document.h"
#include "proto/sink.h"

/* Adds the fields read from `bytes` to the document's root. Fields that the schema does not know,
 * or knows in another shape, are kept and written back. PSD_ECONFIG: the sentence has the path, the
 * byte and the field where it stopped; the document is then good for nothing but destroy. */
psd_status psd_wire_read(struct psd_document *document, struct psd_bytes *bytes);

/* Writes a message. PSD_ENOSUP: it is larger than 2 GiB, which no reader of this form takes. */
psd_status psd_wire_write(const ProtobufCMessage *message, const struct psd_sink *sink);

/* How many of the top-level fields in the first bytes of a file a type knows; for finding out what
 * a file is. Nothing is allocated. */
size_t psd_wire_fit(const ProtobufCMessageDescriptor *type, const void *data, size_t size);

#endif
