/* hdf5_plan.c - the names of a file to be, and where everything will stand. */
#include "data/hdf5_plan.h"
#include "base/alloc.h"
#include "data/hdf5_node.h"

#include <stdlib.h>
#include <string.h>

enum { ROOT = 0 };

static uint64_t rounded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

/* --- names -------------------------------------------------------------------------------------- */

/* Adds a node without looking whether there is one of its name. */
static psd_status append(struct psd_hdf5_plan *plan, size_t parent, const char *name, size_t length,
                         size_t *out)
{
    struct psd_hdf5_node *nodes = psd_alloc_grow(plan->nodes, plan->count, sizeof *nodes);

    if (!nodes)
        return PSD_ENOMEM;
    plan->nodes = nodes;
    char *copy = psd_alloc_text("%.*s", (int)length, name);
    if (!copy)
        return PSD_ENOMEM;
    nodes[plan->count] = (struct psd_hdf5_node){.name = copy, .parent = parent};
    *out = plan->count++;
    return PSD_OK;
}

/* The node of that name in a group; plan->count: there is none. */
static size_t find_in(const struct psd_hdf5_plan *plan, size_t parent, const char *name,
                      size_t length)
{
    for (size_t i = ROOT + 1; i < plan->count; i++) {
        const struct psd_hdf5_node *node = &plan->nodes[i];
        if (node->parent == parent && strncmp(node->name, name, length) == 0 && !node->name[length])
            return i;
    }
    return plan->count;
}

static psd_status taken(const char *path)
{
    psd_fail(PSD_EINVAL,
             "an HDF5 file cannot have two things of one name, and a group cannot have the name of "
             "a dataset: \"%s\"",
             path);
    return PSD_EINVAL;
}

/* Finds the group that `path` is in, or itself with `whole`, and makes it where it is missing; *rest
 * is what is left of the path. */
static psd_status make_groups(struct psd_hdf5_plan *plan, const char *path, bool whole, size_t *out,
                              const char **rest)
{
    const char *at = path + strspn(path, "/");
    size_t group = ROOT;

    for (;;) {
        size_t length = strcspn(at, "/");
        const char *next = at + length + strspn(at + length, "/");
        if (!length || (!whole && !*next))
            break;
        size_t found = find_in(plan, group, at, length);
        if (found == plan->count)
            PSD_TRY(append(plan, group, at, length, &found));
        if (plan->nodes[found].kind != PSD_HDF5_NODE_GROUP)
            return taken(path);
        group = found;
        at = next;
    }
    *out = group;
    *rest = at;
    return PSD_OK;
}

psd_status psd_hdf5_plan_group(struct psd_hdf5_plan *plan, const char *path)
{
    const char *rest;
    size_t group;

    return make_groups(plan, path, true, &group, &rest);
}

/* Adds a dataset without values. */
static psd_status add(struct psd_hdf5_plan *plan, const char *path, enum psd_hdf5_node_kind kind,
                      struct psd_hdf5_node **out)
{
    const char *name = "";
    size_t group = ROOT, node;

    PSD_TRY(make_groups(plan, path, false, &group, &name));
    size_t length = strcspn(name, "/");
    if (!length || find_in(plan, group, name, length) != plan->count)
        return taken(path);
    PSD_TRY(append(plan, group, name, length, &node));
    *out = &plan->nodes[node];
    (*out)->kind = kind;
    return PSD_OK;
}

psd_status psd_hdf5_plan_floats(struct psd_hdf5_plan *plan, const char *path, size_t axes,
                                const size_t *dim, const float *values)
{
    struct psd_hdf5_node *node = NULL;

    if (axes > PSD_HDF5_AXES)
        return psd_fail(PSD_EINVAL, "%s has %zu axes; HDF5 has 32 at most", path, axes);
    PSD_TRY(add(plan, path, PSD_HDF5_NODE_FLOATS, &node));
    node->axes = axes;
    node->size = sizeof *values;
    for (size_t i = 0; i < axes; i++) {
        node->dim[i] = dim[i];
        node->size *= dim[i];
    }
    node->values = values;
    return PSD_OK;
}

/* The value becomes the node's own. */
static psd_status own(struct psd_hdf5_node *node, const void *value, size_t size)
{
    node->owned = psd_alloc_copy(value, size);
    node->values = node->owned;
    node->size = size;
    return node->owned ? PSD_OK : PSD_ENOMEM;
}

psd_status psd_hdf5_plan_integer(struct psd_hdf5_plan *plan, const char *path, int32_t value)
{
    struct psd_hdf5_node *node = NULL;

    PSD_TRY(add(plan, path, PSD_HDF5_NODE_INTEGER, &node));
    node->axes = 1;
    node->dim[0] = 1;
    return own(node, &value, sizeof value);
}

psd_status psd_hdf5_plan_text(struct psd_hdf5_plan *plan, const char *path, const char *text)
{
    struct psd_hdf5_node *node = NULL;

    PSD_TRY(add(plan, path, PSD_HDF5_NODE_TEXT, &node));
    return own(node, text, strlen(text) + 1);
}

/* --- places ------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b, void *context)
{
    const struct psd_hdf5_node *nodes = context;
    const struct psd_hdf5_node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Puts the names of each group next to each other, sorted, and into its heap. */
static psd_status sort(struct psd_hdf5_plan *plan)
{
    size_t count = plan->count - 1; /* the root has no name */

    psd_alloc_free(plan->order);
    plan->order = psd_alloc_zero(count + 1, sizeof *plan->order);
    if (!plan->order)
        return PSD_ENOMEM;
    for (size_t i = 0; i < count; i++)
        plan->order[i] = i + 1;
    qsort_r(plan->order, count, sizeof *plan->order, compare, plan->nodes);
    for (size_t i = 0; i < plan->count; i++) {
        plan->nodes[i].count = 0;
        plan->nodes[i].letters = 8; /* for the name of nothing */
    }
    for (size_t i = 0; i < count; i++) {
        struct psd_hdf5_node *node = &plan->nodes[plan->order[i]];
        struct psd_hdf5_node *group = &plan->nodes[node->parent];
        group->first = group->count++ ? group->first : i;
        node->name_at = group->letters;
        group->letters += rounded(strlen(node->name) + 1);
    }
    return PSD_OK;
}

/* A group's heap, symbol nodes and tree follow its header. */
static uint64_t place_group(struct psd_hdf5_node *group, uint64_t at)
{
    size_t leaves = (group->count + PSD_HDF5_LEAF - 1) / PSD_HDF5_LEAF;

    group->heap = at;
    group->leaves = group->heap + 32 + group->letters;
    group->tree = group->leaves + leaves * PSD_HDF5_LEAF_SIZE;
    at = group->tree;
    for (size_t fans = leaves; at == group->tree || fans > 1;) {
        fans = psd_hdf5_emit_fans(fans);
        at += fans * PSD_HDF5_FAN_SIZE;
    }
    return at;
}

psd_status psd_hdf5_plan_lay_out(struct psd_hdf5_plan *plan, uint64_t *size)
{
    uint64_t at = PSD_HDF5_ROOT_AT;

    PSD_TRY(sort(plan));
    for (size_t i = 0; i < plan->count; i++) {
        struct psd_hdf5_node *node = &plan->nodes[i];
        node->header = at;
        at += psd_hdf5_emit_header_size(node);
        if (node->kind == PSD_HDF5_NODE_GROUP)
            at = place_group(node, at);
    }
    plan->head = at;
    for (size_t i = 0; i < plan->count; i++) {
        struct psd_hdf5_node *node = &plan->nodes[i];
        node->data = node->size ? at : PSD_HDF5_NOWHERE;
        at += rounded(node->size);
    }
    plan->size = at;
    *size = at;
    return PSD_OK;
}

uint64_t psd_hdf5_plan_head_size(const struct psd_hdf5_plan *plan)
{
    return plan->head;
}

uint64_t psd_hdf5_plan_place(const struct psd_hdf5_plan *plan, const char *path)
{
    size_t group = ROOT;

    for (const char *at = path; *(at += strspn(at, "/")); at += strcspn(at, "/"))
        group = find_in(plan, group, at, strcspn(at, "/"));
    return plan->nodes[group].data;
}

/* --- life --------------------------------------------------------------------------------------- */

psd_status psd_hdf5_plan_create(struct psd_hdf5_plan **out)
{
    struct psd_hdf5_plan *plan = psd_alloc_zero(1, sizeof *plan);
    size_t root;

    if (!plan)
        return PSD_ENOMEM;
    psd_status status = append(plan, SIZE_MAX, "", 0, &root);
    if (status == PSD_OK)
        *out = plan;
    else
        psd_hdf5_plan_destroy(plan);
    return status;
}

void psd_hdf5_plan_destroy(struct psd_hdf5_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        psd_alloc_free(plan->nodes[i].name);
        psd_alloc_free(plan->nodes[i].owned);
    }
    psd_alloc_free(plan->nodes);
    psd_alloc_free(plan->order);
    psd_alloc_free(plan);
}
