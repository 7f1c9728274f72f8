/* replay.c - runs a fuzz target on the inputs in the tree, so that what was mended stays so.
 *
 * Linked with x_fuzz.c it becomes x_replay, a test program with one test for each file of
 * tests/corpus/x. */
#include <dirent.h>
#include <errno.h>

#include "fuzz.h"
#include "test.h"

static char input[1024]; /* the path of the file under test */

static void replay(void)
{
    FILE *file = fopen(input, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    CHECK(size >= 0 && fseek(file, 0, SEEK_SET) == 0);

    /* Exactly as large as the input, so that a sanitizer sees the first byte read too many. */
    uint8_t *data = malloc((size_t)size);
    CHECK(fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    char folder[512];
    struct dirent **entries = NULL;
    int length = (int)(strlen(program_invocation_short_name) - strlen("_replay"));

    snprintf(folder, sizeof folder, "tests/corpus/%.*s", length, program_invocation_short_name);
    int count = scandir(folder, &entries, is_visible, alphasort);
    if (count <= 0)
        TEST_FAIL("%s: %s", folder, count ? strerrordesc_np(errno) : "there is no input");
    for (int i = 0; i < count; i++) {
        snprintf(input, sizeof input, "%s/%s", folder, entries[i]->d_name);
        test_run(input, replay, argc, argv);
        free(entries[i]);
    }
    free(entries);
}
