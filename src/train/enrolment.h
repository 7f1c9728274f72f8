/* enrolment.h - the parameters of a net take their places in the job; only for train/.
 *
 *     net->params     conv1[0] conv1[1] bn[0] frozen[0] ip1[0] ip1[1]
 *     of a job        0        1        2     -         3      4
 *     as              dense    dense    mean  -         factors, and a bias that follows
 */
#ifndef PSD_TRAIN_ENROLMENT_H
#define PSD_TRAIN_ENROLMENT_H

#include "train/ensemble.h"

enum psd_enrolled {
    PSD_ENROLLED_NOT,      /* it does not change */
    PSD_ENROLLED_DENSE,    /* its gradient is synced */
    PSD_ENROLLED_FACTORED, /* its factors are */
    PSD_ENROLLED_FOLLOWS,  /* a bias that comes with its weight's factors */
    PSD_ENROLLED_AVERAGED, /* a statistic: its value is */
};

struct psd_enrolment {
    size_t n_params;
    int *ids;                /* owned; [n_params]: in the job; -1: it is not there */
    enum psd_enrolled *ways; /* owned; [n_params]; known after the start */
    struct psd_blob *common; /* owned; [n_params]: the value of a statistic; others have none */
    unsigned passes;         /* of a worker in an iteration */
    double flops;            /* estimated, of our workers together; 0: no plan is made here */
};

/* Whether the net has all that something is wished for: a name that nothing has is a mistake of the person
 * who wrote it, PSD_ECONFIG. */
psd_status psd_enrolment_check(const struct psd_ensemble_wish *wishes, size_t n_wishes,
                               const struct psd_net *net);

/* Adds all parameters of solver->net that change to the seat. fini also takes one that is all zero. */
psd_status psd_enrolment_init(struct psd_enrolment *enrolment, struct psd_comm *comm,
                              const struct psd_solver *solver,
                              const struct psd_ensemble_options *options);
void psd_enrolment_fini(struct psd_enrolment *enrolment);

/* After the seat's start: how each goes, which the net's parameters are told, too. */
void psd_enrolment_learn(struct psd_enrolment *enrolment, const struct psd_comm *comm,
                         const struct psd_net *net);

/* Lets the statistics of the net be the common ones. */
void psd_enrolment_show(const struct psd_enrolment *enrolment, const struct psd_net *net);

/* Gives them to the net, which afterwards uses no memory of ours or of a worker's. */
void psd_enrolment_leave(struct psd_enrolment *enrolment, const struct psd_net *net);

#endif
