/* field_test.c - a message's fields, reached through their descriptors. */
#include "base/alloc.h"
#include "documents.h"
#include "proto/field.h"

static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessage *message, const char *name)
{
    const ProtobufCFieldDescriptor *field = psd_field_find(message->descriptor, name, strlen(name));

    CHECK(field);
    return field;
}

static size_t count_of(const ProtobufCMessage *message, const char *name)
{
    return psd_field_count(message, field_of(message, name));
}

static void every_field_is_found_by_its_name(void)
{
    const ProtobufCMessageDescriptor *types[] = {NET, SOLVER, LAYER, BLOB, DATUM};

    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (unsigned i = 0; i < types[t]->n_fields; i++) {
            const ProtobufCFieldDescriptor *field = &types[t]->fields[i];
            CHECK(psd_field_find(types[t], field->name, strlen(field->name)) == field);
        }
    }
}

static void part_of_a_name_is_not_the_name(void)
{
    CHECK(psd_field_find(NET, "names", 4) == psd_field_find(NET, "name", 4));
    CHECK(!psd_field_find(NET, "nam", 3));
    CHECK(!psd_field_find(NET, "names", 5));
    CHECK(!psd_field_find(NET, "layer_", 6));
    CHECK(!psd_field_find(NET, "", 0));
    CHECK(psd_field_find(NET, "layer", 5) != psd_field_find(NET, "layers", 6));
}

static void an_empty_message_has_no_values(void)
{
    struct psd_document *document = net_of("");

    for (unsigned i = 0; i < NET->n_fields; i++)
        CHECK(psd_field_count(document->root, &NET->fields[i]) == 0);
    psd_document_destroy(document);
}

static void values_are_counted_and_found(void)
{
    struct psd_document *document = net_of("name: '' force_backward: false input_dim: [7, 8, 9] "
                                           "state {} layer { name: 'a' } layer { name: 'b' }");
    const ProtobufCMessage *net = document->root;

    CHECK(count_of(net, "name") == 1 && count_of(net, "force_backward") == 1);
    CHECK(count_of(net, "state") == 1 && count_of(net, "debug_info") == 0);
    CHECK(count_of(net, "input_dim") == 3 && count_of(net, "layer") == 2);
    CHECK(*(const int32_t *)psd_field_at(net, field_of(net, "input_dim"), 2) == 9);
    CHECK_TEXT("", *(char *const *)psd_field_at(net, field_of(net, "name"), 0));
    CHECK_TEXT("name: \"b\"\n", text_of(psd_field_message(net, field_of(net, "layer"), 1)));
    psd_document_destroy(document);
}

static void a_default_is_no_value(void)
{
    struct psd_document *absent = document_of(SOLVER, ""),
                        *given = document_of(SOLVER, "type: 'SGD'");

    CHECK_TEXT("SGD", ((const Caffe__SolverParameter *)absent->root)->type);
    CHECK(count_of(absent->root, "type") == 0 && count_of(given->root, "type") == 1);
    psd_document_destroy(absent);
    psd_document_destroy(given);
}

static void what_is_cleared_is_as_it_never_was(void)
{
    struct psd_document *document =
        document_of(SOLVER, "type: 'Adam' iter_size: 3 max_iter: 5 test_iter: [1, 2] net_param {} "
                            "net: 'x' debug_info: true solver_mode: CPU");
    struct psd_document *empty = document_of(SOLVER, "");

    for (unsigned i = 0; i < SOLVER->n_fields; i++)
        psd_field_clear(document->root, &SOLVER->fields[i]);
    CHECK_TEXT("", text_of(document->root));
    CHECK(memcmp(document->root, empty->root, SOLVER->sizeof_message) == 0);
    psd_document_destroy(document);
    psd_document_destroy(empty);
}

static void room_is_made_for_many_values_at_once(void)
{
    struct psd_document *document = document_of(BLOB, "data: 5");
    const ProtobufCFieldDescriptor *data = field_of(document->root, "data");
    Caffe__BlobProto *blob = (Caffe__BlobProto *)document->root;

    float *to = psd_field_extend(document->arena, &blob->base, data, 100000);
    CHECK(to && blob->n_data == 100001 && to == blob->data + 1 && blob->data[0] == 5);
    psd_document_destroy(document);
}

static void types_and_sizes_follow_the_schema(void)
{
    const ProtobufCMessage base = {.descriptor = DATUM};

    CHECK(psd_field_size(field_of(&base, "data")) == sizeof(ProtobufCBinaryData));
    CHECK(psd_field_size(field_of(&base, "label")) == 4);
    CHECK(psd_field_size(field_of(&base, "encoded")) == sizeof(protobuf_c_boolean));
    CHECK(psd_field_size(psd_field_find(SOLVER, "random_seed", 11)) == 8);
    CHECK(psd_field_size(psd_field_find(NET, "layer", 5)) == sizeof(void *));
    CHECK(psd_field_type(psd_field_find(NET, "layer", 5)) == LAYER);
    CHECK(!psd_field_type(psd_field_find(NET, "name", 4)));
    CHECK(psd_field_enum(psd_field_find(LAYER, "phase", 5)) == &caffe__phase__descriptor);
    CHECK(!psd_field_enum(psd_field_find(NET, "name", 4)));
}

static psd_status build(struct psd_document **out)
{
    ProtobufCMessage *layer = NULL;
    float one = 1;

    PSD_TRY(psd_document_create(NET, "a", 0, out));
    struct psd_arena *arena = (*out)->arena;
    PSD_TRY(psd_field_add_message(arena, (*out)->root, field_of((*out)->root, "layer"), &layer));
    for (int i = 0; i < 20000; i++)
        PSD_TRY(psd_field_put(arena, layer, field_of(layer, "loss_weight"), &one));
    return PSD_OK;
}

static void every_failed_allocation_is_survived(void)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_document *document = NULL;
        psd_alloc_fail_at(n);
        psd_status status = build(&document);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        if (!failed)
            CHECK(net_in(document)->layer[0]->n_loss_weight == 20000);
        psd_document_destroy(document);
    }
}

int main(int argc, char **argv)
{
    RUN(every_field_is_found_by_its_name)
    RUN(part_of_a_name_is_not_the_name)
    RUN(an_empty_message_has_no_values)
    RUN(values_are_counted_and_found)
    RUN(a_default_is_no_value)
    RUN(what_is_cleared_is_as_it_never_was)
    RUN(room_is_made_for_many_values_at_once)
    RUN(types_and_sizes_follow_the_schema)
    RUN(every_failed_allocation_is_survived)
}
