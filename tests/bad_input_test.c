/* bad_input_test.c - whatever is wrong with a file, an output or a call is told in a sentence, with
 * exit code 1 (run time) or 2 (usage), soon, and without taking much memory.
 *
 * Every run is bounded: in time, in private memory (what it allocates) and in all it ever held
 * (which has the pages of its libraries in it too). */
#include "run.h"

#include <stdint.h>
#include <sys/resource.h>

static char root[PATH_MAX]; /* the tree; tests work in folders of their own */

static struct {
    int seconds;
    size_t private_mib, resident_mib;
} limits = {120, 64, 160};

static bool has_sanitizer(void)
{
    const char *sanitizer = getenv("SAN");
    return sanitizer && *sanitizer;
}

static size_t peak_mib(void)
{
    struct rusage usage;

    CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    return (size_t)usage.ru_maxrss >> 10;
}

/* Sanitizers need room of their own. */
static int run_bounded(const char *command)
{
    char within[100] = "";

    if (!has_sanitizer())
        snprintf(within, sizeof within, "ulimit -d %zu; ", limits.private_mib << 10);
    int code = run("%s timeout -s KILL %d %s", within, limits.seconds, command);
    if (!has_sanitizer() && peak_mib() > limits.resident_mib)
        TEST_FAIL("%s: took %zu MiB", command, peak_mib());
    return code;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Nothing that a terminal would take for a command. */
static bool is_readable(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' && text[i] != '\n')
            return false;
    }
    return length && text[length - 1] == '\n';
}

/* Runs `command`, which must fail with `code`, `count` sentences with `sentence` among them, and no
 * output. */
static void expect_sentences(int code, size_t count, const char *sentence, const char *command)
{
    int got = run_bounded(command);

    if (got != code || !strstr(run_err, sentence) || count_lines(run_err) != count ||
        !is_readable(run_err) || *run_out)
        TEST_FAIL("%s: exit code %d, not %d and %zu times \"%s\":\n%.4000s", command, got, code,
                  count, sentence, run_err);
}

static void expect(int code, const char *sentence, const char *command)
{
    expect_sentences(code, 1, sentence, command);
}

/* --- files ------------------------------------------------------------------------------------- */

static void put(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* The same of a constant, which may have NUL bytes in it. */
#define PUT(path, constant) put(path, constant, sizeof(constant) - 1)

/* A file of `before`, `unit` over and over for `filled` bytes, and a hole up to `size` bytes. */
static void put_long(const char *path, const char *before, const char *unit, size_t filled,
                     size_t size)
{
    char block[1 << 16];
    size_t length = strlen(unit), whole = sizeof block / length * length;
    FILE *file = fopen(path, "wb");

    CHECK(file && fputs(before, file) >= 0);
    for (size_t i = 0; i < whole; i++)
        block[i] = unit[i % length];
    for (size_t i = 0; i < filled; i += whole)
        CHECK(fwrite(block, 1, whole, file) == whole);
    CHECK(fflush(file) == 0);
    if (size)
        CHECK(ftruncate(fileno(file), (off_t)size) == 0);
    CHECK(fclose(file) == 0);
}

/* Reads a file of tests/fixtures. */
static size_t fixture(const char *name, uint8_t *data, size_t room)
{
    char path[PATH_MAX + 100];

    snprintf(path, sizeof path, "%s/tests/fixtures/%s", root, name);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    size_t size = fread(data, 1, room, file);
    CHECK(size > 0 && size < room);
    fclose(file);
    return size;
}

/* --- tests ------------------------------------------------------------------------------------- */

static void what_is_no_file_is_said_to_be_none(void)
{
    run_start();
    CHECK(run("mkdir lmdb && touch lmdb/data.mdb lmdb/lock.mdb") == 0);
    expect(1, "cannot open missing.prototxt: No such file", "$POSEIDON print missing.prototxt");
    expect(1, "cannot open no/net.caffemodel: No such", "$POSEIDON print no/net.caffemodel");
    expect(1, "No such file", "$POSEIDON print ''");
    expect(1, ". is a directory, not a file", "$POSEIDON print .");
    expect(1, "lmdb is a directory, not a file", "$POSEIDON print lmdb");
    expect(1, "lmdb is a directory, not a file", "$POSEIDON upgrade-net lmdb out.prototxt");
    expect(1, "Not a directory", "$POSEIDON upgrade-solver lmdb/data.mdb/x");
    expect(1, "Bad file descriptor", "$POSEIDON print - <&-");
}

static void what_may_not_be_read_is_said_so(void)
{
    const char *nobody = geteuid() == 0 ? "env HOME=/ setpriv --reuid=65534 --clear-groups " : "";
    char command[200];

    run_start();
    CHECK(chmod(".", 0755) == 0);
    run_write("secret.prototxt", "name: \"a\"\n");
    CHECK(chmod("secret.prototxt", 0) == 0);
    if (run("%s $POSEIDON --version", nobody) != 0)
        SKIP("root reads everything, and no other user can run the program where it was built");
    snprintf(command, sizeof command, "%s $POSEIDON print secret.prototxt", nobody);
    expect(1, "cannot open secret.prototxt: Permission denied", command);
}

static void an_empty_model_is_no_model(void)
{
    run_start();
    CHECK(run("touch a.caffemodel a.solverstate a.binaryproto") == 0);
    expect(1, "a.caffemodel is empty", "$POSEIDON print a.caffemodel");
    expect(1, "a.solverstate is empty", "$POSEIDON print a.solverstate");
    expect(1, "a.binaryproto is empty", "$POSEIDON print --type BlobProto a.binaryproto");
    expect(1, "a.caffemodel is empty", "$POSEIDON upgrade-net a.caffemodel b.caffemodel");
}

static void a_length_beyond_the_end_takes_no_memory(void)
{
    static const char *const endings[] = {"caffemodel", "solverstate", "binaryproto"};
    char command[100];

    run_start();
    limits.private_mib = 16;
    for (size_t i = 0; i < 3; i++) {
        snprintf(command, sizeof command, "$POSEIDON print a.%s", endings[i]);
        CHECK(run("printf '\\012\\377\\377\\177' >a.%s", endings[i]) == 0);
        expect(1, "it says that 2097151 bytes follow, but there are 0", command);
        CHECK(run("printf '\\012\\200\\200\\200\\200\\200\\040' >a.%s", endings[i]) == 0);
        expect(1, "it says that 1099511627776 bytes follow, but there are 0", command);
    }
    /* The same in a layer, and in the data of its first blob. */
    PUT("a.caffemodel", "\xa2\x06\x07\x0a\x80\x80\x80\x80\x80\x20");
    expect(1, "in layer[0].name: it says that 1099511627776 bytes follow, but there are 0",
           "$POSEIDON print a.caffemodel");
    PUT("a.caffemodel", "\xa2\x06\x09\x3a\x07\x2a\x80\x80\x80\x80\x80\x20");
    expect(1, "in layer[0].blobs[0].data: it says that 1099511627776 bytes follow",
           "$POSEIDON print a.caffemodel");
}

/* Reads a damaged file, which may by chance still be a good one; says whether it was refused. */
static bool is_refused(const char *path)
{
    char command[100];

    snprintf(command, sizeof command, "$POSEIDON print %s", path);
    int code = run_bounded(command);
    if (code == 0) {
        CHECK_TEXT("", run_err);
        return false;
    }
    if (code != 1 || count_lines(run_err) != 1 || !is_readable(run_err) || !strstr(run_err, path))
        TEST_FAIL("%s: exit code %d\n%.4000s", command, code, run_err);
    return true;
}

static void a_cut_model_is_never_read_in_silence(void)
{
    uint8_t data[4096];
    size_t size = fixture("upgrade/v1.binaryproto", data, sizeof data), refused = 0;

    run_start();
    for (size_t i = 1; i < size; i++) {
        put("cut.caffemodel", data, i);
        refused += is_refused("cut.caffemodel");
    }
    CHECK(refused > size * 9 / 10); /* not where a field ends */
    size = fixture("solvers/adam/snap_iter_10.solverstate", data, sizeof data);
    for (size_t i = 1; i < size; i += 1 + size / 50) {
        put("cut.solverstate", data, i);
        refused += is_refused("cut.solverstate");
    }
    put("cut.solverstate", data, size - 1);
    CHECK(is_refused("cut.solverstate"));
}

static void a_flipped_bit_is_survived(void)
{
    uint8_t data[4096];
    size_t size = fixture("upgrade/v0.binaryproto", data, sizeof data), refused = 0;

    run_start();
    for (size_t i = 0; i < size; i++) {
        data[i] ^= (uint8_t)(1 << i % 8);
        put("flipped.caffemodel", data, size);
        refused += is_refused("flipped.caffemodel");
        data[i] ^= (uint8_t)(1 << i % 8);
    }
    CHECK(refused > 10);
}

static void nesting_has_no_bottom_to_fall_through(void)
{
    const size_t deep = 100000;

    run_start();
    put_long("a.prototxt", "", "x{", 2 * deep, 0);
    expect(1, "a.prototxt:1:1: unknown field \"x\" in NetParameter", "$POSEIDON print a.prototxt");
    put_long("a.prototxt", "x:", "[", deep, 0);
    expect(1, "a.prototxt:1:1: unknown field \"x\" in NetParameter", "$POSEIDON print a.prototxt");
    put_long("a.prototxt", "x:", "<a:[{", 5 * deep, 0);
    expect(1, "a.prototxt:1:1: unknown field \"x\" in NetParameter", "$POSEIDON print a.prototxt");
    put_long("a.prototxt", "", "layer{", 6 * deep, 0);
    expect_sentences(1, 2, "unknown field \"layer\" in LayerParameter",
                     "$POSEIDON print a.prototxt");
    put_long("a.prototxt", "", "net_param{layer{transform_param{", 32 * deep, 0);
    expect_sentences(1, 4, "unknown field \"net_param\" in TransformationParameter",
                     "$POSEIDON print a.prototxt");
    put_long("a.prototxt", "", "}", deep, 0);
    expect_sentences(1, 21, "there is more to correct", "$POSEIDON print a.prototxt");
    /* Groups, the one thing in the binary form that nests without lengths. */
    put_long("a.caffemodel", "", "\xa3\x06", 2 * deep, 0);
    expect(1, "a field of a shape that does not exist", "$POSEIDON print a.caffemodel");
}

/* Messages in messages, 100,000 deep, from the inside out. The schema ends after a few; what is
 * below is kept unread. */
static void binary_nesting_has_no_bottom_either(void)
{
    enum { DEEP = 100000, ROOM = 8 * DEEP };
    uint8_t *data = malloc(ROOM), *at = data + ROOM;

    CHECK(data);
    run_start();
    for (int i = 0; i < DEEP; i++) {
        size_t length = (size_t)(data + ROOM - at);
        at -= 4; /* a length in four bytes; the tag is that of layer, or of transform_param */
        for (int k = 0; k < 4; k++, length >>= 7)
            at[k] = (uint8_t)((length & 0x7f) | (k < 3 ? 0x80 : 0));
        at -= 2;
        memcpy(at, "\xa2\x06", 2);
    }
    put("deep.caffemodel", at, (size_t)(data + ROOM - at));
    CHECK(!is_refused("deep.caffemodel"));
    CHECK(strstr(run_out, "# field 100, which this version does not know"));
    put("cut.caffemodel", at, (size_t)(data + ROOM - at) - 1);
    CHECK(is_refused("cut.caffemodel"));
    free(data);
}

static void numbers_out_of_range_are_told_together(void)
{
    run_start();
    run_write("a.prototxt", "input_dim: 2147483648\n"
                            "input_dim: -2147483649\n"
                            "input_dim: 99999999999999999999999999999999\n"
                            "input_dim: 1.5\n"
                            "input_dim: 08\n"
                            "force_backward: 2\n"
                            "layer { convolution_param { kernel_size: -1 pad: 4294967296 } }\n"
                            "layer { loss_weight: 1e39 loss_weight: -1e999 phase: 7 }\n"
                            "layer { blobs { double_data: 1e309 } }\n"
                            "layer { blobs { shape { dim: 9223372036854775808 } } }\n");
    expect_sentences(1, 13, "a.prototxt:2:12: \"input_dim\" expects a whole number",
                     "$POSEIDON print a.prototxt");
    PUT("a.caffemodel", "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    expect(1, "in input_dim: a number of more than 64 bits", "$POSEIDON print a.caffemodel");
}

static void nul_bytes_are_no_text(void)
{
    run_start();
    PUT("a.prototxt", "name: \"a\0b\"\n");
    expect(1, "a.prototxt:1:7: a NUL byte; is this a binary file?", "$POSEIDON print a.prototxt");
    PUT("a.prototxt", "layer { name: \0\0\0 } kernal: 3\n");
    expect(1, "a.prototxt:1:15: a NUL byte; is this a binary file?", "$POSEIDON print a.prototxt");
    PUT("a.prototxt", "name: \"a\"\n\0");
    expect(1, "a.prototxt:2:1: a NUL byte; is this a binary file?", "$POSEIDON print a.prototxt");
    run_write("a.prototxt", "name: \"a\\000b\"\n");
    expect(1, "a.prototxt:1:7: a NUL byte in a string", "$POSEIDON print a.prototxt");
    PUT("a.caffemodel", "\x0a\x03\x61\0b");
    expect(1, "in name: a string with a NUL byte in it", "$POSEIDON print a.caffemodel");
    put("zeros.caffemodel", (char[1000]){0}, 1000);
    expect(1, "a field number that cannot be", "$POSEIDON print zeros.caffemodel");
}

/* Lines of 2 GB: data as far as anything could want to read, then a hole. */
static void a_line_of_2_gb_is_told_soon_and_in_little_memory(void)
{
    static const struct {
        const char *before, *unit;
    } lines[] = {{"", "a"},        {"", "7"},         {"name: \"", "a"}, {"# ", "a"},
                 {"", "layer{}"},  {"", "layer { }"}, {"", " "},         {"input_dim: [", "1,"},
                 {"name: ", "''"}, {"name: \"", "\\"}};

    run_start();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        put_long("line.prototxt", lines[i].before, lines[i].unit, (size_t)96 << 20,
                 (size_t)2 << 30);
        expect(1, "line.prototxt: a line is longer than 128 MiB; is this a text file?",
               "$POSEIDON print line.prototxt");
    }
    expect(1, "a line is longer than 128 MiB", "$POSEIDON upgrade-net line.prototxt out.prototxt");
    put_long("line.prototxt", "", "\1", 1, (size_t)2 << 30); /* a hole reads as NUL */
    expect(1, "a line is longer than 128 MiB", "$POSEIDON print line.prototxt");
    CHECK(rename("line.prototxt", "line.caffemodel") == 0);
    expect(1, "line.caffemodel: damaged", "$POSEIDON print line.caffemodel");
    CHECK(rename("line.caffemodel", "line") == 0);
    expect(1, "line: damaged", "$POSEIDON print line");
}

static void what_never_ends_is_not_read_for_ever(void)
{
    run_start();
    limits.private_mib = 300;
    limits.resident_mib = 320;
    expect(1, "/dev/zero has no end within 256 MiB", "$POSEIDON print /dev/zero");
    expect(1, "has no end within 256 MiB",
           "sh -c 'head -c 2147483648 /dev/zero | tr \"\\\\0\" a | $POSEIDON print -'");
    expect(1, "has no end within 256 MiB",
           "sh -c 'yes \"layer { }\" | $POSEIDON upgrade-net - out.prototxt'");
}

/* A few bytes of a file can stand for a large structure. */
static void a_small_file_does_not_become_large_in_memory(void)
{
    run_start();
    limits.private_mib = limits.resident_mib = 256;
    put_long("a.prototxt", "", "layer{}\n", 8 << 20, 0);
    expect(1, "MiB of memory that something of this size may take", "$POSEIDON print a.prototxt");
    put_long("a.caffemodel", "", "\xa2\x06\x02\x50\x01", 8 << 20, 0); /* layer { phase: TEST } */
    expect(1, "MiB of memory that something of this size may take", "$POSEIDON print a.caffemodel");
    put_long("a.caffemodel", "", "\x12\x02\x28\x04", 8 << 20, 0); /* layers { type: CONVOLUTION } */
    expect(1, "MiB of memory that something of this size may take",
           "$POSEIDON upgrade-net a.caffemodel b.caffemodel");
}

static void other_formats_are_told_by_name(void)
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n\0\0\0\0";
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    run_start();
    put("a.h5", hdf5, sizeof hdf5);
    expect(1, "a.h5 is an HDF5 file, not a binary protobuf", "$POSEIDON print a.h5");
    CHECK(run("cp a.h5 a.caffemodel; cp a.h5 a.prototxt") == 0);
    expect(1, "a.caffemodel is an HDF5 file", "$POSEIDON upgrade-net a.caffemodel b.caffemodel");
    CHECK(run_bounded("$POSEIDON print a.prototxt") == 1 && is_readable(run_err));
    put("a.png", png, sizeof png);
    expect(1, "a.png: damaged", "$POSEIDON print a.png");
    CHECK(run_bounded("$POSEIDON print $POSEIDON") == 1 && is_readable(run_err));
    CHECK(count_lines(run_err) == 1);
    run_write("a.json", "{\"layer\": [{\"name\": \"a\"}]}\n");
    CHECK(run_bounded("$POSEIDON print a.json") == 1 && is_readable(run_err));
}

static void output_that_cannot_be_written_is_missed(void)
{
    run_start();
    run_write("a.prototxt", "name: \"a\"\n");
    run_write("old.prototxt", "name: \"old\"\n");
    CHECK(run("mkdir folder") == 0);
    expect(1, "standard output: No space left", "$POSEIDON print a.prototxt >/dev/full");
    expect(1, "standard output: Bad file", "$POSEIDON print a.prototxt >&-");
    expect(1, "cannot write /dev/full", "$POSEIDON print --output /dev/full a.prototxt");
    expect(1, "cannot write no/b.txt: No such", "$POSEIDON print --output no/b.txt a.prototxt");
    expect(1, "folder: it is a directory", "$POSEIDON print --output folder a.prototxt");
    expect(1, "cannot write", "$POSEIDON print --form binary --output a.prototxt/b a.prototxt");
    CHECK(run_bounded("$POSEIDON upgrade-net a.prototxt /dev/full") == 1);
    CHECK(strstr(run_err, "cannot write /dev/full: No space left") && is_readable(run_err));
    CHECK(run_bounded("$POSEIDON upgrade-net a.prototxt - >/dev/full") == 1);
    CHECK(strstr(run_err, "No space left") && is_readable(run_err));
    /* A bad input leaves what was there, and no half of anything. */
    expect(1, "cannot open b.prototxt", "$POSEIDON print --output old.prototxt b.prototxt");
    CHECK(run("cat old.prototxt; ls") == 0);
    CHECK_TEXT("name: \"old\"\na.prototxt\nfolder\nold.prototxt\n", run_out);
}

static void wrong_calls_are_code_2(void)
{
    run_start();
    run_write("a.prototxt", "name: \"a\"\n");
    expect(2, "no file holds a message \"Net\"; there are NetParameter, SolverParameter,",
           "$POSEIDON print --type Net a.prototxt");
    expect(2, "no file holds a message \"NetParamater\"; did you mean \"NetParameter\"?",
           "$POSEIDON print --type NetParamater a.prototxt");
    expect(2, "no file holds a message \"\"", "$POSEIDON print --type= a.prototxt");
    expect(2, "--short is for text", "$POSEIDON print --short --form binary a.prototxt");
    expect(2, "unknown option \"--typ\"; did you mean", "$POSEIDON print --typ x a.prototxt");
    expect(2, "\"xml\" is not one of auto, text, binary", "$POSEIDON print --form xml a.prototxt");
    expect(2, "expected FILE", "$POSEIDON print");
    expect(2, "unexpected argument \"b\"", "$POSEIDON print a.prototxt b");
    expect(2, "expected IN [OUT]", "$POSEIDON upgrade-net");
    expect(2, "unexpected argument \"c\"", "$POSEIDON upgrade-solver a b c");
    expect(2, "unknown command \"prnt\"", "$POSEIDON prnt a.prototxt");
    /* A file of another kind is no wrong call. */
    expect(1, "unknown field \"name\" in Datum", "$POSEIDON print --type Datum a.prototxt");
}

static void tools_by_caffes_names_fail_alike(void)
{
    run_start();
    run_write("net.prototxt", "layers { layer { type: \"covn\" } bottom: \"x\\ny\" }\n");
    PUT("net.caffemodel", "\xa2\x06\x7f");
    run_write("solver.prototxt", "solver_type: ADAM\ntype: \"Adam\"\nbase_lr: 1\n");
    CHECK(run("for name in $($POSEIDON help --names); do ln -s $POSEIDON $name; done; ls") == 0);
    CHECK(strstr(run_out, "upgrade_net_proto_binary"));

    expect(2, "expected IN OUT", "./upgrade_net_proto_text net.prototxt");
    expect(2, "unexpected argument \"c\"", "./upgrade_net_proto_binary a b c");
    expect(2, "unknown option \"--form\"", "./upgrade_solver_proto_text --form text a b");
    expect(1, "upgrade_net_proto_text: cannot open no: No such", "./upgrade_net_proto_text no out");
    expect(1, "net.caffemodel: damaged or cut", "./upgrade_net_proto_binary net.caffemodel out");
    expect(1, ". is a directory", "./upgrade_solver_proto_text . out");
    expect_sentences(1, 2, "unknown V0 layer type \"covn\"; did you mean \"conv\"?",
                     "./upgrade_net_proto_text net.prototxt out");
    CHECK(strstr(run_err, "makes the bottom \"x\\x0ay\""));
    expect(1, "solver.prototxt:1:1: the old \"solver_type\" and the new \"type\"",
           "./upgrade_solver_proto_text solver.prototxt out");
    CHECK(run_bounded("./upgrade_net_proto_binary net.prototxt out") == 1 && is_readable(run_err));
    CHECK(run_bounded("./upgrade_net_proto_text net.caffemodel out") == 1 && is_readable(run_err));
    CHECK(access("out", F_OK) != 0);
    run_write("good.prototxt", "name: \"a\"\n");
    CHECK(run_bounded("./upgrade_net_proto_text good.prototxt no/out") == 1);
    CHECK(strstr(run_err, "cannot write no/out: No such file") && is_readable(run_err));
}

int main(int argc, char **argv)
{
    CHECK(getcwd(root, sizeof root));
    RUN(what_is_no_file_is_said_to_be_none)
    RUN(what_may_not_be_read_is_said_so)
    RUN(an_empty_model_is_no_model)
    RUN(a_length_beyond_the_end_takes_no_memory)
    RUN(a_cut_model_is_never_read_in_silence)
    RUN(a_flipped_bit_is_survived)
    RUN(nesting_has_no_bottom_to_fall_through)
    RUN(binary_nesting_has_no_bottom_either)
    RUN(numbers_out_of_range_are_told_together)
    RUN(nul_bytes_are_no_text)
    RUN(a_line_of_2_gb_is_told_soon_and_in_little_memory)
    RUN(what_never_ends_is_not_read_for_ever)
    RUN(a_small_file_does_not_become_large_in_memory)
    RUN(other_formats_are_told_by_name)
    RUN(output_that_cannot_be_written_is_missed)
    RUN(wrong_calls_are_code_2)
    RUN(tools_by_caffes_names_fail_alike)
}
