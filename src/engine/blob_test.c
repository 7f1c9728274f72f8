#include "device/device.h"
#include "engine/blob.h"
#include "test.h"

static struct psd_device *device;

static struct psd_blob blob_of(struct psd_shape shape)
{
    struct psd_blob blob;

    if (!device)
        CHECK_OK(psd_device_open("host", 0, &device));
    psd_blob_init(&blob, device);
    CHECK_OK(psd_blob_reshape(&blob, &shape));
    return blob;
}

/* All memory must be back by now. */
static void finish(void)
{
    CHECK(psd_device_usage(device).in_use == 0);
    psd_device_close(device);
}

static void shapes_have_counts_axes_and_words(void)
{
    struct psd_shape shape = psd_shape_of(4, 64, 20, 24, 24), scalar = {0}, other = shape;
    struct psd_shape huge = psd_shape_of(2, (size_t)1 << 32, (size_t)1 << 32, 0, 0);
    char text[100];
    size_t axis = 9;

    CHECK_TEXT("64 20 24 24 (737280)", psd_shape_text(&shape, text, sizeof text));
    CHECK_TEXT("(1)", psd_shape_text(&scalar, text, sizeof text));
    CHECK_TEXT("4294967296 4294967296 (beyond counting)", psd_shape_text(&huge, text, sizeof text));
    CHECK_TEXT("64 2", psd_shape_text(&shape, text, 5)); /* cut, and ended */
    CHECK(psd_shape_count(&shape, 1, 3) == 480 && psd_shape_count(&shape, 2, 2) == 1);
    CHECK(psd_shape_axis(&shape, 1, &axis) && axis == 1);
    CHECK(psd_shape_axis(&shape, -1, &axis) && axis == 3);
    CHECK(!psd_shape_axis(&shape, 4, &axis) && !psd_shape_axis(&shape, -5, &axis) && axis == 3);
    CHECK(!psd_shape_axis(&scalar, 0, &axis));
    CHECK(psd_shape_same(&shape, &other));
    other.dim[3] = 25;
    CHECK(!psd_shape_same(&shape, &other));
}

static void a_smaller_shape_keeps_the_memory(void)
{
    struct psd_blob blob = blob_of(psd_shape_of(2, 10, 10, 0, 0));
    struct psd_shape small = psd_shape_of(1, 7, 0, 0, 0), large = psd_shape_of(1, 101, 0, 0, 0);
    float *values = psd_blob_values(&blob);

    CHECK_OK(psd_blob_reshape(&blob, &small));
    CHECK(blob.count == 7 && psd_blob_values(&blob) == values);
    CHECK_OK(psd_blob_reshape(&blob, &large));
    CHECK(blob.count == 101 && psd_device_usage(device).in_use == 404);
    psd_blob_fini(&blob);
    finish();
}

static void a_gradient_is_there_when_it_is_needed_and_zero(void)
{
    struct psd_blob blob = blob_of(psd_shape_of(1, 10, 0, 0, 0));
    struct psd_shape large = psd_shape_of(1, 20, 0, 0, 0);

    CHECK(!psd_blob_gradient(&blob) && !psd_blob_diff(&blob).memory);
    CHECK_OK(psd_blob_need_diff(&blob));
    float *gradient = psd_blob_gradient(&blob);
    for (size_t i = 0; i < 10; i++)
        CHECK_NEAR(gradient[i], 0, 0);
    gradient[3] = 1;
    CHECK_OK(psd_blob_need_diff(&blob)); /* there is one already */
    CHECK(psd_blob_gradient(&blob) == gradient && gradient[3] == 1);
    CHECK_OK(psd_blob_reshape(&blob, &large)); /* grows with the values */
    CHECK_NEAR(psd_blob_gradient(&blob)[3] + psd_blob_gradient(&blob)[19], 0, 0);
    psd_blob_fini(&blob);
    finish();
}

static void shared_memory_has_one_owner(void)
{
    struct psd_blob a = blob_of(psd_shape_of(1, 10, 0, 0, 0)), b = blob_of(a.shape);
    struct psd_shape large = psd_shape_of(1, 20, 0, 0, 0);

    CHECK_OK(psd_blob_need_diff(&a));
    psd_blob_share_data(&b, &a);
    psd_blob_share_data(&b, &a);
    psd_blob_share_diff(&b, &a);
    CHECK(psd_blob_values(&b) == psd_blob_values(&a));
    CHECK(psd_blob_gradient(&b) == psd_blob_gradient(&a));
    CHECK(psd_device_usage(device).in_use == 80);
    CHECK_OK(psd_blob_reshape(&b, &large)); /* what is shared is too small: memory of its own */
    CHECK(psd_blob_values(&b) != psd_blob_values(&a));
    psd_blob_fini(&b);
    psd_blob_fini(&a);
    finish();
}

static void a_shape_beyond_all_memory_is_refused(void)
{
    struct psd_blob blob = blob_of(psd_shape_of(1, 10, 0, 0, 0));
    struct psd_shape huge = psd_shape_of(3, 1UL << 31, 1UL << 31, 4, 0);

    CHECK_STATUS(PSD_EINVAL, psd_blob_reshape(&blob, &huge));
    CHECK(blob.count == 10);
    psd_blob_fini(&blob);
    finish();
}

int main(int argc, char **argv)
{
    RUN(shapes_have_counts_axes_and_words)
    RUN(a_smaller_shape_keeps_the_memory)
    RUN(a_gradient_is_there_when_it_is_needed_and_zero)
    RUN(shared_memory_has_one_owner)
    RUN(a_shape_beyond_all_memory_is_refused)
}
