/* convert.c - "poseidon convert-mnist" and "poseidon convert-cifar", and Caffe's two tools for it.
 */
#include "data/convert.h"
#include "cli/cli.h"

#include <string.h>

struct mnist_options {
    char *backend;
};

static const struct psd_option mnist_options[] = {
    {"backend", "KIND", "lmdb", "the kind of database to write",
     PSD_TEXT(struct mnist_options, backend)},
    {0},
};

static psd_status check_kind(struct psd_cli *cli, const char *kind)
{
    if (strcmp(kind, "lmdb") == 0)
        return PSD_OK;
    if (strcmp(kind, "leveldb") == 0)
        return psd_fail(PSD_ENOSUP, "this build cannot write LevelDB databases; lmdb it can");
    return psd_cli_misuse(cli, "unknown kind of database \"%s\"; there are lmdb and leveldb", kind);
}

static psd_status run_mnist(struct psd_cli *cli, const void *opaque, int argc, char **argv)
{
    const struct mnist_options *options = opaque;

    (void)argc;
    PSD_TRY(check_kind(cli, options->backend));
    return psd_convert_mnist(argv[0], argv[1], argv[2], cli->log);
}

static psd_status run_cifar(struct psd_cli *cli, const void *options, int argc, char **argv)
{
    (void)options;
    PSD_TRY(check_kind(cli, argc > 2 ? argv[2] : "lmdb"));
    return psd_convert_cifar(argv[0], argv[1], cli->log);
}

const struct psd_command psd_command_convert_mnist = {
    .name = "convert-mnist",
    .summary = "makes a database from the files of MNIST",
    .synopsis = "IMAGES LABELS OUT",
    .least = 3,
    .most = 3,
    .description =
        "Reads a file of images and one of labels as MNIST, Fashion-MNIST and EMNIST come in "
        "(idx3-ubyte and idx1-ubyte, compressed by gzip or not) and makes the database OUT, a new "
        "folder, whose records equal those of Caffe's convert_mnist_data.",
    .options = mnist_options,
    .options_size = sizeof(struct mnist_options),
    .run = run_mnist,
};

const struct psd_command psd_command_convert_cifar = {
    .name = "convert-cifar",
    .summary = "makes databases from the files of CIFAR-10",
    .synopsis = "DIR OUT [lmdb|leveldb]",
    .least = 2,
    .most = 3,
    .description =
        "Reads data_batch_1.bin to data_batch_5.bin and test_batch.bin in the folder DIR and makes "
        "the databases cifar10_train_lmdb and cifar10_test_lmdb in the folder OUT, whose records "
        "equal those of Caffe's convert_cifar_data.",
    .run = run_cifar,
};

const struct psd_command psd_command_convert_mnist_data = {
    .name = "convert_mnist_data",
    .synopsis = "IMAGES LABELS OUT",
    .least = 3,
    .most = 3,
    .description = "Makes a database from the files of MNIST, as Caffe's tool of this name does.",
    .options = mnist_options,
    .options_size = sizeof(struct mnist_options),
    .run = run_mnist,
};

const struct psd_command psd_command_convert_cifar_data = {
    .name = "convert_cifar_data",
    .synopsis = "DIR OUT lmdb|leveldb",
    .least = 3,
    .most = 3,
    .description = "Makes databases from the files of CIFAR-10, as Caffe's tool of this name does.",
    .run = run_cifar,
};
