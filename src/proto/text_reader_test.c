/* text_reader_test.c - what the text format allows, and what is said about the rest. */
#include "base/alloc.h"
#include "documents.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Reads a text and sees it come out in the plainest way of writing it. */
static void check_means(const ProtobufCMessageDescriptor *type, const char *text, const char *plain)
{
    struct psd_document *document = NULL;

    fprintf(stderr, "    %s\n", text);
    CHECK_OK(read_text(type, "lenet.prototxt", text, strlen(text), &document));
    CHECK_TEXT(plain, text_of(document->root));
    psd_document_destroy(document);
}

/* Reads a wrong text and compares what its author is shown, with "@" for the file's name. */
static void check_told(const ProtobufCMessageDescriptor *type, const char *text, size_t length,
                       const char *sentences)
{
    struct psd_document *document = NULL;
    char shown[20000];

    fprintf(stderr, "    %.200s\n", text);
    CHECK_STATUS(PSD_ECONFIG, read_text(type, "@", text, length, &document));
    CHECK(!document);
    snprintf(shown, sizeof shown, "%s", psd_error());
    CHECK_TEXT(sentences, shown);
}

static void the_example_of_the_manual_is_told_as_promised(void)
{
    static const char text[] = "name: \"LeNet\"\n\n\n\n\n\n\n"
                               "layer {\n"
                               "  name: \"conv1\"\n"
                               "  type: \"Convolution\"\n"
                               "  convolution_param {\n"
                               "    kernal_size: 5\n"
                               "  }\n"
                               "}\n";
    struct psd_document *document = NULL;

    CHECK_STATUS(PSD_ECONFIG, read_text(NET, "lenet.prototxt", text, strlen(text), &document));
    CHECK_TEXT("lenet.prototxt:12:5: unknown field \"kernal_size\" in ConvolutionParameter; "
               "did you mean \"kernel_size\"?",
               psd_error());
}

static void a_message_can_be_written_in_several_ways(void)
{
    static const char plain[] = "state {\n  phase: TRAIN\n  level: 3\n}\n";
    static const char *const texts[] = {
        "state { phase: TRAIN level: 3 }",
        "state: { phase: TRAIN level: 3 }",
        "state < phase: TRAIN level: 3 >",
        "state: < phase: TRAIN, level: 3; >",
        "state{phase:TRAIN,level:3},",
        "state {\r\n  phase: TRAIN\r\n  level: 3\r\n}\r\n",
        "# a comment\nstate { # phase: TEST\n phase: TRAIN level # between\n : 3 } #",
        "\xef\xbb\xbfstate { level: 3 phase: TRAIN }",
        "state { phase: 0 level: 0x3 }",
        "state { phase: 0x0; level: 03 };",
        "\v\f\tstate\n{\nphase\n:\nTRAIN\nlevel\n:\n3\n}\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        check_means(NET, texts[i], plain);
}

static void an_empty_file_is_an_empty_message(void)
{
    check_means(NET, "", "");
    check_means(NET, "# nothing yet", "");
    check_means(NET, "state {}", "state {\n}\n");
}

static void repeated_fields_are_written_one_by_one_or_as_lists(void)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {
        {"input_dim: 1 input_dim: 3", "input_dim: 1\ninput_dim: 3\n"},
        {"input_dim: [1, 3]", "input_dim: 1\ninput_dim: 3\n"},
        {"input_dim: [1] input_dim: [] input_dim: -3", "input_dim: 1\ninput_dim: -3\n"},
        {"input: ['a', \"b\" 'c']", "input: \"a\"\ninput: \"bc\"\n"},
        {"layer: [{name: 'a'}, <name: 'b'>]",
         "layer {\n  name: \"a\"\n}\nlayer {\n  name: \"b\"\n}\n"},
        {"layer [{name: 'a'}]", "layer {\n  name: \"a\"\n}\n"},
        {"layer { propagate_down: [true, false, 1] }",
         "layer {\n  propagate_down: true\n  propagate_down: false\n  propagate_down: true\n}\n"},
        {"layers { blob_share_mode: [STRICT, 1] }",
         "layers {\n  blob_share_mode: STRICT\n  blob_share_mode: PERMISSIVE\n}\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_means(NET, cases[i].text, cases[i].plain);
}

static void a_scalar_can_be_written_in_several_ways(void)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {
        {"max_iter: 0x10", "max_iter: 16\n"},
        {"max_iter: 010", "max_iter: 8\n"},
        {"max_iter: -0x80000000", "max_iter: -2147483648\n"},
        {"max_iter: - 5", "max_iter: -5\n"},
        {"random_seed: 9223372036854775807", "random_seed: 9223372036854775807\n"},
        {"random_seed: -9223372036854775808", "random_seed: -9223372036854775808\n"},
        {"base_lr: 1", "base_lr: 1\n"},
        {"base_lr: .5f", "base_lr: 0.5\n"},
        {"base_lr: -1e-3", "base_lr: -0.001\n"},
        {"base_lr: inf gamma: -inf power: nan", "base_lr: inf\ngamma: -inf\npower: nan\n"},
        {"base_lr: -Infinity gamma: -nan", "base_lr: -inf\ngamma: nan\n"},
        {"debug_info: true", "debug_info: true\n"},
        {"debug_info: True", "debug_info: true\n"},
        {"debug_info: t", "debug_info: true\n"},
        {"debug_info: 1", "debug_info: true\n"},
        {"debug_info: false", "debug_info: false\n"},
        {"debug_info: f", "debug_info: false\n"},
        {"debug_info: 0", "debug_info: false\n"},
        {"solver_mode: CPU", "solver_mode: CPU\n"},
        {"solver_mode: 1", "solver_mode: GPU\n"},
        {"type: 'Adam'", "type: \"Adam\"\n"},
        {"type: \"A\" 'd'\n  # joined\n\"am\"", "type: \"Adam\"\n"},
        {"type: ''", "type: \"\"\n"},
        {"type: \"\" '' 'x' \"\"", "type: \"x\"\n"},
        {"net: '\\a\\b\\f\\n\\r\\t\\v\\?\\'\\\"\\\\\\x41\\101\\u00e9'",
         "net: \"\\007\\010\\014\\n\\r\\t\\013?\\'\\\"\\\\AA\\303\\251\"\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_means(SOLVER, cases[i].text, cases[i].plain);
}

static void bytes_may_be_anything(void)
{
    check_means(DATUM, "data: '\\000\\001\\xff' \"a\\0\"", "data: \"\\000\\001\\377a\\000\"\n");
    check_means(DATUM, "data: ''", "data: \"\"\n");
    check_means(BLOB, "double_data: [1e300, 0.1]", "double_data: 1e+300\ndouble_data: 0.1\n");
}

static void our_own_solver_fields_are_known(void)
{
    check_means(SOLVER, "warmup_iter: 5 warmup_start_factor: 0.1",
                "warmup_iter: 5\nwarmup_start_factor: 0.1\n");
}

#define INT32  "a whole number from -2147483648 to 2147483647"
#define UINT32 "a whole number from 0 to 4294967295"
#define INT64  "a whole number from -9223372036854775808 to 9223372036854775807"
#define FLOAT  "a number within the range of a float"

static void a_value_that_does_not_fit_is_named(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"max_iter: 2147483648", "@:1:11: \"max_iter\" expects " INT32 ", found 2147483648"},
        {"max_iter: -2147483649", "@:1:11: \"max_iter\" expects " INT32 ", found -2147483649"},
        {"max_iter: 3.5", "@:1:11: \"max_iter\" expects " INT32 ", found 3.5"},
        {"max_iter: 12abc", "@:1:11: \"max_iter\" expects " INT32 ", found 12abc"},
        {"max_iter: '3'", "@:1:11: \"max_iter\" expects " INT32 ", found '3'"},
        {"max_iter: { a: 1 }", "@:1:11: \"max_iter\" expects " INT32 ", found {"},
        {"max_iter:", "@:1:10: \"max_iter\" expects " INT32 ", found the end of the file"},
        {"max_iter: -", "@:1:11: \"max_iter\" expects " INT32 ", found the end of the file"},
        {"max_iter: ,", "@:1:11: \"max_iter\" expects " INT32 ", found ,"},
        {"random_seed: 9223372036854775808",
         "@:1:14: \"random_seed\" expects " INT64 ", found 9223372036854775808"},
        {"net_param { layer { pooling_param { pad: -1 } } }",
         "@:1:42: \"pad\" expects " UINT32 ", found -1"},
        {"base_lr: 1e39", "@:1:10: \"base_lr\" expects " FLOAT ", found 1e39"},
        {"base_lr: 0.1.2", "@:1:10: \"base_lr\" expects " FLOAT ", found 0.1.2"},
        {"base_lr: 0x10", "@:1:10: \"base_lr\" expects " FLOAT ", found 0x10"},
        {"base_lr: small", "@:1:10: \"base_lr\" expects " FLOAT ", found small"},
        {"base_lr: '0.1'", "@:1:10: \"base_lr\" expects " FLOAT ", found '0.1'"},
        {"debug_info: yes", "@:1:13: \"debug_info\" expects true or false, found yes"},
        {"debug_info: 2", "@:1:13: \"debug_info\" expects true or false, found 2"},
        {"debug_info: -true", "@:1:13: \"debug_info\" expects true or false, found -true"},
        {"type: Adam", "@:1:7: \"type\" expects a string in quotation marks, found Adam"},
        {"type: -'Adam'", "@:1:7: \"type\" expects a string in quotation marks, found -'Adam'"},
        {"type: }", "@:1:7: \"type\" expects a string in quotation marks, found }\n"
                    "@:1:7: expected the name of a field of SolverParameter, found \"}\""},
        {"solver_mode: GPUS",
         "@:1:14: \"solver_mode\" expects one of CPU, GPU, found GPUS; did you mean GPU?"},
        {"solver_mode: 'CPU'",
         "@:1:14: \"solver_mode\" expects one of CPU, GPU, found 'CPU'; did you mean CPU?"},
        {"solver_mode: 7", "@:1:14: \"solver_mode\" expects one of CPU, GPU, found 7"},
        {"net_param { layers { type: POLING } }",
         "@:1:28: \"type\" expects a name from LayerType, found POLING; did you mean POOLING?"},
        {"max_iter: [1, 2]", "@:1:11: \"max_iter\" takes one value, not a list"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_told(SOLVER, cases[i].text, strlen(cases[i].text), cases[i].sentence);
}

static void a_wrong_string_is_named(void)
{
    static const struct {
        const char *text;
        size_t length;
        const char *sentence;
    } cases[] = {
        {"name: 'a\nforce_backward: true", 29,
         "@:1:7: this string has no closing quotation mark on its line"},
        {"name: \"a\\q", 10, "@:1:7: this string has no closing quotation mark on its line"},
        {"name: '\\q'", 10, "@:1:7: an unknown escape after the backslash"},
        {"name: 'a' '\\400'", 16, "@:1:11: an octal escape above \\377"},
        {"name: '\\x'", 10, "@:1:7: an escape with too few hexadecimal digits"},
        {"name: '\\ud800'", 14, "@:1:7: an escape that is no Unicode character"},
        {"name: 'a\\000b'", 14, "@:1:7: a NUL byte in a string"},
        {"name: 'a\0b' force_backward: true", 32, "@:1:7: a NUL byte; is this a binary file?"},
        {"name: 'a'\0", 10, "@:1:10: a NUL byte; is this a binary file?"},
        {"name: 'a' # b\0c\n", 16, "@:1:14: a NUL byte; is this a binary file?"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_told(NET, cases[i].text, cases[i].length, cases[i].sentence);
}

static void a_field_the_schema_does_not_know_is_named_and_left_out(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"nmae: 'x'", "@:1:1: unknown field \"nmae\" in NetParameter; did you mean \"name\"?"},
        {"quux: 1", "@:1:1: unknown field \"quux\" in NetParameter"},
        {"quux: -1.5 name: 'x'", "@:1:1: unknown field \"quux\" in NetParameter"},
        {"quux: 'a' \"b\" name: 'x'", "@:1:1: unknown field \"quux\" in NetParameter"},
        {"quux: [1, 'a', { b: 2 }] name: 'x'", "@:1:1: unknown field \"quux\" in NetParameter"},
        {"quux { a: { b < c: [ {} ] > } } name: 'x'",
         "@:1:1: unknown field \"quux\" in NetParameter"},
        {"quux: { a: 1 } name: 'x'", "@:1:1: unknown field \"quux\" in NetParameter"},
        {"layer { quux: }", "@:1:9: unknown field \"quux\" in LayerParameter"},
        {"[caffe.extra] { a: 1 } name: 'x'", "@:1:1: NetParameter has no extensions"},
        {"layer { [a.b/c]: 3 }", "@:1:9: LayerParameter has no extensions"},
        {"Name: 'x'", "@:1:1: unknown field \"Name\" in NetParameter; did you mean \"name\"?"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_told(NET, cases[i].text, strlen(cases[i].text), cases[i].sentence);
}

static void a_wrong_sign_is_named(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"name 'x'", "@:1:6: expected \":\" after \"name\""},
        {"name { a: 1 }\nforce_backward: 1", "@:1:6: expected \":\" after \"name\""},
        {"name", "@:1:5: expected \":\" after \"name\""},
        {"state", "@:1:6: expected \"{\" after \"state\", found the end of the file"},
        {"state: 3", "@:1:8: expected \"{\" after \"state\", found \"3\""},
        {"state 'x' name: 3", "@:1:7: expected \"{\" after \"state\", found \"'x'\""},
        {"state: [{}]", "@:1:8: \"state\" takes one value, not a list"},
        {"name = 'x'", "@:1:6: a character that has no place here\n"
                       "@:1:8: expected \":\" after \"name\""},
        {"input_dim: [1 2]",
         "@:1:15: expected \",\" or \"]\" in the list opened at 1:12, found \"2\""},
        {"input_dim: [1,]", "@:1:15: \"input_dim\" expects " INT32 ", found ]"},
        {"input_dim: [1 2,\n3,\n4]\nname: 'x'",
         "@:1:15: expected \",\" or \"]\" in the list opened at 1:12, found \"2\""},
        {"input_dim: [1",
         "@:1:14: expected \",\" or \"]\" in the list opened at 1:12, found the end of the file"},
        {"layer: [{ name: 'a' } { name: 'b' }]",
         "@:1:23: expected \",\" or \"]\" in the list opened at 1:8, found \"{\""},
        {"}", "@:1:1: expected the name of a field of NetParameter, found \"}\""},
        {"name: 'x' ]", "@:1:11: expected the name of a field of NetParameter, found \"]\""},
        {"3: 4 5\nname: 'x'", "@:1:1: expected the name of a field of NetParameter, found \"3\""},
        {"{ name: 'x' }", "@:1:1: expected the name of a field of NetParameter, found \"{\""},
        {"name: 'x';; force_backward: 1",
         "@:1:11: expected the name of a field of NetParameter, found \";\""},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_told(NET, cases[i].text, strlen(cases[i].text), cases[i].sentence);
}

static void a_bracket_that_is_not_closed_is_named(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"layer {\n  name: 'a'\n",
         "@:3:1: the \"{\" of LayerParameter opened at 1:7 is not closed before the end of the "
         "file"},
        {"layer <\n  name: 'a'\n}\nlayer { name: 'b' }",
         "@:3:1: the \"<\" of LayerParameter opened at 1:7 is not closed before \"}\""},
        {"layer {\n  name: 'a'\nlayer {\n  name: 'b'\n}\nlayer { name: 'c' }\n",
         "@:3:1: the \"{\" of LayerParameter opened at 1:7 is not closed before \"layer\""},
        {"layer {\n  relu_param {\n    engine: CAFFE\n  name: 'a'\n}\n",
         "@:4:3: the \"{\" of ReLUParameter opened at 2:14 is not closed before \"name\""},
        {"layer {\n  relu_param {\nlayer {}",
         "@:3:1: the \"{\" of ReLUParameter opened at 2:14 is not closed before \"layer\"\n"
         "@:3:1: the \"{\" of LayerParameter opened at 1:7 is not closed before \"layer\""},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        check_told(NET, cases[i].text, strlen(cases[i].text), cases[i].sentence);
}

static void a_field_in_the_wrong_message_is_no_missing_bracket(void)
{
    static const char text[] = "layer {\n  relu_param {\n    bottom: 'a'\n  }\n}\n";

    check_told(NET, text, strlen(text), "@:3:5: unknown field \"bottom\" in ReLUParameter");
}

static void a_single_field_is_given_once(void)
{
    static const char text[] = "name: 'a'\nstate { level: 1 level: 1 }\nname: 'b' state {}\n";

    check_told(NET, text, strlen(text),
               "@:2:18: \"level\" in NetState is given again; it was first given at 2:9\n"
               "@:3:1: \"name\" in NetParameter is given again; it was first given at 1:1\n"
               "@:3:11: \"state\" in NetParameter is given again; it was first given at 2:1");
}

static void required_fields_are_asked_for(void)
{
    static const char text[] = "layer { clip_param { min: -1 max: 1 } }\n"
                               "layer { clip_param { max: 1 } }\n"
                               "layer { clip_param {} }\n"
                               "layer { clip_param { min: 0 max: none } }\n";

    check_told(NET, text, strlen(text),
               "@:2:20: ClipParameter needs \"min\"\n"
               "@:3:20: ClipParameter needs \"min\"\n"
               "@:3:20: ClipParameter needs \"max\"\n"
               "@:4:34: \"max\" expects " FLOAT ", found none");
}

static void several_mistakes_are_told_in_the_order_of_their_lines(void)
{
    static const char text[] = "nam: \"LeNet\"\n"
                               "layer {\n"
                               "  name \"conv1\"\n"
                               "  type: Convolution\n"
                               "  convolution_param {\n"
                               "    num_output: -20\n"
                               "    kernal_size: 5\n"
                               "    weight_filler { type: 'xavier' std: 0,1 }\n"
                               "  }\n"
                               "  top: \"conv1\n"
                               "}\n"
                               "layer { name: \"pool1\" pooling_param { pool: MAXX } }\n"
                               "debug_info: ture\n";

    check_told(NET, text, strlen(text),
               "@:1:1: unknown field \"nam\" in NetParameter; did you mean \"name\"?\n"
               "@:3:8: expected \":\" after \"name\"\n"
               "@:4:9: \"type\" expects a string in quotation marks, found Convolution\n"
               "@:6:17: \"num_output\" expects " UINT32 ", found -20\n"
               "@:7:5: unknown field \"kernal_size\" in ConvolutionParameter; "
               "did you mean \"kernel_size\"?\n"
               "@:8:43: expected the name of a field of FillerParameter, found \"1\"\n"
               "@:10:8: this string has no closing quotation mark on its line\n"
               "@:12:45: \"pool\" expects one of MAX, AVE, STOCHASTIC, found MAXX; "
               "did you mean MAX?\n"
               "@:13:13: \"debug_info\" expects true or false, found ture");
}

static void after_twenty_mistakes_reading_ends(void)
{
    char text[3000] = "", expected[3000] = "";
    size_t used = 0, told = 0;

    for (int line = 1; line <= 100; line++)
        used += (size_t)snprintf(text + used, sizeof text - used, "quux: %d\n", line);
    for (int line = 1; line <= 20; line++)
        told += (size_t)snprintf(expected + told, sizeof expected - told,
                                 "@:%d:1: unknown field \"quux\" in NetParameter\n", line);
    snprintf(expected + told, sizeof expected - told, "there is more to correct after these");
    check_told(NET, text, used, expected);
}

/* A text that repeats a piece; the caller frees it. */
static char *repeat(const char *head, const char *piece, size_t times, const char *tail)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CHECK(stream);
    fputs(head, stream);
    for (size_t i = 0; i < times; i++)
        fputs(piece, stream);
    fputs(tail, stream);
    CHECK(fclose(stream) == 0);
    return text;
}

static void nesting_without_end_is_skipped_without_end(void)
{
    static const struct {
        const char *head, *piece, *tail, *sentence;
    } cases[] = {
        {"", "a {", "", "@:1:1: unknown field \"a\" in NetParameter"},
        {"", "a <", "\nnam: 'x'", "@:1:1: unknown field \"a\" in NetParameter"},
        {"name: ", "[", "", "@:1:7: \"name\" takes one value, not a list"},
        {"", "[", "", "@:1:1: NetParameter has no extensions"},
        {"", "{", "", "@:1:1: expected the name of a field of NetParameter, found \"{\""},
        {"input_dim: [", "[", "", NULL},
        {"layer ", "{ layer ", "", NULL},
        {"", "}", "", NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = repeat(cases[i].head, cases[i].piece, 100000, cases[i].tail);
        struct psd_document *document = NULL;
        fprintf(stderr, "    %s\n", cases[i].piece);
        CHECK_STATUS(PSD_ECONFIG, read_text(NET, "@", text, strlen(text), &document));
        if (cases[i].sentence)
            CHECK_TEXT(cases[i].sentence, psd_error());
        free(text);
    }
}

static void long_strings_are_read_whole(void)
{
    char *text = repeat("name: '", "0123456789", 300000, "'"),
         *joined = repeat("name: ", "'abc' ", 50000, "");
    struct psd_document *document = net_of(text);

    CHECK(strlen(net_in(document)->name) == 3000000);
    psd_document_destroy(document);
    document = net_of(joined);
    CHECK(strlen(net_in(document)->name) == 150000);
    psd_document_destroy(document);
    free(joined);
    free(text);
}

static void a_string_beyond_all_measure_is_refused(void)
{
    char mebibyte[(1 << 20) + 1] = "";
    memset(mebibyte, 'x', sizeof mebibyte - 1);
    char *text = repeat("name: '", mebibyte, 64, "'");

    check_told(NET, text, strlen(text), "@:1:7: a string longer than 64 MiB");
    free(text);
}

static void a_text_that_needs_too_much_memory_is_refused(void)
{
    char *text = repeat("", "layer{}", 1000000, "");
    struct psd_document *document = NULL;

    CHECK_STATUS(PSD_ENOMEM, read_text(NET, "many.prototxt", text, strlen(text), &document));
    CHECK_TEXT("many.prototxt: more than the 77 MiB of memory that something of this size may take",
               psd_error());
    free(text);
}

static bool stands_at(const struct psd_document *document, const void *message, unsigned field,
                      size_t line, size_t column)
{
    struct psd_position at = psd_document_where(document, message, field);

    return at.line == line && at.column == column;
}

static void every_part_remembers_its_place(void)
{
    struct psd_document *document = net_of("name: 'n'\n"
                                           "layer {\n"
                                           "  name: 'a' top: 't' top: 'u'\n"
                                           "}\n"
                                           "layer: [{ name: 'b' },\n"
                                           "        { relu_param {} }]\n");
    const Caffe__NetParameter *net = net_in(document);

    CHECK(stands_at(document, net, 1, 1, 1));
    CHECK(stands_at(document, net, 100, 2, 1));
    CHECK(stands_at(document, net->layer[0], 0, 2, 1));
    CHECK(stands_at(document, net->layer[0], 1, 3, 3));
    CHECK(stands_at(document, net->layer[0], 4, 3, 13));
    CHECK(stands_at(document, net->layer[1], 0, 5, 9));
    CHECK(stands_at(document, net->layer[1], 1, 5, 11));
    CHECK(stands_at(document, net->layer[2], 0, 6, 9));
    CHECK(stands_at(document, net->layer[2]->relu_param, 0, 6, 11));
    CHECK(stands_at(document, net->layer[2], 1, 0, 0));
    psd_document_destroy(document);
}

static void every_failed_allocation_is_survived(void)
{
    char *text = repeat("name: 'n' layer { name: 'a' 'b' blobs { data: [", "1, ", 20000,
                        "1] } top: ['x', 'y'] include {} }");
    bool failed = true;

    for (long n = 0; failed; n++) {
        struct psd_document *document = NULL;
        psd_alloc_fail_at(n);
        psd_status status = read_text(NET, "a", text, strlen(text), &document);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (document == NULL));
        psd_document_destroy(document);
    }
    free(text);
}

int main(int argc, char **argv)
{
    RUN(the_example_of_the_manual_is_told_as_promised)
    RUN(a_message_can_be_written_in_several_ways)
    RUN(an_empty_file_is_an_empty_message)
    RUN(repeated_fields_are_written_one_by_one_or_as_lists)
    RUN(a_scalar_can_be_written_in_several_ways)
    RUN(bytes_may_be_anything)
    RUN(our_own_solver_fields_are_known)
    RUN(a_value_that_does_not_fit_is_named)
    RUN(a_wrong_string_is_named)
    RUN(a_field_the_schema_does_not_know_is_named_and_left_out)
    RUN(a_wrong_sign_is_named)
    RUN(a_bracket_that_is_not_closed_is_named)
    RUN(a_field_in_the_wrong_message_is_no_missing_bracket)
    RUN(a_single_field_is_given_once)
    RUN(required_fields_are_asked_for)
    RUN(several_mistakes_are_told_in_the_order_of_their_lines)
    RUN(after_twenty_mistakes_reading_ends)
    RUN(nesting_without_end_is_skipped_without_end)
    RUN(long_strings_are_read_whole)
    RUN(a_string_beyond_all_measure_is_refused)
    RUN(a_text_that_needs_too_much_memory_is_refused)
    RUN(every_part_remembers_its_place)
    RUN(every_failed_allocation_is_survived)
}
