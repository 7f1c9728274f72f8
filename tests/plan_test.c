/* plan_test.c - "poseidon plan" and "poseidon simulate", as they are called. */
#include "run.h"

/* The number behind `label` in a row of what was printed. */
static double number_after(const char *row, int columns)
{
    const char *at = strstr(run_out, row);

    CHECK(at);
    at += strlen(row);
    for (int i = 1; i < columns; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " \n");
    }
    return strtod(at, NULL);
}

static void a_plan_shows_routes_reasons_and_speed(void)
{
    run_start();
    CHECK(run("$POSEIDON plan --model vgg19-22k --nodes 16 --bandwidth 10Gbit --profile titan-x") ==
          0);
    CHECK(strstr(run_out, "fc6[0]"));
    CHECK(strstr(run_out, "row-sharded"));
    CHECK(strstr(run_out, "memory"));
    CHECK(strstr(run_out, "hosting"));
    CHECK(strstr(run_out, "speed-up"));
}

static void a_wish_is_followed(void)
{
    run_start();
    CHECK(run("$POSEIDON plan --model alexnet --nodes 4 --bandwidth 10Gbit --route fc6=broadcast "
              "--form fc7=dense") == 0);
    const char *fc6 = strstr(run_out, "fc6[0]"), *fc7 = strstr(run_out, "fc7[0]");
    CHECK(fc6 && fc7);
    const char *choice = strstr(fc6, "*");
    CHECK(choice && choice < fc7 && strstr(fc6, "broadcast") < choice);
    CHECK(strstr(fc7, "dense") && strstr(fc7, "dense") < strchr(fc7, '\n'));
}

static void a_net_of_ours_is_planned_from_its_prototxt(void)
{
    run_start();
    run_write("net.prototxt",
              "layer { name: \"data\" type: \"Input\" top: \"data\"\n"
              "  input_param { shape { dim: 8 dim: 400 } } }\n"
              "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"data\" top: \"ip\"\n"
              "  inner_product_param { num_output: 300 } }\n");
    CHECK(run("$POSEIDON plan --model net.prototxt --nodes 4 --bandwidth 1Gbit") == 0);
    CHECK(strstr(run_out, "ip[0]") && strstr(run_out, "300x400"));
}

static void a_simulation_is_repeatable_and_hybrid_is_best(void)
{
    static const char line[] =
        "$POSEIDON simulate --model vgg19-22k --nodes 1,4 --bandwidth 5Gbit --profile titan-x "
        "--iterations 1 --seed 7 --delay 100us";
    char *first;

    run_start();
    CHECK(run(line) == 0);
    first = strdup(run_out);
    CHECK(run(line) == 0);
    CHECK_TEXT(first, run_out);
    free(first);
    double servers = number_after("4  servers  ", 2), hybrid = number_after("4  hybrid  ", 2);
    CHECK(servers > 1 && servers < hybrid && hybrid <= 4);
}

static void results_go_to_files(void)
{
    run_start();
    CHECK(run("$POSEIDON simulate --model vgg19-22k --nodes 1,2 --bandwidth 40Gbit --profile "
              "titan-x --scheme hybrid,servers --iterations 1 --csv r.csv --svg r.svg") == 0);
    CHECK(run("grep -c , r.csv") == 0);
    CHECK(atoi(run_out) == 5); /* a head, and two schemes for each number of nodes */
    CHECK(run("head -c 5 r.svg") == 0);
    CHECK_TEXT("<svg ", run_out);
}

static void wrong_calls_are_one_sentence(void)
{
    static const struct {
        const char *call, *sentence;
        int code;
    } cases[] = {
        {"plan", "a net is needed", 2},
        {"plan --model nosuch --nodes 2 --bandwidth 1Gbit", "none has that name", 1},
        {"plan --model lenet --nodes 0 --bandwidth 1Gbit", "not a whole number from 1", 2},
        {"plan --model lenet --nodes 4 --bandwidth fast", "is not a speed", 2},
        {"plan --model lenet --nodes 4 --bandwidth 1Gbit --route ip9=broadcast", "did you mean", 2},
        {"plan --model lenet --nodes 4 --bandwidth 1Gbit --route conv1=broadcast", "no factors", 1},
        {"simulate --model lenet", "how fast a node computes", 2},
        {"simulate --model lenet --profile titan-x", "has no times for the model", 1},
        {"simulate --model vgg19 --profile titan-x --scheme best", "is not one of", 2},
        {"simulate --model vgg19 --profile titan-x --nodes 2 --iterations 1 --csv no/r.csv",
         "no/r.csv", 1},
    };

    run_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fprintf(stderr, "    %s\n", cases[i].call);
        CHECK(run("$POSEIDON %s", cases[i].call) == cases[i].code);
        CHECK(strstr(run_err, cases[i].sentence));
    }
}

int main(int argc, char **argv)
{
    RUN(a_plan_shows_routes_reasons_and_speed)
    RUN(a_wish_is_followed)
    RUN(a_net_of_ours_is_planned_from_its_prototxt)
    RUN(a_simulation_is_repeatable_and_hybrid_is_best)
    RUN(results_go_to_files)
    RUN(wrong_calls_are_one_sentence)
}
