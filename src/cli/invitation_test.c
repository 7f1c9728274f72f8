/* invitation_test.c - an invitation goes into an environment and comes out of it again; others do not. */
#include "base/alloc.h"
#include "cli/invitation.h"
#include "cli/key.h"
#include "test.h"

static char coordinator[] = "tcp://127.0.0.1:41877", address[] = "tcp://127.0.0.1:80-90";

static void an_invitation_that_is_exported_is_read_again(void)
{
    struct psd_invitation from = {
        .coordinator = coordinator, .address = address, .rank = 2, .ranks = 3, .job = UINT64_MAX};
    struct psd_invitation *here = NULL, *there = NULL;
    char home[] = "HOME=/root", old[] = "POSEIDON_RANK=7", rank[] = "RANK=7";
    char *before[] = {home, old, rank, NULL}, **after = NULL;
    int fd = -1;

    CHECK_OK(psd_key_make(&fd));
    CHECK_OK(psd_invitation_create(&from, fd, &here));
    CHECK_OK(psd_invitation_export(here, fd, before, &after));
    CHECK(after[0] == home);
    CHECK_OK(psd_invitation_read(after, &there));
    CHECK_TEXT(coordinator, there->coordinator);
    CHECK_TEXT(address, there->address);
    CHECK(there->rank == 2 && there->ranks == 3 && there->job == UINT64_MAX);
    CHECK(psd_secret_size(there->key) == PSD_KEY_SIZE);
    CHECK(memcmp(psd_secret_data(here->key), psd_secret_data(there->key), PSD_KEY_SIZE) == 0);
    psd_invitation_destroy(here);
    psd_invitation_destroy(there);
    psd_alloc_free(after);
}

static void frameworks_find_what_they_expect_and_nobody_finds_the_key(void)
{
    static const char *const expected[] = {"POSEIDON_COORDINATOR=tcp://127.0.0.1:41877",
                                           "POSEIDON_RANK=1",
                                           "POSEIDON_RANKS=4",
                                           "POSEIDON_JOB=12",
                                           "POSEIDON_KEY=fd:9",
                                           "RANK=1",
                                           "LOCAL_RANK=1",
                                           "WORLD_SIZE=4"};
    struct psd_invitation invitation = {
        .coordinator = coordinator, .rank = 1, .ranks = 4, .job = 12};
    char *none[] = {NULL}, **after = NULL;

    CHECK_OK(psd_invitation_export(&invitation, 9, none, &after));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_TEXT(expected[i], after[i]);
    CHECK(!after[sizeof expected / sizeof *expected]);
    psd_alloc_free(after);
}

static void a_process_without_variables_is_alone(void)
{
    char world[] = "WORLD_SIZE=4", near[] = "POSEIDON_RANKINGS=3";
    char *environment[] = {world, near, NULL};
    struct psd_invitation *invitation = (struct psd_invitation *)environment;

    CHECK_OK(psd_invitation_read(environment, &invitation));
    CHECK(!invitation);
}

static void every_wrong_variable_gets_a_sentence(void)
{
    static const struct {
        const char *coordinator, *rank, *ranks, *job, *key, *sentence;
    } cases[] = {
        {NULL, "0", "1", "1", "fd:0", "POSEIDON_COORDINATOR is missing from the environment"},
        {"tcp://h:1", NULL, "1", "1", "fd:0", "POSEIDON_RANK is missing"},
        {"tcp://h:1", "0", NULL, "1", "fd:0", "POSEIDON_RANKS is missing"},
        {"tcp://h:1", "0", "1", NULL, "fd:0", "POSEIDON_JOB is missing"},
        {"tcp://h:1", "0", "1", "1", NULL, "POSEIDON_KEY is missing"},
        {"h:1", "0", "1", "1", "fd:0", "POSEIDON_COORDINATOR: "},
        {"tcp://h:1", "", "1", "1", "fd:0", "POSEIDON_RANK is \"\": it is a whole number"},
        {"tcp://h:1", "-1", "1", "1", "fd:0", "POSEIDON_RANK is \"-1\": it is a whole number"},
        {"tcp://h:1", "1x", "2", "1", "fd:0", "POSEIDON_RANK is \"1x\": it is a whole number"},
        {"tcp://h:1", "2", "2", "1", "fd:0", "POSEIDON_RANK is 2, but ranks count from 0 and"},
        {"tcp://h:1", "0", "0", "1", "fd:0",
         "POSEIDON_RANKS is \"0\": it is a whole number from 1"},
        {"tcp://h:1", "0", "4294967296", "1", "fd:0", "POSEIDON_RANKS is \"4294967296\""},
        {"tcp://h:1", "0", "1", "0", "fd:0", "POSEIDON_JOB is \"0\": it is a whole number from 1"},
        {"tcp://h:1", "0", "1", "18446744073709551616", "fd:0", "POSEIDON_JOB is \"184467"},
        {"tcp://h:1", "0", "1", "1", "secret", "POSEIDON_KEY is written fd:NUMBER or file:PATH"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *values[] = {cases[i].coordinator, cases[i].rank, cases[i].ranks, cases[i].job,
                                cases[i].key};
        static const char *const names[] = {"COORDINATOR", "RANK", "RANKS", "JOB", "KEY"};
        char texts[5][100], *environment[6] = {NULL};
        struct psd_invitation *invitation = NULL;
        for (int k = 0, count = 0; k < 5; k++) {
            snprintf(texts[k], sizeof texts[k], "POSEIDON_%s=%s", names[k], values[k]);
            if (values[k])
                environment[count++] = texts[k];
        }
        fprintf(stderr, "    %s\n", cases[i].sentence);
        CHECK_STATUS(PSD_ECONFIG, psd_invitation_read(environment, &invitation));
        CHECK(!invitation && strstr(psd_error(), cases[i].sentence));
    }
}

static void an_address_needs_a_transport(void)
{
    static char texts[][40] = {"POSEIDON_COORDINATOR=tcp://h:1",
                               "POSEIDON_RANK=0",
                               "POSEIDON_RANKS=1",
                               "POSEIDON_JOB=1",
                               "POSEIDON_KEY=fd:0",
                               "POSEIDON_ADDRESS=h:1"};
    char *environment[] = {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], NULL};
    struct psd_invitation *invitation = NULL;

    CHECK_STATUS(PSD_ECONFIG, psd_invitation_read(environment, &invitation));
    CHECK(!invitation && strstr(psd_error(), "POSEIDON_ADDRESS: \"h:1\" does not say"));
}

static void creating_and_exporting_survive_every_failed_allocation(void)
{
    struct psd_invitation from = {.coordinator = coordinator, .address = address, .ranks = 1};
    char *none[] = {NULL};
    bool failed = true;
    int fd = -1;

    CHECK_OK(psd_key_make(&fd));
    for (long n = 0; failed; n++) {
        struct psd_invitation *invitation = NULL;
        char **after = NULL;
        psd_alloc_fail_at(n);
        psd_status status = psd_invitation_create(&from, fd, &invitation);
        if (status == PSD_OK)
            status = psd_invitation_export(invitation, fd, none, &after);
        failed = psd_alloc_fail_at(-1);
        CHECK_STATUS(failed ? PSD_ENOMEM : PSD_OK, status);
        CHECK(failed == (after == NULL));
        psd_invitation_destroy(invitation);
        psd_alloc_free(after);
    }
}

int main(int argc, char **argv)
{
    RUN(an_invitation_that_is_exported_is_read_again)
    RUN(frameworks_find_what_they_expect_and_nobody_finds_the_key)
    RUN(a_process_without_variables_is_alone)
    RUN(every_wrong_variable_gets_a_sentence)
    RUN(an_address_needs_a_transport)
    RUN(creating_and_exporting_survive_every_failed_allocation)
}
