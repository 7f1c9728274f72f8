/* upgrade_steps.h - what the steps of an upgrade share; only for upgrade*.c. */
#ifndef PSD_PROTO_UPGRADE_STEPS_H
#define PSD_PROTO_UPGRADE_STEPS_H

#include "proto/caffe.pb-c.h"
#include "proto/upgrade.h"

/* An upgrade under way. */
struct psd_upgrading {
    struct psd_document *document; /* borrowed */
    struct psd_upgrade *report;    /* borrowed */
    struct psd_mistakes mistakes;  /* what makes the upgrade impossible */
};

/* Adds a mistake or a warning at the place where a field of `message` was written. */
#define PSD_UPGRADE_SAY(list, document, message, field, ...)                    \
    do {                                                                        \
        struct psd_position at_ = psd_document_where(document, message, field); \
        psd_mistakes_add(list, at_.line, at_.column, __VA_ARGS__);              \
    } while (0)

/* Moves a field's values, with their position, to a field of the same type of another message,
 * which need not have the same name or be repeated too. */
psd_status psd_upgrade_move(struct psd_upgrading *up, ProtobufCMessage *from,
                            const ProtobufCFieldDescriptor *from_field, ProtobufCMessage *to,
                            const ProtobufCFieldDescriptor *to_field);

/* The single message in a field, made if it is not there yet. */
psd_status psd_upgrade_inner(struct psd_upgrading *up, ProtobufCMessage *message, const char *name,
                             ProtobufCMessage **out);

/* Warns of the fields of an old layer that the schema does not know: their numbers may mean something
 * else in a new one, so they cannot move. */
void psd_upgrade_leave_unknown(struct psd_upgrading *up, const ProtobufCMessage *old);

/* The steps; each leaves a net that does not need it as it is. */
psd_status psd_upgrade_v0(struct psd_upgrading *up, Caffe__NetParameter *net);
psd_status psd_upgrade_v1(struct psd_upgrading *up, Caffe__NetParameter *net);

#endif
