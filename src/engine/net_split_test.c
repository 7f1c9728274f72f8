#include "documents.h"
#include "engine/net_state.h"

static void check_split(const char *before, const char *after)
{
    struct psd_document *document = net_of(before), *wanted = net_of(after);
    char text[4000];

    CHECK_OK(psd_net_split(document, net_in(document)));
    snprintf(text, sizeof text, "%s", text_of(document->root));
    CHECK_TEXT(text_of(wanted->root), text);
    psd_document_destroy(document);
    psd_document_destroy(wanted);
}

static void a_blob_with_one_reader_stays(void)
{
    check_split("layer { name: 'a' top: 'x' } layer { name: 'b' bottom: 'x' top: 'y' }",
                "layer { name: 'a' top: 'x' } layer { name: 'b' bottom: 'x' top: 'y' }");
}

static void parts_have_the_names_that_caffe_gives_them(void)
{
    check_split("layer { name: 'data' top: 'x' top: 'label' }"
                "layer { name: 'a' bottom: 'label' } layer { name: 'b' bottom: 'label' }"
                "layer { name: 'c' bottom: 'label' bottom: 'x' }",
                "layer { name: 'data' top: 'x' top: 'label' }"
                "layer { name: 'label_data_1_split' type: 'Split' bottom: 'label'"
                "        top: 'label_data_1_split_0' top: 'label_data_1_split_1'"
                "        top: 'label_data_1_split_2' }"
                "layer { name: 'a' bottom: 'label_data_1_split_0' }"
                "layer { name: 'b' bottom: 'label_data_1_split_1' }"
                "layer { name: 'c' bottom: 'label_data_1_split_2' bottom: 'x' }");
}

/* What reads the blob after an in-place layer reads that layer's result. */
static void an_in_place_layer_is_one_reader_and_a_source(void)
{
    check_split("layer { name: 'conv' top: 'x' } layer { name: 'relu' bottom: 'x' top: 'x' }"
                "layer { name: 'a' bottom: 'x' } layer { name: 'b' bottom: 'x' }",
                "layer { name: 'conv' top: 'x' } layer { name: 'relu' bottom: 'x' top: 'x' }"
                "layer { name: 'x_relu_0_split' type: 'Split' bottom: 'x'"
                "        top: 'x_relu_0_split_0' top: 'x_relu_0_split_1' }"
                "layer { name: 'a' bottom: 'x_relu_0_split_0' }"
                "layer { name: 'b' bottom: 'x_relu_0_split_1' }");
}

static void a_layer_may_read_a_blob_twice(void)
{
    check_split("layer { name: 'a' top: 'x' } layer { name: 'b' bottom: 'x' bottom: 'x' }",
                "layer { name: 'a' top: 'x' }"
                "layer { name: 'x_a_0_split' type: 'Split' bottom: 'x'"
                "        top: 'x_a_0_split_0' top: 'x_a_0_split_1' }"
                "layer { name: 'b' bottom: 'x_a_0_split_0' bottom: 'x_a_0_split_1' }");
}

/* The first part has the weight, and the blob itself none any more. */
static void a_loss_weight_is_a_reader(void)
{
    check_split("layer { name: 'a' top: 'x' top: 'y' loss_weight: 2 loss_weight: 3 }"
                "layer { name: 'b' bottom: 'x' }",
                "layer { name: 'a' top: 'x' top: 'y' loss_weight: 0 loss_weight: 3 }"
                "layer { name: 'x_a_0_split' type: 'Split' bottom: 'x'"
                "        top: 'x_a_0_split_0' top: 'x_a_0_split_1'"
                "        loss_weight: 2 loss_weight: 0 }"
                "layer { name: 'b' bottom: 'x_a_0_split_1' }");
}

static void a_bottom_that_nobody_makes_stays(void)
{
    check_split("layer { name: 'a' bottom: 'x' } layer { name: 'b' bottom: 'x' }",
                "layer { name: 'a' bottom: 'x' } layer { name: 'b' bottom: 'x' }");
}

int main(int argc, char **argv)
{
    RUN(a_blob_with_one_reader_stays)
    RUN(parts_have_the_names_that_caffe_gives_them)
    RUN(an_in_place_layer_is_one_reader_and_a_source)
    RUN(a_layer_may_read_a_blob_twice)
    RUN(a_loss_weight_is_a_reader)
    RUN(a_bottom_that_nobody_makes_stays)
}
