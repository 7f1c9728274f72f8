/* fuzz.h - what a fuzz target, x_fuzz.c beside the source x.c, defines.
 *
 * make fuzz links it with libFuzzer, which invents inputs; make test links it with replay.c, which
 * feeds it the files of tests/corpus/x. */
#ifndef PSD_TESTS_FUZZ_H
#define PSD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes that may be anything. Returns 0; a bug shows as a crash, a leak or a hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
