#include "slopes.h"

#define DATA                                                                                      \
    "force_backward: true layer { name: 'd' type: 'Input' top: 'x' input_param { shape { dim: 2 " \
    "dim: 3 dim: 4 } } }\n"
#define TILE(param) "layer { name: 'l' type: 'Tile' bottom: 'x' top: 'y' tile_param { " param " } }"

static void rows_repeat(void)
{
    struct lab lab = lab_of(DATA TILE("tiles: 2"));
    struct psd_shape shape = psd_shape_of(3, 2, 6, 4, 0);

    for (int i = 0; i < 24; i++)
        lab_values(&lab, "x")[i] = (float)i;
    CHECK_OK(psd_net_forward(lab.net, NULL));
    CHECK(psd_shape_same(&psd_net_blob(lab.net, "y")->shape, &shape));
    for (int i = 0; i < 48; i++)
        CHECK(lab_values(&lab, "y")[i] == (float)(i % 24 % 12 + (i < 24 ? 0 : 12)));
    lab_close(&lab);
}

static void gradients_are_slopes(void)
{
    check_slopes(DATA TILE("tiles: 3"), NULL);
    check_slopes(DATA TILE("tiles: 2 axis: -1"), NULL);
    check_slopes(DATA TILE("tiles: 2 axis: 0"), NULL);
}

static void impossible_parameters_are_refused(void)
{
    CHECK_TEXT("test.prototxt:2:66: layer l: tiles is 0; 1 is the least",
               lab_refuses(DATA TILE("tiles: 0")));
    CHECK_TEXT("test.prototxt:2:19: layer l: tiles is 0; 1 is the least",
               lab_refuses(DATA "layer { name: 'l' type: 'Tile' bottom: 'x' top: 'y' }"));
    CHECK_TEXT(
        "test.prototxt:2:75: layer l: axis is 3, but it reads \"x\" of shape 2 3 4 (24) from "
        "layer d",
        lab_refuses(DATA TILE("tiles: 2 axis: 3")));
}

int main(int argc, char **argv)
{
    RUN(rows_repeat)
    RUN(gradients_are_slopes)
    RUN(impossible_parameters_are_refused)
}
