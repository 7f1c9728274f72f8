/* convert_test.c - the converters as they are called, by our names and by Caffe's. */
#include "cli/cli.h"
#include "scratch.h"

#include <sys/stat.h>

static const struct psd_command *const commands[] = {&psd_command_convert_mnist,
                                                     &psd_command_convert_cifar, NULL};
static const struct psd_alias aliases[] = {{"convert_mnist_data", &psd_command_convert_mnist_data},
                                           {"convert_cifar_data", &psd_command_convert_cifar_data},
                                           {0}};

static char out[4000], err[4000];

/* Runs a program with these arguments; @ in front of one stands for the test's folder. */
static int run(const char *program, const char *const *words)
{
    char room[16][PATH_MAX], *argv[16] = {NULL}, environment[] = "PSD_CONFIG_FILE=/dev/null";
    struct psd_cli cli = {
        .commands = commands, .aliases = aliases, .environment = (char *[]){environment, NULL}};
    int argc = 1;

    snprintf(room[0], PATH_MAX, "%s", program);
    for (; words[argc - 1]; argc++) {
        const char *word = words[argc - 1];
        snprintf(room[argc], PATH_MAX, "%s", *word == '@' ? scratch(word + 1) : word);
    }
    for (int i = 0; i < argc; i++)
        argv[i] = room[i];
    memset(out, 0, sizeof out);
    memset(err, 0, sizeof err);
    cli.out = fmemopen(out, sizeof out, "w");
    cli.err = fmemopen(err, sizeof err, "w");
    int code = psd_cli_main(&cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    return code;
}

#define RUN_PROGRAM(program, ...) run(program, (const char *const[]){__VA_ARGS__, NULL})

static bool exists(const char *name)
{
    struct stat about;
    return stat(scratch(name), &about) == 0;
}

static void write_files(void)
{
    static const char record[3073] = {5};
    char name[32];

    scratch_file("images", "\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02xy", 18);
    scratch_file("labels", "\0\0\x08\x01\0\0\0\x01\x07", 9);
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        scratch_file(name, record, sizeof record);
    }
    scratch_file("test_batch.bin", record, sizeof record);
}

static void mnist_is_converted_by_every_name(void)
{
    write_files();
    CHECK(RUN_PROGRAM("poseidon", "convert-mnist", "@images", "@labels", "@a") == 0);
    CHECK_TEXT("A total of 1 items.\nRows: 1 Cols: 2\nProcessed 1 files.\n", err);
    CHECK(exists("a/data.mdb") && !*out);
    CHECK(RUN_PROGRAM("convert_mnist_data", "@images", "@labels", "@b", "--backend=lmdb") == 0);
    CHECK(RUN_PROGRAM("convert_mnist_data", "-backend", "lmdb", "@images", "@labels", "@c") == 0);
    CHECK(exists("b/data.mdb") && exists("c/data.mdb"));
}

static void cifar_is_converted_by_every_name(void)
{
    write_files();
    CHECK(mkdir(scratch("x"), 0755) == 0);
    CHECK(RUN_PROGRAM("poseidon", "convert-cifar", "@.", "@x") == 0);
    CHECK(exists("x/cifar10_train_lmdb/data.mdb") && exists("x/cifar10_test_lmdb/data.mdb"));
    CHECK(strstr(err, "Training Batch 5\nWriting Testing data\n"));
    CHECK(RUN_PROGRAM("convert_cifar_data", "@.", "@.", "lmdb") == 0);
    CHECK(exists("cifar10_test_lmdb/data.mdb"));
}

static void what_cannot_be_done_is_said(void)
{
    write_files();
    CHECK(RUN_PROGRAM("poseidon", "convert-mnist", "@labels", "@labels", "@a") == 1);
    CHECK(strstr(err, "labels is not an idx file of images\n"));
    CHECK(RUN_PROGRAM("poseidon", "convert-mnist", "@images", "@labels", "@images") == 1);
    CHECK(strstr(err, "images exists already"));
    CHECK(RUN_PROGRAM("poseidon", "convert-mnist", "@images", "@labels") == 2);
    CHECK(strstr(err, "expected IMAGES LABELS OUT"));
    CHECK(RUN_PROGRAM("convert_mnist_data", "--backend=leveldb", "@images", "@labels", "@a") == 1);
    CHECK(strstr(err, "this build cannot write LevelDB databases"));
    CHECK(RUN_PROGRAM("convert_cifar_data", "@.", "@.") == 2);
    CHECK(RUN_PROGRAM("convert_cifar_data", "@.", "@.", "sqlite") == 2);
    CHECK(strstr(err, "unknown kind of database \"sqlite\""));
    CHECK(!exists("a"));
}

int main(int argc, char **argv)
{
    RUN(mnist_is_converted_by_every_name)
    RUN(cifar_is_converted_by_every_name)
    RUN(what_cannot_be_done_is_said)
}
