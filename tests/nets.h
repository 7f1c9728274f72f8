/* nets.h - small nets in memory, for tests of the engine.
 *
 *     struct lab lab = lab_of("layer { name: 'x' type: 'Input' ... } layer { ... }");
 *     psd_net_forward(lab.net, &loss);
 *     lab_close(&lab);
 *
 * A lab has a device, operations on it and a net. What cannot be made fails the test; nets that are
 * meant to be refused are built with lab_build. */
#ifndef PSD_TESTS_NETS_H
#define PSD_TESTS_NETS_H

#include "base/alloc.h"
#include "documents.h"
#include "engine/net.h"

struct lab {
    struct psd_device *device;     /* owned */
    struct psd_ops *ops;           /* owned */
    struct psd_document *document; /* owned */
    struct psd_net *net;           /* owned */
};

/* A device and its operations; backend NULL is the default. False: it cannot run here. */
static inline bool lab_open(struct lab *lab, const char *backend, unsigned threads)
{
    *lab = (struct lab){0};
    CHECK_OK(psd_device_open("host", 0, &lab->device));
    psd_status status = psd_ops_open(
        &(struct psd_ops_options){.device = lab->device, .threads = threads, .backend = backend},
        &lab->ops);
    if (status == PSD_ENOSUP)
        psd_device_close(lab->device);
    else
        CHECK_OK(status);
    return status == PSD_OK;
}

static inline void lab_close(struct lab *lab)
{
    psd_net_destroy(lab->net);
    psd_document_destroy(lab->document);
    psd_ops_close(lab->ops);
    psd_device_close(lab->device);
}

/* Builds the net of lab->document; `options` (NULL: none) has what is not the lab's own. */
static inline psd_status lab_build(struct lab *lab, const struct psd_net_options *options)
{
    struct psd_net_options all = options ? *options : (struct psd_net_options){0};

    all.document = lab->document;
    all.device = lab->device;
    all.ops = lab->ops;
    if (!all.seed)
        all.seed = 1;
    return psd_net_create(&all, &lab->net);
}

/* Building the net survives every failed allocation. Returns how many there are. */
static inline long lab_survives(const char *text, const struct psd_net_options *options)
{
    bool failed = true;
    long n = 0;

    for (; failed; n++) {
        struct lab lab;
        CHECK(lab_open(&lab, NULL, 1));
        lab.document = net_of(text);
        psd_alloc_fail_at(n);
        psd_status status = lab_build(&lab, options);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (lab.net == NULL));
        lab_close(&lab);
    }
    return n;
}

static inline struct lab lab_with(const char *text, const struct psd_net_options *options)
{
    struct lab lab;

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = net_of(text);
    CHECK_OK(lab_build(&lab, options));
    return lab;
}

static inline struct lab lab_of(const char *text)
{
    return lab_with(text, NULL);
}

/* The shape of the net's blob "y", as text; good until the next call. */
static inline const char *lab_shape(const char *text)
{
    static char shape[200];
    struct lab lab = lab_of(text);

    psd_shape_text(&psd_net_blob(lab.net, "y")->shape, shape, sizeof shape);
    lab_close(&lab);
    return shape;
}

/* The sentence with which a net is refused; good until the next failure. */
static inline const char *lab_refuses(const char *text)
{
    struct lab lab;

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = net_of(text);
    CHECK_STATUS(PSD_ECONFIG, lab_build(&lab, NULL));
    CHECK(!lab.net);
    lab_close(&lab);
    return psd_error();
}

/* Values of a blob by name; the blob must be there. */
static inline float *lab_values(const struct lab *lab, const char *name)
{
    struct psd_blob *blob = psd_net_blob(lab->net, name);

    if (!blob)
        TEST_FAIL("there is no blob %s", name);
    return psd_blob_values(blob);
}

static inline float *lab_gradient(const struct lab *lab, const char *name)
{
    struct psd_blob *blob = psd_net_blob(lab->net, name);

    if (!blob || !psd_blob_gradient(blob))
        TEST_FAIL("there is no gradient of %s", name);
    return psd_blob_gradient(blob);
}

static inline bool same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* Small numbers of both signs that repeat late, for blobs whose values do not matter. */
static inline void lab_scatter(float *values, size_t count, unsigned salt)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((i * 7919 + (size_t)salt * 104729) % 1009) / 504.5f - 1;
}

#endif
