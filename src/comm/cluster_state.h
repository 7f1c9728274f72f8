/* cluster_state.h - the inside of a cluster; for cluster.c and cluster_time.c. */
#ifndef PSD_COMM_CLUSTER_STATE_H
#define PSD_COMM_CLUSTER_STATE_H

#include "comm/cluster.h"
#include "comm/mesh.h"

/* Something that takes time on a processor: a work, an addition on arrival, or a layer. */
struct psd_cluster_task {
    struct psd_timer timer;
    struct psd_cluster_member *member; /* borrowed */
    struct psd_work *work;             /* borrowed; */
    struct psd_message message;        /* or what has arrived, when its kind is set; */
    void (*fn)(void *arg);             /* or this */
    void *arg;
    struct psd_cluster_task *next;   /* that is idle, or of the device's layers the one after it */
    struct psd_cluster_task *before; /* the one made before it */
};

/* A processor does one thing at a time. */
struct psd_cluster_processor {
    uint64_t free_ns; /* when it has done all that it was given */
    uint64_t busy_ns; /* in all */
};

struct psd_cluster_member {
    struct psd_cluster *cluster; /* borrowed */
    unsigned rank;
    size_t samples; /* that its workers compute with */
    bool dead;
    struct psd_node *node; /* owned */
    struct psd_mesh *mesh; /* owned */
    struct psd_cluster_processor host, device;
    struct psd_cluster_task *layers; /* borrowed; that the device computes, the first first */
    double *flops,
        *bytes;        /* owned; [params]: what one machine alone does in an iteration, left over */
    uint64_t extra_ns; /* device time that works took */
};

struct psd_cluster {
    struct psd_cluster_options options;
    struct psd_sim *sim;                /* owned */
    struct psd_layout *layout;          /* owned */
    struct psd_merge *merge;            /* owned */
    struct psd_cluster_member *members; /* owned; [ranks] */
    struct psd_cluster_task *made;      /* owned; all tasks, the last first */
    struct psd_cluster_task *idle;      /* borrowed from them; to take from */
    psd_status status;                  /* what has failed in an event */
    size_t joined;                      /* pairs, counted from both ends */
};

/* A work that a node orders: on the host, or on the device before the layers. */
void psd_cluster_order(struct psd_cluster_member *member, struct psd_work *work);

/* The host adds up a payload that has come, and the node hears of it then. */
psd_status psd_cluster_add(struct psd_cluster_member *member, const struct psd_message *message);

/* A parameter is fresh: its layer's time has what one machine does for it in the next iteration. */
void psd_cluster_allow(struct psd_cluster_member *member, size_t param);

#endif
