/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that write traces, from a command line to files, with every request for memory refused in turn: a clean
 * error and nothing left under a final name; and that the accounts of the ledger keep their shares.  Run in the folder
 * of the sources. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/commands/commands.h"
#include "pipeline/options.h"
#include "tests/support/test_run.h"

enum { WORDS_MOST = 24 };

static struct tm_setting_set settings;
static char folder[] = "/tmp/tracemill-conversion-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static size_t files_in(const char *path)
{
    DIR *dir = opendir(path);
    size_t count = 0;

    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        count += entry->d_name[0] != '.' || strstr(entry->d_name, ".part") != NULL;
    if (dir)
        (void)closedir(dir);
    return count;
}

/* Run a verb on the small profile.  in: line  options, with single blanks between them; "@" in place of the folder */
static tm_status run_verb(struct tm_run *run, const char *verb, const char *line)
{
    struct tm_options options = { .inputs = NULL };
    char texts[WORDS_MOST][160], *words[WORDS_MOST + 1];
    size_t operands;
    int count = 0;

    for (const char *at = line; *at; count++) {
        const size_t length = strcspn(at, " ");

        (void)snprintf(texts[count], sizeof(texts[0]), "%s%.*s", *at == '@' ? folder : "", (int)(length - (*at == '@')),
                       at + (*at == '@'));
        words[count] = texts[count];
        at += length + (at[length] == ' ');
    }
    words[count] = NULL;
    tm_settings_init(&settings);
    assert_int_equal(tm_settings_take_flags(&settings, count, words, NULL, &operands, &run->error), TM_OK);
    assert_int_equal(tm_settings_apply(&settings, &options, &run->error), TM_OK);
    options.inputs = words + 1;
    options.input_count = operands;
    return tm_verb_by_name(verb)->run(run, &options);
}

#define INPUT "tests/data/tiny"

static tm_status convert(struct tm_run *run)
{
    const tm_status st = run_verb(run, "convert", "x " INPUT " -q -o @/a.pftrace");

    assert_int_equal(files_in(folder), st == TM_OK);
    return st;
}

static tm_status convert_plain(struct tm_run *run)
{
    const tm_status st = run_verb(run, "convert", "x " INPUT " -q --plain --filter min=1ns -o @/a.json.gz");

    assert_int_equal(files_in(folder), st == TM_OK);
    return st;
}

static tm_status split(struct tm_run *run)
{
    const tm_status st = run_verb(run, "split", "x " INPUT " -q --plain --max-events 20 -o @");

    assert_true(st == TM_OK ? files_in(folder) > 4 : files_in(folder) == 0);
    return st;
}

static void refusals_leave_no_file(void **state)
{
    (void)state;
    refuse_each_request(convert);
    assert_int_equal(remove_folder(NULL) | make_folder(NULL), 0);
    refuse_each_request(convert_plain);
    assert_int_equal(remove_folder(NULL) | make_folder(NULL), 0);
    refuse_each_request(split);
}

/* The tallies and the counts of a run are those of one reading, however often the events are read. */
static void what_is_read_again_counts_once(void **state)
{
    struct tm_run once, twice, again;

    (void)state;
    test_run_init(&once);
    assert_int_equal(run_verb(&once, "convert", "x " INPUT " -q --plain -o @/a.pftrace"), TM_OK);
    test_run_init(&twice);
    assert_int_equal(run_verb(&twice, "convert", "x " INPUT " -q -o @/b.pftrace"), TM_OK);
    test_run_init(&again);
    assert_int_equal(run_verb(&again, "split", "x " INPUT " -q --by device -o @/parts"), TM_OK);
    assert_true(once.events_read > 0);
    assert_int_equal(twice.events_read, once.events_read);
    assert_int_equal(again.events_read, once.events_read);
    assert_int_equal(twice.bytes_read, once.bytes_read);
    assert_int_equal(again.bytes_read, once.bytes_read);
    for (int i = 0; i < TM_TALLY_FILTERED_OUT; i++) {
        assert_int_equal(twice.tallies.count[i], once.tallies.count[i]);
        assert_int_equal(again.tallies.count[i], once.tallies.count[i]);
    }
    assert_ledger_is_even(&once);
    assert_ledger_is_even(&twice);
    assert_ledger_is_even(&again);
}

/* A trace in which every table of the outputs fills up: tracks, counters, arrows whose begin is filtered out, texts. */
static void write_crowded_trace(void)
{
    enum { EVENTS = 20000, TRACKS = 3000 };
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/crowded.json", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("{\"traceEvents\":[", file);
    for (int i = 0; i < EVENTS; i++) {
        const int track = i % TRACKS, pid = track % 100 + 1, turn = i / TRACKS;

        (void)fprintf(
            file, "%s{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":9,\"name\":\"f%d\",\"args\":{\"k%d\":%d}}",
            i ? ",\n" : "", pid, track, i, i % 9000, i % 2000, turn);
        (void)fprintf(file, ",\n{\"ph\":\"C\",\"pid\":%d,\"ts\":%d,\"name\":\"c%d\",\"args\":{\"v\":%d}}", pid, i,
                      i % 19000, turn);
        if (i % 4 == 0)
            (void)fprintf(file, ",\n{\"ph\":\"s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"id\":%d,\"name\":\"a\"}", pid,
                          track, i, i);
    }
    (void)fputs("]}", file);
    assert_int_equal(fclose(file), 0);
}

static void accounts_keep_their_shares(void **state)
{
    static const struct {
        const char *verb, *line;
    } cases[] = {
        { "convert", "x @/crowded.json -q --filter name!=a -o @/a.pftrace" },
        { "convert", "x @/crowded.json -q --filter name!=a -o @/a.pftrace.gz" },
        { "convert", "x @/crowded.json -q --plain --filter name!=a -o @/a.json.gz" },
        { "split", "x @/crowded.json -q --filter name!=a --max-events 12000 -o @/parts" },
    };

    (void)state;
    write_crowded_trace();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_run run;

        print_message("%s %s\n", cases[i].verb, cases[i].line);
        test_run_init(&run);
        assert_int_equal(run_verb(&run, cases[i].verb, cases[i].line), TM_OK);
        for (int k = 0; k < TM_ACCOUNT_COUNT; k++)
            assert_in_range(run.budget.peak_bytes[k], 0, tm_budget_share(&run.budget, (enum tm_account)k));
        assert_ledger_is_even(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refusals_leave_no_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_read_again_counts_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(accounts_keep_their_shares, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
