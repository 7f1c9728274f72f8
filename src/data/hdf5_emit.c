/* hdf5_emit.c - the bytes of a planned file. What each structure looks like stands where it is read:
 * hdf5_file.c, hdf5_header.c, hdf5_group.c, hdf5_btree.h, hdf5_space.c, hdf5_type.h, hdf5_layout.c. */
#include "base/little.h"
#include "data/hdf5_header.h"
#include "data/hdf5_node.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they stand");

enum { HEADER = 16, MESSAGE = 8, FILL = 8, LAYOUT = 24, LONGEST_TYPE = 24 };

/* --- object headers ----------------------------------------------------------------------------- */

static const unsigned char type_float[LONGEST_TYPE] = {0x11, 0x20, 31, 0,  4, 0, 0,  0,   0,
                                                       0,    32,   0,  23, 8, 0, 23, 127, 0};
static const unsigned char type_integer[LONGEST_TYPE] = {0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32};
static const unsigned char type_text[LONGEST_TYPE] = {0x13};

static size_t type_size(const struct psd_hdf5_node *node)
{
    return node->kind == PSD_HDF5_NODE_FLOATS ? 24 : node->kind == PSD_HDF5_NODE_INTEGER ? 16 : 8;
}

uint64_t psd_hdf5_emit_header_size(const struct psd_hdf5_node *node)
{
    if (node->kind == PSD_HDF5_NODE_GROUP)
        return HEADER + MESSAGE + 16;
    return HEADER + MESSAGE + 8 + 8 * node->axes + MESSAGE + type_size(node) + MESSAGE + FILL +
           MESSAGE + LAYOUT;
}

/* The place for a message's bytes, which are 0; *at moves behind it. */
static unsigned char *add_message(unsigned char **at, enum psd_hdf5_message_type type, size_t size)
{
    unsigned char *bytes = *at + MESSAGE;

    psd_little_put(*at, type, 2);
    psd_little_put(*at + 2, size, 2);
    *at = bytes + size;
    return bytes;
}

static void begin_header(const struct psd_hdf5_node *node, unsigned messages, unsigned char *to)
{
    to[0] = 1;
    psd_little_put(to + 2, messages, 2);
    psd_little_put(to + 4, 1, 4); /* a reference */
    psd_little_put(to + 8, psd_hdf5_emit_header_size(node) - HEADER, 4);
}

static void emit_type(const struct psd_hdf5_node *node, unsigned char *to)
{
    const unsigned char *type = node->kind == PSD_HDF5_NODE_FLOATS    ? type_float
                                : node->kind == PSD_HDF5_NODE_INTEGER ? type_integer
                                                                      : type_text;

    memcpy(to, type, type_size(node));
    if (node->kind == PSD_HDF5_NODE_TEXT)
        psd_little_put(to + 4, node->size, 4);
}

static void emit_dataset(const struct psd_hdf5_node *node, unsigned char *out)
{
    static const unsigned char fill[FILL] = {2, 2, 2, 1}; /* late, if set, the default */
    unsigned char *at = out + node->header + HEADER;

    begin_header(node, 4, out + node->header);
    unsigned char *space = add_message(&at, PSD_HDF5_SPACE, 8 + 8 * node->axes);
    space[0] = 1;
    space[1] = (unsigned char)node->axes;
    for (size_t i = 0; i < node->axes; i++)
        psd_little_put(space + 8 + 8 * i, node->dim[i], 8);
    emit_type(node, add_message(&at, PSD_HDF5_TYPE, type_size(node)));
    memcpy(add_message(&at, PSD_HDF5_FILL, FILL), fill, FILL);
    unsigned char *layout = add_message(&at, PSD_HDF5_LAYOUT, LAYOUT);
    layout[0] = 3;
    layout[1] = 1;
    psd_little_put(layout + 2, node->data, 8);
    psd_little_put(layout + 10, node->size, 8);
}

/* --- groups ------------------------------------------------------------------------------------- */

size_t psd_hdf5_emit_fans(size_t children)
{
    return children ? (children + PSD_HDF5_FAN - 1) / PSD_HDF5_FAN : 1;
}

/* Four letters by which a structure is known. */
static void mark(unsigned char *to, const char *letters)
{
    for (size_t i = 0; i < 4; i++)
        to[i] = (unsigned char)letters[i];
}

static const struct psd_hdf5_node *child(const struct psd_hdf5_plan *plan,
                                         const struct psd_hdf5_node *group, size_t i)
{
    return &plan->nodes[plan->order[group->first + i]];
}

static void emit_heap(const struct psd_hdf5_plan *plan, const struct psd_hdf5_node *group,
                      unsigned char *out)
{
    unsigned char *to = out + group->heap, *letters = to + 32;

    mark(to, "HEAP");
    psd_little_put(to + 8, group->letters, 8);
    psd_little_put(to + 16, 1, 8); /* nothing is free */
    psd_little_put(to + 24, group->heap + 32, 8);
    for (size_t i = 0; i < group->count; i++) {
        const struct psd_hdf5_node *node = child(plan, group, i);
        memcpy(letters + node->name_at, node->name, strlen(node->name));
    }
}

static void emit_leaves(const struct psd_hdf5_plan *plan, const struct psd_hdf5_node *group,
                        unsigned char *out)
{
    unsigned char *to = out + group->leaves;

    for (size_t i = 0; i < group->count; i++) {
        const struct psd_hdf5_node *node = child(plan, group, i);
        unsigned char *leaf = to + i / PSD_HDF5_LEAF * PSD_HDF5_LEAF_SIZE;
        unsigned char *entry = leaf + 8 + i % PSD_HDF5_LEAF * 40;
        mark(leaf, "SNOD");
        leaf[4] = 1;
        psd_little_put(leaf + 6, i % PSD_HDF5_LEAF + 1, 2);
        psd_little_put(entry, node->name_at, 8);
        psd_little_put(entry + 8, node->header, 8);
    }
}

/* A level of the tree: nodes at `at` over `children`, each of `size` bytes at `below`, that have `names`
 * names each, the last fewer. */
struct level {
    uint64_t at, below;
    size_t children, size, names;
    unsigned number;
};

/* The last name of a child, in the heap. */
static uint64_t last_name(const struct psd_hdf5_plan *plan, const struct psd_hdf5_node *group,
                          const struct level *level, size_t i)
{
    size_t end = (i + 1) * level->names;

    return child(plan, group, (end < group->count ? end : group->count) - 1)->name_at;
}

static void emit_fan(const struct psd_hdf5_plan *plan, const struct psd_hdf5_node *group,
                     const struct level *level, size_t number, unsigned char *out)
{
    size_t fans = psd_hdf5_emit_fans(level->children), first = number * PSD_HDF5_FAN;
    size_t left = level->children - first, count = left < PSD_HDF5_FAN ? left : PSD_HDF5_FAN;
    uint64_t at = level->at + number * PSD_HDF5_FAN_SIZE;
    unsigned char *to = out + at;

    mark(to, "TREE");
    to[5] = (unsigned char)level->number;
    psd_little_put(to + 6, count, 2);
    psd_little_put(to + 8, number ? at - PSD_HDF5_FAN_SIZE : PSD_HDF5_NOWHERE, 8);
    psd_little_put(to + 16, number + 1 < fans ? at + PSD_HDF5_FAN_SIZE : PSD_HDF5_NOWHERE, 8);
    psd_little_put(to + 24, first ? last_name(plan, group, level, first - 1) : 0, 8);
    for (size_t i = 0; i < count; i++) {
        psd_little_put(to + 32 + 16 * i, level->below + (first + i) * level->size, 8);
        psd_little_put(to + 40 + 16 * i, last_name(plan, group, level, first + i), 8);
    }
}

/* Level upon level, until one node is above all; its address is returned. */
static uint64_t emit_tree(const struct psd_hdf5_plan *plan, const struct psd_hdf5_node *group,
                          unsigned char *out)
{
    struct level level = {
        group->tree,        group->leaves, (group->count + PSD_HDF5_LEAF - 1) / PSD_HDF5_LEAF,
        PSD_HDF5_LEAF_SIZE, PSD_HDF5_LEAF, 0};

    for (;;) {
        size_t fans = psd_hdf5_emit_fans(level.children);
        for (size_t i = 0; i < fans; i++)
            emit_fan(plan, group, &level, i, out);
        if (fans == 1)
            return level.at;
        level = (struct level){
            level.at + fans * PSD_HDF5_FAN_SIZE, level.at,        fans, PSD_HDF5_FAN_SIZE,
            level.names * PSD_HDF5_FAN,          level.number + 1};
    }
}

static void emit_group(const struct psd_hdf5_plan *plan, const struct psd_hdf5_node *group,
                       unsigned char *out)
{
    unsigned char *at = out + group->header + HEADER;

    begin_header(group, 1, out + group->header);
    unsigned char *symbols = add_message(&at, PSD_HDF5_SYMBOLS, 16);
    emit_heap(plan, group, out);
    emit_leaves(plan, group, out);
    psd_little_put(symbols, emit_tree(plan, group, out), 8);
    psd_little_put(symbols + 8, group->heap, 8);
}

/* --- the file ----------------------------------------------------------------------------------- */

static void emit_superblock(const struct psd_hdf5_plan *plan, unsigned char *out)
{
    static const unsigned char start[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n',
                                          0,    0,   0,   0,   0,    8,    8,    0};

    memcpy(out, start, sizeof start);
    psd_little_put(out + 16, PSD_HDF5_LEAF / 2, 2);
    psd_little_put(out + 18, PSD_HDF5_FAN / 2, 2);
    psd_little_put(out + 32, PSD_HDF5_NOWHERE, 8); /* no list of free places */
    psd_little_put(out + 40, plan->size, 8);
    psd_little_put(out + 48, PSD_HDF5_NOWHERE, 8); /* no driver */
    psd_little_put(out + 64, plan->nodes[0].header, 8);
}

void psd_hdf5_plan_head(const struct psd_hdf5_plan *plan, unsigned char *out)
{
    memset(out, 0, (size_t)plan->head);
    emit_superblock(plan, out);
    for (size_t i = 0; i < plan->count; i++) {
        const struct psd_hdf5_node *node = &plan->nodes[i];
        if (node->kind == PSD_HDF5_NODE_GROUP)
            emit_group(plan, node, out);
        else
            emit_dataset(node, out);
    }
}

void psd_hdf5_plan_write(const struct psd_hdf5_plan *plan, unsigned char *out)
{
    psd_hdf5_plan_head(plan, out);
    for (size_t i = 0; i < plan->count; i++) {
        const struct psd_hdf5_node *node = &plan->nodes[i];
        size_t end = (size_t)(node->size + 7) / 8 * 8;
        if (!node->size || !node->values)
            continue;
        memset(out + node->data + end - 8, 0, 8); /* what fills up to 8 bytes */
        memcpy(out + node->data, node->values, (size_t)node->size);
    }
}
