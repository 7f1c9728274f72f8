/* upgrade.h - old nets and solvers become new ones, as Caffe's own upgrade does it.
 *
 *     2013  layers { layer { type: "conv" ... } }        V0
 *     2014  layers { type: CONVOLUTION ... }             V1, scale and crop_size in data_param
 *     2015  layer { type: "Convolution" ... }            input and input_dim beside the layers
 *     now   layer { type: "Input" ... }
 *
 * Parts move over, weights and file positions with them; what has no place any more is told. */
#ifndef PSD_PROTO_UPGRADE_H
#define PSD_PROTO_UPGRADE_H

#include "base/log.h"
#include "proto/document.h"
#include "proto/mistakes.h"

/* What can be old about a file; a set of them is an unsigned. */
enum psd_upgrade_step {
    PSD_UPGRADE_V0 = 1,
    PSD_UPGRADE_TRANSFORM = 2,
    PSD_UPGRADE_V1 = 4,
    PSD_UPGRADE_INPUT = 8,
    PSD_UPGRADE_BATCH_NORM = 16,
    PSD_UPGRADE_SOLVER_TYPE = 32
};

/* The step in words: "V1 layers". */
const char *psd_upgrade_step_name(enum psd_upgrade_step step);

/* What was done, and what was left out on the way. */
struct psd_upgrade {
    unsigned done;                /* the steps that were needed */
    struct psd_mistakes warnings; /* things that had no meaning where they stood, as in Caffe */
};

/* `document` is for the path; it outlives the report. */
void psd_upgrade_init(struct psd_upgrade *upgrade, const struct psd_document *document);

/* Brings a document whose root is a NetParameter, or a SolverParameter with the nets written inside
 * it, up to date. PSD_ECONFIG: it cannot be, for reasons that psd_error() lists with positions; the
 * document is then good for nothing but destroy. */
psd_status psd_upgrade_net(struct psd_document *document, struct psd_upgrade *upgrade);
psd_status psd_upgrade_solver(struct psd_document *document, struct psd_upgrade *upgrade);

/* Reads a file that holds a NetParameter or, as `type` says, a SolverParameter, and brings it up to
 * date. What is left out on the way is told to the log. The caller owns *out. */
psd_status psd_upgrade_read(const char *path, const ProtobufCMessageDescriptor *type,
                            struct psd_log *log, struct psd_document **out);

/* Tells the warnings to a log, each in a line. */
void psd_upgrade_warn(const struct psd_upgrade *upgrade, struct psd_log *log);

#endif
