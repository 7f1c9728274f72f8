/* wire_reader_fuzz.c - any bytes as one of Caffe's files in binary form: no crash, what is accepted
 * survives being written and read again, and protobuf-c's own reader sees the same in it.
 *
 *     digit   a message of psd_kinds, by its place; from 128 on, also through a file
 *     ...     the message
 */
#include "fuzz.h"
#include "proto/kind.h"
#include "written.h"

#include <sys/mman.h>
#include <unistd.h>

static const ProtobufCMessageDescriptor *kind_of(uint8_t choice)
{
    size_t count = 1;

    while (psd_kinds[count])
        count++;
    return psd_kinds[choice % count];
}

/* Reads a document; NULL when it is refused. */
static struct psd_document *read_bytes(const ProtobufCMessageDescriptor *type,
                                       struct psd_bytes *bytes)
{
    struct psd_document *document = NULL;

    if (psd_document_create(type, "fuzz.caffemodel", bytes->size, &document) != PSD_OK)
        abort();
    if (psd_wire_read(document, bytes) == PSD_OK)
        return document;
    psd_document_destroy(document);
    return NULL;
}

static struct psd_document *read_memory(const ProtobufCMessageDescriptor *type, const void *data,
                                        size_t size)
{
    struct psd_bytes bytes;

    psd_bytes_init_memory(&bytes, "fuzz.caffemodel", data, size);
    return read_bytes(type, &bytes);
}

static struct psd_document *read_file(const ProtobufCMessageDescriptor *type, const void *data,
                                      size_t size)
{
    int fd = memfd_create("fuzz.caffemodel", MFD_CLOEXEC);
    struct psd_bytes bytes;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0 ||
        psd_bytes_init_file(&bytes, "fuzz.caffemodel", fd, size) != PSD_OK)
        abort();
    struct psd_document *document = read_bytes(type, &bytes);
    psd_bytes_fini(&bytes);
    close(fd);
    return document;
}

static void expect_wire(struct psd_document *again, const struct written *wire)
{
    if (!again)
        abort();
    struct written other = written_wire(again->root);
    if (!written_equal(wire, &other))
        abort();
    written_fini(&other);
    psd_document_destroy(again);
}

/* What protobuf-c takes and we do not, on purpose. */
static bool is_refused_on_purpose(void)
{
    static const char *const reasons[] = {"a string with a NUL byte in it",
                                          "a number of more than 64 bits",
                                          "a field number that cannot be"};

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (strstr(psd_error(), reasons[i]))
            return true;
    }
    return false;
}

/* Takes out what the schema does not know, and says how many fields that was. */
static size_t drop_unknown(ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    size_t dropped = message->n_unknown_fields;

    message->n_unknown_fields = 0;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        size_t count = field->type == PROTOBUF_C_TYPE_MESSAGE ? psd_field_count(message, field) : 0;
        for (size_t k = 0; k < count; k++)
            dropped += drop_unknown(psd_field_message(message, field, k));
    }
    return dropped;
}

static bool write_the_same(const ProtobufCMessage *theirs, const ProtobufCMessage *ours)
{
    struct written a = written_wire(theirs), b = written_wire(ours);
    bool same = written_equal(&a, &b);

    written_fini(&a);
    written_fini(&b);
    return same;
}

/* protobuf-c takes any number for an enumeration, while we keep those that the schema does not have
 * beside the message: there is nothing to compare then. Of a single message that comes twice it
 * loses what it does not know in the first; and it keeps numbers in more bytes than they need. */
static void compare(ProtobufCMessage *theirs, ProtobufCMessage *ours)
{
    if (written_has_unknown(ours, true) || write_the_same(theirs, ours))
        return;
    if (drop_unknown(theirs) > drop_unknown(ours) || !write_the_same(theirs, ours))
        abort();
}

static void *alloc_in_arena(void *arena, size_t size)
{
    return psd_arena_alloc(arena, size);
}

static void free_with_arena(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

static void compare_with_protobuf_c(struct psd_document *ours,
                                    const ProtobufCMessageDescriptor *type, const uint8_t *data,
                                    size_t size)
{
    bool excused = !ours && is_refused_on_purpose();
    struct psd_arena *arena = NULL;

    if (psd_arena_create((size_t)512 << 20, &arena) != PSD_OK)
        abort();
    ProtobufCAllocator allocator = {alloc_in_arena, free_with_arena, arena};
    ProtobufCMessage *theirs = protobuf_c_message_unpack(type, &allocator, size, data);
    if (theirs && ours)
        compare(theirs, ours->root);
    else if (theirs && !excused)
        abort();
    psd_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const ProtobufCMessageDescriptor *type = kind_of(data[0]);
    struct psd_document *document = read_memory(type, data + 1, size - 1);
    struct psd_document *other = NULL;

    if (!document && !*psd_error())
        abort(); /* a mistake without a sentence */
    if (data[0] >= 128)
        other = read_file(type, data + 1, size - 1);
    if (data[0] >= 128 && !other != !document)
        abort();
    if (document) {
        struct written wire = written_wire(document->root);
        expect_wire(read_memory(type, wire.data, wire.size), &wire);
        if (other)
            expect_wire(other, &wire);
        written_fini(&wire);
    }
    compare_with_protobuf_c(document, type, data + 1, size - 1);
    psd_document_destroy(document);
    return 0;
}
