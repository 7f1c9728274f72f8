/* sink.h - where written bytes go: a file, or memory in tests. */
#ifndef PSD_PROTO_SINK_H
#define PSD_PROTO_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct psd_sink {
    /* Keeps its failures to itself; false: nobody wants any more of it. */
    bool (*write)(void *context, const void *data, size_t size);
    void *context; /* borrowed */
};

#endif
