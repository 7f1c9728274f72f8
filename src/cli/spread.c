/* spread.c - sorts, and looks at the middle and the ends. */
#include "cli/spread.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct psd_spread psd_spread_of(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare);
    return (struct psd_spread){.median = (numbers[(count - 1) / 2] + numbers[count / 2]) / 2,
                               .least = numbers[0],
                               .most = numbers[count - 1]};
}
