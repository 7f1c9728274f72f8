#include "data/hdf5_btree.h"
#include "base/alloc.h"
#include "base/little.h"

#include <string.h>

enum { HEAD = 24, DEEPEST = 16 };

struct walk {
    const struct psd_hdf5_file *file;
    enum psd_hdf5_btree_kind kind;
    size_t key_size;
    psd_hdf5_btree_function *take;
    void *context;
    uint64_t left; /* children that the file can have besides those seen */
};

static psd_status walk_node(struct walk *walk, uint64_t at, int level);

static psd_status walk_children(struct walk *walk, uint64_t at, const unsigned char *bytes,
                                size_t count, int level)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *key = bytes + i * (walk->key_size + 8);
        uint64_t child = psd_little_get(key + walk->key_size, 8);
        if (walk->left-- == 0)
            return psd_hdf5_file_damaged(walk->file, at, "a tree leads back into itself");
        PSD_TRY(level ? walk_node(walk, child, level - 1) : walk->take(walk->context, key, child));
    }
    return PSD_OK;
}

/* `level` -1: any. */
static psd_status walk_node(struct walk *walk, uint64_t at, int level)
{
    unsigned char head[HEAD], *bytes = NULL;

    PSD_TRY(psd_hdf5_file_read(walk->file, at, head, sizeof head));
    if (memcmp(head, "TREE", 4) != 0 || head[4] != walk->kind)
        return psd_hdf5_file_damaged(walk->file, at, "here should be a node of a tree");
    if (level < 0 && head[5] <= DEEPEST)
        level = head[5];
    if (head[5] != level)
        return psd_hdf5_file_damaged(walk->file, at, "a node of a tree is of another level");
    size_t count = (size_t)psd_little_get(head + 6, 2);
    PSD_TRY(psd_hdf5_file_load(walk->file, at + HEAD, count * (walk->key_size + 8), &bytes));
    psd_status status = walk_children(walk, at, bytes, count, level);
    psd_alloc_free(bytes);
    return status;
}

psd_status psd_hdf5_btree_walk(const struct psd_hdf5_file *file, uint64_t root,
                               enum psd_hdf5_btree_kind kind, size_t key_size,
                               psd_hdf5_btree_function *take, void *context)
{
    struct walk walk = {file, kind, key_size, take, context, file->size / 8};

    return walk_node(&walk, root, -1);
}
