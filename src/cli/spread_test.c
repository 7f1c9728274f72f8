/* spread_test.c - the middle and the ends. */
#include "cli/spread.h"
#include "test.h"

static void the_median_is_in_the_middle_of_any_number(void)
{
    struct psd_spread one = psd_spread_of((double[]){3}, 1);
    struct psd_spread odd = psd_spread_of((double[]){5, 1, 2}, 3);
    struct psd_spread even = psd_spread_of((double[]){8, 1, 4, 2}, 4);

    CHECK(one.median == 3 && one.least == 3 && one.most == 3);
    CHECK(odd.median == 2 && odd.least == 1 && odd.most == 5);
    CHECK(even.median == 3 && even.least == 1 && even.most == 8);
}

int main(int argc, char **argv)
{
    RUN(the_median_is_in_the_middle_of_any_number)
}
