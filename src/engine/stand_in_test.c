/* stand_in_test.c - shapes without samples, and nets that are sketches. */
#include "base/alloc.h"
#include "engine/stand_in.h"
#include "nets.h"

#define DATA(more, param)                                                                      \
    "layer { name: 'd' type: 'Data' top: 'data' top: 'label' " more " data_param { " param "}" \
    "}"
#define FC                                                             \
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'" \
    "  inner_product_param { num_output: 5 weight_filler { type: 'xavier' } } }"
#define LOSS "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' }"

/* The shape of the blob "data" when a sample of `sample` stands in. */
static const char *shape_of(const char *text, const struct psd_stand_in *stand_in)
{
    static char out[200];
    struct lab lab = lab_with(text, &(struct psd_net_options){.stand_in = stand_in});

    psd_shape_text(&psd_net_blob(lab.net, "data")->shape, out, sizeof out);
    CHECK_TEXT("Input", lab.net->layers[0].param->type);
    lab_close(&lab);
    return out;
}

static const char *refusal_of(const char *text, const struct psd_stand_in *stand_in)
{
    struct lab lab;

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = net_of(text);
    CHECK_STATUS(PSD_ECONFIG, lab_build(&lab, &(struct psd_net_options){.stand_in = stand_in}));
    lab_close(&lab);
    return psd_error();
}

static void samples_look_as_the_layer_says(void)
{
    static const struct {
        const char *text, *shape;
    } cases[] = {
        {DATA("transform_param { crop_size: 27 }", "source: 'no' batch_size: 4"),
         "4 3 27 27 (8748)"},
        {DATA("transform_param { crop_size: 27 force_gray: true }", "source: 'no' batch_size: 4"),
         "4 1 27 27 (2916)"},
        {DATA("transform_param { crop_size: 9 mean_value: 1 mean_value: 2 }",
              "source: 'no' batch_size: 2"),
         "2 2 9 9 (324)"},
        {"layer { name: 'd' type: 'ImageData' top: 'data' top: 'label'"
         "  image_data_param { source: 'no' batch_size: 2 new_height: 5 new_width: 7 } }",
         "2 3 5 7 (210)"},
        {"layer { name: 'd' type: 'ImageData' top: 'data' transform_param { crop_size: 4 }"
         "  image_data_param { source: 'no' batch_size: 2 new_height: 5 new_width: 7"
         "                     is_color: false } }",
         "2 1 4 4 (32)"},
        {"layer { name: 'd' type: 'WindowData' top: 'data' top: 'label'"
         "  window_data_param { source: 'no' batch_size: 2 crop_size: 6 } }",
         "2 3 6 6 (216)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(cases[i].shape, shape_of(cases[i].text, &(struct psd_stand_in){0}));
}

static void batch_and_sample_may_be_told(void)
{
    const char *data = DATA("transform_param { crop_size: 27 }", "source: 'no' batch_size: 4");
    const char *hdf5 = "layer { name: 'd' type: 'HDF5Data' top: 'data' top: 'label'"
                       "  hdf5_data_param { source: 'no' batch_size: 3 } }";

    CHECK_TEXT("7 3 27 27 (15309)", shape_of(data, &(struct psd_stand_in){.batch = 7}));
    CHECK_TEXT("4 6 2 (48)",
               shape_of(data, &(struct psd_stand_in){.sample = psd_shape_of(2, 6, 2, 0, 0)}));
    CHECK_TEXT("3 6 2 (36)",
               shape_of(hdf5, &(struct psd_stand_in){.sample = psd_shape_of(2, 6, 2, 0, 0)}));
}

static void labels_are_a_number_for_each_sample(void)
{
    struct lab lab =
        lab_with(DATA("transform_param { crop_size: 2 }", "source: 'no' batch_size: 4") FC LOSS,
                 &(struct psd_net_options){.stand_in = &(struct psd_stand_in){0}});
    char text[100];
    float loss = 0;

    CHECK_TEXT("4 (4)", psd_shape_text(&psd_net_blob(lab.net, "label")->shape, text, sizeof text));
    CHECK_TEXT("Data", psd_stand_in_type(lab.net->layers[0].param));
    CHECK_TEXT("InnerProduct", psd_stand_in_type(lab.net->layers[1].param));
    lab_scatter(lab_values(&lab, "data"), 48, 1);
    CHECK_OK(psd_net_forward(lab.net, &loss));
    CHECK(loss > 0);
    lab_close(&lab);
}

static void what_nobody_tells_is_asked_for(void)
{
    const struct psd_stand_in none = {0}, sample = {.sample = psd_shape_of(1, 6, 0, 0, 0)};

    CHECK(strstr(refusal_of(DATA("", "source: 'no' batch_size: 4"), &none),
                 ":1:1: layer d: its files are not there to tell what samples look like, and it "
                 "has no crop_size; say it, such as --input-shape 3x227x227"));
    CHECK(strstr(refusal_of(DATA("transform_param { crop_size: 4 }", "source: 'no'"), &none),
                 "layer d: has no batch_size; 1 is the least"));
    CHECK(strstr(refusal_of("layer { name: 'd' type: 'HDF5Data' top: 'data' top: 'b' top: 'c'"
                            "  hdf5_data_param { source: 'no' batch_size: 3 } }",
                            &sample),
                 "layer d: has more than two tops"));
}

static void layers_that_read_no_files_stay(void)
{
    struct lab lab =
        lab_with("layer { name: 'd' type: 'DummyData' top: 'data' top: 'label'"
                 "  dummy_data_param { shape { dim: 3 dim: 2 } shape { dim: 3 } } }",
                 &(struct psd_net_options){.stand_in = &(struct psd_stand_in){.batch = 9}});

    CHECK(psd_net_blob(lab.net, "data")->shape.dim[0] == 3);
    CHECK_TEXT("DummyData", psd_stand_in_type(lab.net->layers[0].param));
    lab_close(&lab);
}

/* --- sketches ----------------------------------------------------------------------------------- */

static void a_sketch_has_shapes_and_does_not_compute(void)
{
    struct lab lab =
        lab_with(DATA("transform_param { crop_size: 2 }", "source: 'no' batch_size: 4") FC LOSS,
                 &(struct psd_net_options){.stand_in = &(struct psd_stand_in){0}, .sketch = true});
    const struct psd_layer *ip = psd_net_layer(lab.net, "ip");

    CHECK(ip->top[0]->count == 20 && ip->params[0]->blob.count == 60);
    CHECK(!ip->ops[0]);
    CHECK_NEAR(psd_blob_values(&ip->params[0]->blob)[0], 0, 0);
    CHECK_STATUS(PSD_EINVAL, psd_net_forward(lab.net, NULL));
    CHECK_TEXT("a net that is a sketch has shapes and computes nothing", psd_error());
    lab_close(&lab);
}

static void a_sketch_refuses_what_cannot_be(void)
{
    struct lab lab;

    CHECK(lab_open(&lab, NULL, 1));
    lab.document = net_of("layer { name: 'i' type: 'Input' top: 'x' input_param { shape {"
                          "  dim: 1 dim: 1 dim: 2 dim: 2 } } }"
                          "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y'"
                          "  convolution_param { num_output: 1 kernel_size: 3 } }");
    CHECK_STATUS(PSD_ECONFIG, lab_build(&lab, &(struct psd_net_options){.sketch = true}));
    lab_close(&lab);
}

static void every_failed_allocation_is_survived(void)
{
    CHECK(lab_survives(
              DATA("transform_param { crop_size: 2 }", "source: 'no' batch_size: 4") FC LOSS,
              &(struct psd_net_options){.stand_in = &(struct psd_stand_in){0}, .sketch = true}) >
          1);
}

int main(int argc, char **argv)
{
    RUN(samples_look_as_the_layer_says)
    RUN(batch_and_sample_may_be_told)
    RUN(labels_are_a_number_for_each_sample)
    RUN(what_nobody_tells_is_asked_for)
    RUN(layers_that_read_no_files_stay)
    RUN(a_sketch_has_shapes_and_does_not_compute)
    RUN(a_sketch_refuses_what_cannot_be)
    RUN(every_failed_allocation_is_survived)
}
