/* digest_test.c - equal messages have equal checksums, and a small difference is seen. */
#include "documents.h"
#include "proto/digest.h"
#include "proto/field.h"

static const char *const places[] = {"source", "mean_file", NULL};

static uint32_t digest(const char *text)
{
    struct psd_document *document = net_of(text);
    uint32_t crc = psd_digest_message(document->root, places);

    psd_document_destroy(document);
    return crc;
}

static void what_is_said_in_other_words_is_the_same(void)
{
    static const char *const same[][2] = {
        {"", "force_backward: false"},
        {"layer { name: 'a' type: 'ReLU' }", "layer { type: 'ReLU' name: 'a' loss_weight: [] }"},
        {"layer { pooling_param { kernel_size: 2 } }",
         "layer { pooling_param { pool: MAX kernel_size: 2 stride: 1 } }"},
        {"layer { data_param { source: 'a' } transform_param { mean_file: 'b' } }",
         "layer { data_param { source: 'c' } transform_param { } }"},
        {"layer { convolution_param { weight_filler { } } }",
         "layer { convolution_param { weight_filler { type: 'constant' } } }"},
    };

    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (digest(same[i][0]) != digest(same[i][1]))
            TEST_FAIL("%s is not %s", same[i][0], same[i][1]);
    }
}

static void every_difference_is_seen(void)
{
    static const char *const texts[] = {
        "",
        "name: 'a'",
        "force_backward: true",
        "input: 'a'",
        "input: 'a' input: 'b'",
        "input: 'ab'",
        "input: ''",
        "layer { }",
        "layer { } layer { }",
        "layer { name: 'a' }",
        "layer { type: 'a' }",
        "layer { loss_weight: 1 }",
        "layer { loss_weight: 1 loss_weight: 0 }",
        "layer { pooling_param { kernel_size: 2 } }",
        "layer { pooling_param { kernel_size: 2 pool: AVE } }",
        "layer { dropout_param { dropout_ratio: 0.25 } }",
        "layer { dropout_param { dropout_ratio: 0.26 } }",
        "layer { data_param { batch_size: 4 } }",
        "layer { blobs { double_data: 1 } }",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };

    for (size_t i = 0; i < TEXTS; i++) {
        for (size_t k = 0; k < i; k++) {
            if (digest(texts[i]) == digest(texts[k]))
                TEST_FAIL("%s is as %s", texts[i], texts[k]);
        }
    }
}

static void a_field_has_a_checksum_of_its_own(void)
{
    const ProtobufCFieldDescriptor *rate = psd_field_named(SOLVER, "base_lr");
    struct psd_document *one = document_of(SOLVER, "base_lr: 0.1 display: 3");
    struct psd_document *two = document_of(SOLVER, "base_lr: 0.1 display: 4");
    struct psd_document *three = document_of(SOLVER, "base_lr: 0.2 display: 3");

    CHECK(psd_digest_field(one->root, rate, places) == psd_digest_field(two->root, rate, places));
    CHECK(psd_digest_field(one->root, rate, places) != psd_digest_field(three->root, rate, places));
    psd_document_destroy(one);
    psd_document_destroy(two);
    psd_document_destroy(three);
}

static void bytes_count_as_their_contents(void)
{
    struct psd_document *one = document_of(DATUM, "data: 'ab'");
    struct psd_document *two = document_of(DATUM, "data: 'ab'");
    struct psd_document *three = document_of(DATUM, "data: 'ac'");

    CHECK(psd_digest_message(one->root, places) == psd_digest_message(two->root, places));
    CHECK(psd_digest_message(one->root, places) != psd_digest_message(three->root, places));
    psd_document_destroy(one);
    psd_document_destroy(two);
    psd_document_destroy(three);
}

int main(int argc, char **argv)
{
    RUN(what_is_said_in_other_words_is_the_same)
    RUN(every_difference_is_seen)
    RUN(a_field_has_a_checksum_of_its_own)
    RUN(bytes_count_as_their_contents)
}
