/* 01-version.c - is this the library I was compiled for?
 *
 *     cc 01-version.c $(pkg-config --cflags --libs poseidon)
 *
 * Before 1.0 a minor version may change any call, so a program compares versions when it starts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <poseidon/status.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    printf("compiled for Poseidon %s, running with %s\n", PSD_VERSION, psd_version());
    if (strcmp(PSD_VERSION, psd_version()) != 0) {
        fprintf(stderr, "please compile this program again\n");
        return 1;
    }
    printf("a call that runs out of memory would answer %s\n", psd_status_name(PSD_ENOMEM));
    return 0;
}
