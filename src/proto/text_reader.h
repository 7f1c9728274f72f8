/* text_reader.h - reads a message from the text format.
 *
 * The reader knows no message: it follows the descriptors that protobuf-c made of the schema. It
 * goes on after a mistake, so that a file's mistakes are told together. */
#ifndef PSD_PROTO_TEXT_READER_H
#define PSD_PROTO_TEXT_READER_H

#include "proto/document.h"

/* Adds the fields written in `text` to the document's root and fills its positions. PSD_ECONFIG:
 * psd_error() has a line `path:line:column: sentence` for each mistake; the document is then good
 * for nothing but destroy. */
psd_status psd_text_read(struct psd_document *document, const char *text, size_t length);

#endif
