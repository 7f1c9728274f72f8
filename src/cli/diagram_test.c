/* diagram_test.c - boxes and arrows of small nets, and the picture. */
#include "base/alloc.h"
#include "cli/diagram.h"
#include "nets.h"

#define INPUT                                              \
    "layer { name: 'data' type: 'Input' top: 'x' top: 'l'" \
    "        input_param { shape { dim: 2 dim: 3 dim: 6 dim: 6 } shape { dim: 2 } } }"
#define CONV(name, bottom)                                                              \
    "layer { name: '" name "' type: 'Convolution' bottom: '" bottom "' top: '" name "'" \
    "        convolution_param { num_output: 3 kernel_size: 3 pad: 1 } }"
#define LOSS "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'sum' bottom: 'l' }"
#define BLOCK                                                                            \
    INPUT CONV("a", "x") "layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' }" CONV(   \
        "b", "a") "layer { name: 's' type: 'Eltwise' bottom: 'a' bottom: 'b' top: 's' }" \
                  "layer { name: 'p' type: 'Pooling' bottom: 's' top: 'p'"               \
                  "        pooling_param { pool: AVE global_pooling: true } }"           \
                  "layer { name: 'sum' type: 'Flatten' bottom: 'p' top: 'sum' }" LOSS

static char picture[100000];

static void draw(const char *text, const char *title, struct psd_diagram *diagram)
{
    struct lab lab = lab_with(text, &(struct psd_net_options){.sketch = true});

    CHECK_OK(psd_diagram_init(diagram, lab.net));
    memset(picture, 0, sizeof picture);
    FILE *out = fmemopen(picture, sizeof picture, "w");
    CHECK(out);
    psd_diagram_write(diagram, title, out);
    CHECK(fclose(out) == 0);
    for (size_t i = 0; i < diagram->layered.n_nodes; i++)
        diagram->boxes[i].name = diagram->boxes[i].type = NULL; /* they go with the net */
    lab_close(&lab);
}

static int count(const char *text)
{
    int times = 0;

    for (const char *at = picture; (at = strstr(at, text)); at++)
        times++;
    return times;
}

static void layers_in_place_stand_in_the_box_of_their_blob(void)
{
    struct psd_diagram diagram;

    draw(BLOCK, "a title", &diagram);
    CHECK(diagram.layered.n_nodes == 7); /* of eight layers, and a split */
    CHECK_TEXT("Convolution 3x3", diagram.boxes[1].lines[0]);
    CHECK_TEXT("2x3x6x6", diagram.boxes[1].lines[1]);
    CHECK_TEXT("r  ReLU", diagram.boxes[1].lines[2]);
    CHECK_TEXT("Pooling AVE of all", diagram.boxes[4].lines[0]);
    psd_diagram_fini(&diagram);
}

static void arrows_lead_from_maker_to_reader(void)
{
    static const size_t expected[][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
    enum { EDGES = sizeof expected / sizeof *expected };
    struct psd_diagram diagram;

    draw(BLOCK, "a title", &diagram);
    CHECK(diagram.layered.n_edges == EDGES);
    for (size_t i = 0; i < EDGES; i++)
        CHECK(diagram.layered.edges[i].from == expected[i][0] &&
              diagram.layered.edges[i].to == expected[i][1]);
    psd_diagram_fini(&diagram);
}

static void labels_are_named_by_who_reads_them(void)
{
    struct psd_diagram diagram;

    draw(BLOCK, "a title", &diagram);
    CHECK_TEXT("reads l", diagram.boxes[6].lines[diagram.boxes[6].n_lines - 1]);
    psd_diagram_fini(&diagram);
    draw(BLOCK "layer { name: 'acc' type: 'Accuracy' bottom: 'sum' bottom: 'l' top: 'acc' }", "t",
         &diagram); /* a label that is split keeps its name */
    CHECK_TEXT("reads l", diagram.boxes[7].lines[diagram.boxes[7].n_lines - 1]);
    psd_diagram_fini(&diagram);
}

/* A blob that is read 60 rows below. */
static void what_comes_from_far_above_is_named(void)
{
    enum { CHAIN = 60 };
    struct psd_diagram diagram;
    char *text = psd_alloc_text("%s", INPUT CONV("c0", "x"));

    for (size_t i = 1; i <= CHAIN; i++) {
        char *longer = psd_alloc_text("%s layer { name: 'c%zu' type: 'Power' bottom: 'c%zu' top: "
                                      "'c%zu' }",
                                      text, i, i - 1, i);
        psd_alloc_free(text);
        text = longer;
    }
    char *all = psd_alloc_text("%s layer { name: 's' type: 'Eltwise' bottom: 'c%d' bottom: 'c0' "
                               "top: 's' }",
                               text, (int)CHAIN);
    draw(all, "long", &diagram);
    const struct psd_diagram_box *last = &diagram.boxes[diagram.layered.n_nodes - 1];
    CHECK_TEXT("reads c0", last->lines[last->n_lines - 1]);
    CHECK(diagram.layered.n_edges == CHAIN + 2);
    psd_diagram_fini(&diagram);
    psd_alloc_free(all);
    psd_alloc_free(text);
}

static void the_picture_has_all_and_stays_xml(void)
{
    struct psd_diagram diagram;

    draw(INPUT CONV("<&\\\">", "x"), "<a & b>", &diagram);
    CHECK(strncmp(picture, "<svg xmlns", 10) == 0 && strstr(picture, "</svg>\n"));
    CHECK(strstr(picture, "<title>&lt;a &amp; b&gt;</title>"));
    CHECK(count("&lt;&amp;\"&gt;") == 1);
    CHECK(count("<g>") == 2 && count("</g>") == 2 && count("<path marker-end") == 1);
    CHECK(count("class=\"conv\"") == 1 && count("class=\"data\"") == 1);
    psd_diagram_fini(&diagram);
}

static void every_failed_allocation_is_survived(void)
{
    struct lab lab = lab_with(BLOCK, &(struct psd_net_options){.sketch = true});
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_diagram diagram;
        psd_alloc_fail_at(n);
        psd_status status = psd_diagram_init(&diagram, lab.net);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        psd_diagram_fini(&diagram);
    }
    lab_close(&lab);
}

int main(int argc, char **argv)
{
    RUN(layers_in_place_stand_in_the_box_of_their_blob)
    RUN(arrows_lead_from_maker_to_reader)
    RUN(labels_are_named_by_who_reads_them)
    RUN(what_comes_from_far_above_is_named)
    RUN(the_picture_has_all_and_stays_xml)
    RUN(every_failed_allocation_is_survived)
}
