/* upgrade_test.c - old nets and solvers become new ones. */
#include "base/alloc.h"
#include "documents.h"
#include "proto/upgrade.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static psd_status upgrade(struct psd_document *document, struct psd_upgrade *report)
{
    psd_upgrade_init(report, document);
    return document->root->descriptor == NET ? psd_upgrade_net(document, report)
                                             : psd_upgrade_solver(document, report);
}

/* An old text, the steps it needs, and what becomes of it. */
struct example {
    const char *old;
    unsigned done;
    const char *upgraded;
};

static void check_becomes(const ProtobufCMessageDescriptor *type, const struct example *example)
{
    struct psd_document *document = document_of(type, example->old);
    struct psd_upgrade report;

    fprintf(stderr, "    %s\n", example->old);
    CHECK_OK(upgrade(document, &report));
    CHECK_TEXT(example->upgraded, text_of(document->root));
    CHECK(report.done == example->done);
    CHECK_TEXT("", report.warnings.sentences.text);
    CHECK_OK(upgrade(document, &report));
    CHECK(report.done == 0); /* the second time there is nothing to do */
    CHECK_TEXT(example->upgraded, text_of(document->root));
    psd_document_destroy(document);
}

/* A text that is upgraded, but not without warnings. */
static void check_warns(const char *old, const char *upgraded, const char *warnings)
{
    struct psd_document *document = net_of(old);
    struct psd_upgrade report;

    CHECK_OK(upgrade(document, &report));
    CHECK_TEXT(upgraded, text_of(document->root));
    CHECK_TEXT(warnings, report.warnings.sentences.text);
    psd_document_destroy(document);
}

static void check_impossible(const ProtobufCMessageDescriptor *type, const char *old,
                             const char *sentences)
{
    struct psd_document *document = document_of(type, old);
    struct psd_upgrade report;

    CHECK_STATUS(PSD_ECONFIG, upgrade(document, &report));
    CHECK_TEXT(sentences, psd_error());
    psd_document_destroy(document);
}

static void new_files_stay_as_they_are(void)
{
    static const struct example examples[] = {
        {"", 0, ""},
        {"name: 'n' layer { name: 'a' type: 'ReLU' } input_dim: 3", 0,
         "name: \"n\"\ninput_dim: 3\nlayer {\n  name: \"a\"\n  type: \"ReLU\"\n}\n"},
        {"layer { type: 'Data' data_param { scale: 2 } }", 0,
         "layer {\n  type: \"Data\"\n  data_param {\n    scale: 2\n  }\n}\n"},
    };

    for (size_t i = 0; i < COUNT(examples); i++)
        check_becomes(NET, &examples[i]);
    check_becomes(SOLVER, &(struct example){"type: 'Adam'", 0, "type: \"Adam\"\n"});
}

enum { OLDEST = PSD_UPGRADE_V0 | PSD_UPGRADE_V1 };

static void v0_parameters_find_the_message_of_their_layer(void)
{
    static const struct example examples[] = {
        {"layers { layer { name: 'c' type: 'conv' num_output: 4 biasterm: false pad: 1 "
         "kernelsize: 3 group: 2 stride: 2 } top: 'c' }",
         OLDEST,
         "layer {\n  name: \"c\"\n  type: \"Convolution\"\n  top: \"c\"\n  convolution_param {\n"
         "    num_output: 4\n    bias_term: false\n    pad: 1\n    kernel_size: 3\n    group: 2\n"
         "    stride: 2\n  }\n}\n"},
        {"layers { layer { type: 'pool' pool: STOCHASTIC kernelsize: 3 stride: 2 pad: 1 } }",
         OLDEST,
         "layer {\n  type: \"Pooling\"\n  pooling_param {\n    pool: STOCHASTIC\n"
         "    kernel_size: 3\n    stride: 2\n    pad: 1\n  }\n}\n"},
        {"layers { layer { type: 'innerproduct' num_output: 5 biasterm: true "
         "weight_filler { type: 'xavier' } bias_filler {} } }",
         OLDEST,
         "layer {\n  type: \"InnerProduct\"\n  inner_product_param {\n    num_output: 5\n"
         "    bias_term: true\n    weight_filler {\n      type: \"xavier\"\n    }\n"
         "    bias_filler {\n    }\n  }\n}\n"},
        {"layers { layer { type: 'lrn' local_size: 3 alpha: 0.1 beta: 0.5 k: 2 } }", OLDEST,
         "layer {\n  type: \"LRN\"\n  lrn_param {\n    local_size: 3\n    alpha: 0.1\n"
         "    beta: 0.5\n    k: 2\n  }\n}\n"},
        {"layers { layer { type: 'dropout' dropout_ratio: 0.3 blobs_lr: 2 weight_decay: 0 } }",
         OLDEST,
         "layer {\n  type: \"Dropout\"\n  param {\n    lr_mult: 2\n    decay_mult: 0\n  }\n"
         "  dropout_param {\n    dropout_ratio: 0.3\n  }\n}\n"},
        {"layers { layer { type: 'data' source: 's' batchsize: 4 rand_skip: 1 scale: 2 "
         "meanfile: 'm' cropsize: 3 mirror: true } }",
         OLDEST,
         "layer {\n  type: \"Data\"\n  transform_param {\n    scale: 2\n    mirror: true\n"
         "    crop_size: 3\n    mean_file: \"m\"\n  }\n  data_param {\n    source: \"s\"\n"
         "    batch_size: 4\n    rand_skip: 1\n  }\n}\n"},
        {"layers { layer { type: 'images' source: 's' batchsize: 4 shuffle_images: true "
         "new_height: 5 new_width: 6 rand_skip: 7 } }",
         OLDEST,
         "layer {\n  type: \"ImageData\"\n  image_data_param {\n    source: \"s\"\n"
         "    batch_size: 4\n    rand_skip: 7\n    shuffle: true\n    new_height: 5\n"
         "    new_width: 6\n  }\n}\n"},
        {"layers { layer { type: 'window_data' source: 's' det_fg_threshold: 0.6 "
         "det_bg_threshold: 0.4 det_fg_fraction: 0.3 det_context_pad: 1 det_crop_mode: 'square' } "
         "}",
         OLDEST,
         "layer {\n  type: \"WindowData\"\n  window_data_param {\n    source: \"s\"\n"
         "    fg_threshold: 0.6\n    bg_threshold: 0.4\n    fg_fraction: 0.3\n"
         "    context_pad: 1\n    crop_mode: \"square\"\n  }\n}\n"},
        {"layers { layer { type: 'hdf5_data' source: 's' batchsize: 2 } }", OLDEST,
         "layer {\n  type: \"HDF5Data\"\n  hdf5_data_param {\n    source: \"s\"\n"
         "    batch_size: 2\n  }\n}\n"},
        {"layers { layer { type: 'hdf5_output' hdf5_output_param { file_name: 'f' } } }", OLDEST,
         "layer {\n  type: \"HDF5Output\"\n  hdf5_output_param {\n    file_name: \"f\"\n  }\n}\n"},
        {"layers { layer { type: 'infogain_loss' source: 's' } }", OLDEST,
         "layer {\n  type: \"InfogainLoss\"\n  infogain_loss_param {\n    source: \"s\"\n  }\n}\n"},
        {"layers { layer { type: 'concat' concat_dim: 2 } }", OLDEST,
         "layer {\n  type: \"Concat\"\n  concat_param {\n    concat_dim: 2\n  }\n}\n"},
        {"layers { layer { type: 'softmax' blobs { data: 1.5 } } }", OLDEST,
         "layer {\n  type: \"Softmax\"\n  blobs {\n    data: 1.5\n  }\n}\n"},
    };

    for (size_t i = 0; i < COUNT(examples); i++)
        check_becomes(NET, &examples[i]);
}

static void every_v0_type_has_a_name_of_today(void)
{
    static const char *const names[][2] = {
        {"accuracy", "Accuracy"},
        {"bnll", "BNLL"},
        {"concat", "Concat"},
        {"conv", "Convolution"},
        {"data", "Data"},
        {"dropout", "Dropout"},
        {"euclidean_loss", "EuclideanLoss"},
        {"flatten", "Flatten"},
        {"hdf5_data", "HDF5Data"},
        {"hdf5_output", "HDF5Output"},
        {"im2col", "Im2col"},
        {"images", "ImageData"},
        {"infogain_loss", "InfogainLoss"},
        {"innerproduct", "InnerProduct"},
        {"lrn", "LRN"},
        {"multinomial_logistic_loss", "MultinomialLogisticLoss"},
        {"pool", "Pooling"},
        {"relu", "ReLU"},
        {"sigmoid", "Sigmoid"},
        {"softmax", "Softmax"},
        {"softmax_loss", "SoftmaxWithLoss"},
        {"split", "Split"},
        {"tanh", "TanH"},
        {"window_data", "WindowData"},
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        char old[100], upgraded[100];
        snprintf(old, sizeof old, "layers { layer { type: '%s' } }", names[i][0]);
        snprintf(upgraded, sizeof upgraded, "layer {\n  type: \"%s\"\n}\n", names[i][1]);
        check_becomes(NET, &(struct example){old, OLDEST, upgraded});
    }
}

static void every_v1_type_has_a_name_of_today(void)
{
    const ProtobufCEnumDescriptor *types = &caffe__v1_layer_parameter__layer_type__descriptor;

    CHECK(types->n_values == 40);
    for (unsigned i = 1; i < types->n_values; i++) {
        char old[100];
        struct psd_upgrade report;
        snprintf(old, sizeof old, "layers { type: %s }", types->values[i].name);
        struct psd_document *document = net_of(old);
        CHECK_OK(upgrade(document, &report));
        const char *type = net_in(document)->layer[0]->type;
        CHECK(type && *type >= 'A' && *type <= 'Z');
        psd_document_destroy(document);
    }
}

static void padding_layers_become_the_pad_of_their_readers(void)
{
    static const struct example examples[] = {
        {"input: 'd' input_dim: [1, 2, 3, 4] "
         "layers { layer { type: 'padding' pad: 2 } bottom: 'd' top: 'p' } "
         "layers { layer { type: 'conv' kernelsize: 5 } bottom: 'p' top: 'c' } "
         "layers { layer { type: 'pool' } bottom: 'p' top: 'q' }",
         OLDEST | PSD_UPGRADE_INPUT,
         "layer {\n  name: \"input\"\n  type: \"Input\"\n  top: \"d\"\n  input_param {\n"
         "    shape {\n      dim: 1\n      dim: 2\n      dim: 3\n      dim: 4\n    }\n  }\n}\n"
         "layer {\n  type: \"Convolution\"\n  bottom: \"d\"\n  top: \"c\"\n"
         "  convolution_param {\n    pad: 2\n    kernel_size: 5\n  }\n}\n"
         "layer {\n  type: \"Pooling\"\n  bottom: \"d\"\n  top: \"q\"\n  pooling_param {\n"
         "    pad: 2\n  }\n}\n"},
        {"layers { layer { type: 'data' } top: 'd' } "
         "layers { layer { type: 'padding' pad: 1 } bottom: 'd' top: 'd' } "
         "layers { layer { type: 'conv' } bottom: 'd' top: 'd' } "
         "layers { layer { type: 'conv' } bottom: 'd' top: 'e' }",
         OLDEST,
         "layer {\n  type: \"Data\"\n  top: \"d\"\n}\n"
         "layer {\n  type: \"Convolution\"\n  bottom: \"d\"\n  top: \"d\"\n"
         "  convolution_param {\n    pad: 1\n  }\n}\n"
         "layer {\n  type: \"Convolution\"\n  bottom: \"d\"\n  top: \"e\"\n}\n"},
    };

    for (size_t i = 0; i < COUNT(examples); i++)
        check_becomes(NET, &examples[i]);
}

static void v1_blob_settings_are_gathered_in_params(void)
{
    static const struct example examples[] = {
        {"layers { type: INNER_PRODUCT param: 'w' param: 'b' blobs_lr: [1, 2, 3] "
         "weight_decay: 0 blob_share_mode: [STRICT, PERMISSIVE] }",
         PSD_UPGRADE_V1,
         "layer {\n  type: \"InnerProduct\"\n"
         "  param {\n    name: \"w\"\n    share_mode: STRICT\n    lr_mult: 1\n    decay_mult: 0\n"
         "  }\n  param {\n    name: \"b\"\n    share_mode: PERMISSIVE\n    lr_mult: 2\n  }\n"
         "  param {\n    lr_mult: 3\n  }\n}\n"},
        {"layers { name: 'l' type: SOFTMAX_LOSS bottom: 'a' bottom: 'b' top: 't' loss_weight: 2 "
         "include { phase: TRAIN } exclude { stage: 's' } loss_param { ignore_label: 255 } "
         "blobs { num: 1 data: 3 } }",
         PSD_UPGRADE_V1,
         "layer {\n  name: \"l\"\n  type: \"SoftmaxWithLoss\"\n  bottom: \"a\"\n  bottom: \"b\"\n"
         "  top: \"t\"\n  loss_weight: 2\n  blobs {\n    num: 1\n    data: 3\n  }\n"
         "  include {\n    phase: TRAIN\n  }\n  exclude {\n    stage: \"s\"\n  }\n"
         "  loss_param {\n    ignore_label: 255\n  }\n}\n"},
        {"layers {}", PSD_UPGRADE_V1, "layer {\n}\n"},
    };

    for (size_t i = 0; i < COUNT(examples); i++)
        check_becomes(NET, &examples[i]);
}

static void every_v1_parameter_message_moves_over(void)
{
    const ProtobufCMessageDescriptor *type = &caffe__v1_layer_parameter__descriptor;

    for (unsigned i = 0; i < type->n_fields; i++) {
        const char *name = type->fields[i].name;
        char old[100], upgraded[100];
        if (!strstr(name, "_param"))
            continue;
        snprintf(old, sizeof old, "layers { %s {} }", name);
        snprintf(upgraded, sizeof upgraded, "layer {\n  %s {\n  }\n}\n", name);
        check_becomes(NET, &(struct example){old, PSD_UPGRADE_V1, upgraded});
    }
}

static void transformations_leave_the_data_layers(void)
{
    static const char *const kinds[][3] = {{"DATA", "data_param", "Data"},
                                           {"IMAGE_DATA", "image_data_param", "ImageData"},
                                           {"WINDOW_DATA", "window_data_param", "WindowData"}};

    for (size_t i = 0; i < COUNT(kinds); i++) {
        char old[300], upgraded[300],
            transform[] = "  transform_param {\n    scale: 0.5\n"
                          "    mirror: true\n    crop_size: 2\n"
                          "    mean_file: \"m\"\n  }\n";
        snprintf(old, sizeof old,
                 "layers { type: %s %s { source: 's' scale: 0.5 mean_file: 'm' crop_size: 2 "
                 "mirror: true } }",
                 kinds[i][0], kinds[i][1]);
        snprintf(upgraded, sizeof upgraded,
                 "layer {\n  type: \"%s\"\n%s  %s {\n    source: \"s\"\n  }\n}\n", kinds[i][2],
                 transform, kinds[i][1]);
        check_becomes(NET,
                      &(struct example){old, PSD_UPGRADE_TRANSFORM | PSD_UPGRADE_V1, upgraded});
    }
}

static void inputs_become_a_layer_in_front(void)
{
    static const struct example examples[] = {
        {"name: 'n' input: 'a' input: 'b' input_shape { dim: 5 } input_shape {} layer { name: 'x' "
         "}",
         PSD_UPGRADE_INPUT,
         "name: \"n\"\nlayer {\n  name: \"input\"\n  type: \"Input\"\n  top: \"a\"\n  top: \"b\"\n"
         "  input_param {\n    shape {\n      dim: 5\n    }\n    shape {\n    }\n  }\n}\n"
         "layer {\n  name: \"x\"\n}\n"},
        {"input: 'a' layer { name: 'x' }", PSD_UPGRADE_INPUT, "layer {\n  name: \"x\"\n}\n"},
    };

    for (size_t i = 0; i < COUNT(examples); i++)
        check_becomes(NET, &examples[i]);
}

static void batch_norm_statistics_do_not_learn(void)
{
    static const char still[] = "  param {\n    lr_mult: 0\n    decay_mult: 0\n  }\n";
    char upgraded[500];

    snprintf(
        upgraded, sizeof upgraded,
        "layer {\n  type: \"BatchNorm\"\n%s%s%s}\nlayer {\n  type: \"BatchNorm\"\n  param {\n"
        "  }\n}\nlayer {\n  type: \"Scale\"\n  param {\n  }\n  param {\n  }\n  param {\n  }\n}\n",
        still, still, still);
    check_becomes(NET, &(struct example){"layer { type: 'BatchNorm' param { lr_mult: 1 } param {} "
                                         "param { lr_mult: 0 decay_mult: 0 } } "
                                         "layer { type: 'BatchNorm' param {} } "
                                         "layer { type: 'Scale' param {} param {} param {} }",
                                         PSD_UPGRADE_BATCH_NORM, upgraded});
}

static void solver_types_get_their_names(void)
{
    static const char *const names[][2] = {{"SGD", "SGD"},           {"NESTEROV", "Nesterov"},
                                           {"ADAGRAD", "AdaGrad"},   {"RMSPROP", "RMSProp"},
                                           {"ADADELTA", "AdaDelta"}, {"ADAM", "Adam"}};

    for (size_t i = 0; i < COUNT(names); i++) {
        char old[100], upgraded[100];
        snprintf(old, sizeof old, "solver_type: %s", names[i][0]);
        snprintf(upgraded, sizeof upgraded, "type: \"%s\"\n", names[i][1]);
        check_becomes(SOLVER, &(struct example){old, PSD_UPGRADE_SOLVER_TYPE, upgraded});
    }
}

static void nets_inside_a_solver_are_upgraded_too(void)
{
    check_becomes(
        SOLVER,
        &(struct example){"net_param { layers { type: RELU } } train_net_param { input: 'x' } "
                          "test_net_param { layers { layer { type: 'relu' } } } test_net_param {}",
                          OLDEST | PSD_UPGRADE_INPUT,
                          "train_net_param {\n}\n"
                          "test_net_param {\n  layer {\n    type: \"ReLU\"\n  }\n}\n"
                          "test_net_param {\n}\n"
                          "net_param {\n  layer {\n    type: \"ReLU\"\n  }\n}\n"});
}

static void parameters_without_a_meaning_are_left_out_with_a_warning(void)
{
    check_warns(
        "layers {\n  layer {\n    type: 'relu'\n    kernelsize: 3\n    new_num: 1\n  }\n}\n",
        "layer {\n  type: \"ReLU\"\n}\n",
        "test.prototxt:4:5: \"kernelsize\" means nothing to a layer of type \"relu\" and is "
        "left out\n"
        "test.prototxt:5:5: \"new_num\" means nothing to a layer of type \"relu\" and is "
        "left out");
}

static void new_layers_beside_old_ones_are_left_out_with_a_warning(void)
{
    check_warns("layers { name: 'old' }\nlayer { name: 'new' }\n", "layer {\n  name: \"old\"\n}\n",
                "test.prototxt:2:1: the net has old \"layers\" and new \"layer\" parts; as in "
                "Caffe, the new ones are left out");
}

static void what_cannot_be_upgraded_is_told_with_all_its_places(void)
{
    static const struct {
        const ProtobufCMessageDescriptor *type;
        const char *old, *sentences;
    } cases[] = {
        {NET, "layers { layer {\n type: 'conf' } }\nlayers { layer { type: 'quux' } }",
         "test.prototxt:2:2: unknown V0 layer type \"conf\"; did you mean \"conv\"?\n"
         "test.prototxt:3:18: unknown V0 layer type \"quux\""},
        {NET,
         "layers { layer { type: 'data' } top: 'd' }\n"
         "layers { layer { type: 'padding' } bottom: 'd' top: 'p' }\n"
         "layers { layer { type: 'relu' } bottom: 'p' top: 'r' }\n"
         "layers { layer { type: 'conv' } bottom: 'x' top: 'c' }\n",
         "test.prototxt:3:1: a padding layer can only stand between one blob and one conv or pool "
         "layer\n"
         "test.prototxt:4:1: no layer above makes the bottom \"x\""},
        {NET, "name: 'n'\ninput: 'a'\ninput: 'b'\ninput_dim: [1, 2, 3, 4]",
         "test.prototxt:2:1: input \"b\" has no shape; give each input an input_shape, or four "
         "input_dim"},
        {NET, "input: 'a' input: 'b' input_shape {}",
         "test.prototxt:1:1: input \"b\" has no shape; give each input an input_shape, or four "
         "input_dim"},
        {SOLVER, "type: 'SGD'\nsolver_type: ADAM",
         "test.prototxt:2:1: the old \"solver_type\" and the new \"type\" are both given; keep "
         "\"type\""},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_impossible(cases[i].type, cases[i].old, cases[i].sentences);
}

static bool stands_at(const struct psd_document *document, const void *message, unsigned field,
                      size_t line, size_t column)
{
    struct psd_position at = psd_document_where(document, message, field);

    return at.line == line && at.column == column;
}

static void places_survive_the_upgrade(void)
{
    struct psd_document *document = net_of("layers {\n"
                                           "  layer {\n"
                                           "    name: 'c' type: 'conv'\n"
                                           "    kernelsize: 3\n"
                                           "  }\n"
                                           "  top: 'c'\n"
                                           "}\n"
                                           "layers { name: 'r' type: RELU\n"
                                           "  relu_param { engine: CAFFE }\n"
                                           "}\n");
    struct psd_upgrade report;

    CHECK_OK(upgrade(document, &report));
    const Caffe__LayerParameter *conv = net_in(document)->layer[0],
                                *relu = net_in(document)->layer[1];
    CHECK(stands_at(document, conv, 0, 1, 1));
    CHECK(stands_at(document, conv, 1, 3, 5));                    /* name */
    CHECK(stands_at(document, conv, 4, 6, 3));                    /* top */
    CHECK(stands_at(document, conv->convolution_param, 4, 4, 5)); /* kernel_size */
    CHECK(stands_at(document, relu, 0, 8, 1));
    CHECK(stands_at(document, relu, 123, 9, 3)); /* relu_param */
    CHECK(stands_at(document, relu->relu_param, 0, 9, 3));
    CHECK(stands_at(document, relu->relu_param, 2, 9, 16)); /* engine */
    psd_document_destroy(document);
}

/* Its number may mean something else in a layer of today; everywhere else it stays. */
static void an_unknown_field_of_an_old_layer_is_left_out_with_a_warning(void)
{
    /* layers { layer { field 1001 } blobs { data: 1, field 1000 } field 1000 } field 1000 */
    static const char bytes[] =
        "\x12\x13\x0a\x03\xc8\x3e\x04\x32\x09\x2a\x04\0\0\x80\x3f\xc0\x3e\x05"
        "\xc0\x3e\x06\xc0\x3e\x07";
    static const char upgraded[] =
        "\xa2\x06\x0b\x3a\x09\x2a\x04\0\0\x80\x3f\xc0\x3e\x05\xc0\x3e\x07";
    struct psd_document *document = NULL;
    struct psd_upgrade report;

    CHECK_OK(read_bytes(NET, "a", bytes, sizeof bytes - 1, &document));
    CHECK_OK(upgrade(document, &report));
    CHECK_TEXT("a: field 1001 of an old layer is not known and is left out\n"
               "a: field 1000 of an old layer is not known and is left out",
               report.warnings.sentences.text);
    struct written again = written_wire(document->root);
    CHECK(again.size == sizeof upgraded - 1);
    CHECK(memcmp(again.data, upgraded, again.size) == 0);
    free(again.data);
    psd_document_destroy(document);
}

static void a_file_without_places_is_upgraded_and_told_by_its_name(void)
{
    static const char bytes[] = "\x12\x08\x0a\x06\x12\x04quux";
    struct psd_document *document = NULL;
    struct psd_upgrade report;

    CHECK_OK(read_bytes(NET, "old.caffemodel", bytes, sizeof bytes - 1, &document));
    CHECK_STATUS(PSD_ECONFIG, upgrade(document, &report));
    CHECK_TEXT("old.caffemodel: unknown V0 layer type \"quux\"", psd_error());
    psd_document_destroy(document);
}

static void every_step_has_words(void)
{
    CHECK_TEXT("V0 layers", psd_upgrade_step_name(PSD_UPGRADE_V0));
    CHECK_TEXT("old data transformation fields", psd_upgrade_step_name(PSD_UPGRADE_TRANSFORM));
    CHECK_TEXT("V1 layers", psd_upgrade_step_name(PSD_UPGRADE_V1));
    CHECK_TEXT("old input fields", psd_upgrade_step_name(PSD_UPGRADE_INPUT));
    CHECK_TEXT("old batch-norm parameters", psd_upgrade_step_name(PSD_UPGRADE_BATCH_NORM));
    CHECK_TEXT("the old solver_type", psd_upgrade_step_name(PSD_UPGRADE_SOLVER_TYPE));
}

/* Layers enough to need a second block of memory on the way. */
static const char *many_old_layers(void)
{
    static char text[20000] = "solver_type: ADAM net_param { input: 'd' input_dim: [1, 2, 3, 4] ";
    size_t used = strlen(text);

    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "layers { layer { name: 'c' type: 'conv' kernelsize: 3 blobs_lr: "
                                 "1 } bottom: 'd' top: 't%d' } ",
                                 i);
    snprintf(text + used, sizeof text - used, "}");
    return text;
}

static void every_failed_allocation_is_survived(void)
{
    const char *text = many_old_layers();
    bool failed = true;
    long n = 0;

    for (; failed; n++) {
        struct psd_document *document = document_of(SOLVER, text);
        struct psd_upgrade report;
        psd_alloc_fail_at(n);
        psd_status status = upgrade(document, &report);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_document_destroy(document);
    }
    CHECK(n > 3);
}

int main(int argc, char **argv)
{
    RUN(new_files_stay_as_they_are)
    RUN(v0_parameters_find_the_message_of_their_layer)
    RUN(every_v0_type_has_a_name_of_today)
    RUN(every_v1_type_has_a_name_of_today)
    RUN(padding_layers_become_the_pad_of_their_readers)
    RUN(v1_blob_settings_are_gathered_in_params)
    RUN(every_v1_parameter_message_moves_over)
    RUN(transformations_leave_the_data_layers)
    RUN(inputs_become_a_layer_in_front)
    RUN(batch_norm_statistics_do_not_learn)
    RUN(solver_types_get_their_names)
    RUN(nets_inside_a_solver_are_upgraded_too)
    RUN(parameters_without_a_meaning_are_left_out_with_a_warning)
    RUN(new_layers_beside_old_ones_are_left_out_with_a_warning)
    RUN(what_cannot_be_upgraded_is_told_with_all_its_places)
    RUN(places_survive_the_upgrade)
    RUN(an_unknown_field_of_an_old_layer_is_left_out_with_a_warning)
    RUN(a_file_without_places_is_upgraded_and_told_by_its_name)
    RUN(every_step_has_words)
    RUN(every_failed_allocation_is_survived)
}
