/* kind.h - what a file is: which of Caffe's messages, and in which form.
 *
 *     lenet.caffemodel        binary  NetParameter        weights
 *     mean.binaryproto        binary  BlobProto           an image mean
 *     lenet_solver.prototxt   text    SolverParameter
 *
 * Names are a hint, since people call their files as they like; what decides is which message knows
 * most of the fields at the file's start. */
#ifndef PSD_PROTO_KIND_H
#define PSD_PROTO_KIND_H

#include "proto/document.h"

/* The messages that stand in files of their own, the most usual first; ends with NULL. */
extern const ProtobufCMessageDescriptor *const psd_kinds[];

/* The message with that name, "NetParameter"; NULL when no file holds such. */
const ProtobufCMessageDescriptor *psd_kind_find(const char *name);

/* The form that a file's name asks for; AUTO when it asks for none. */
enum psd_document_form psd_kind_form_of_name(const char *path);

/* The form of a file with this name that starts with these bytes. */
enum psd_document_form psd_kind_form(const char *path, const char *head, size_t length);

/* The message that fits the start of a file best. */
const ProtobufCMessageDescriptor *psd_kind_guess(enum psd_document_form form, const char *head,
                                                 size_t length);

#endif
