/* text_writer.h - writes a message in the text format, as Caffe's tools lay it out.
 *
 *     layer {
 *       name: "conv1"
 *     }
 *
 * Fields come in the order of their numbers, numbers in the fewest digits that read back as the
 * same value. Fields that the schema does not know are told in comments. */
#ifndef PSD_PROTO_TEXT_WRITER_H
#define PSD_PROTO_TEXT_WRITER_H

#include "proto/sink.h"

#include <protobuf-c/protobuf-c.h>

struct psd_text_options {
    size_t
        longest; /* a repeated number with more values than this is told in a comment; 0: none is */
};

/* `options` may be NULL. What goes wrong in the sink is the sink's to tell. */
void psd_text_write(const ProtobufCMessage *message, const struct psd_text_options *options,
                    const struct psd_sink *sink);

#endif
