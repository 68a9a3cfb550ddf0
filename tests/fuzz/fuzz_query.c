/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a statement of `query`, on the tables of a summary with all members of the schema, in each form.  Beside what
 * the sanitizers see: a statement that changes the database, attaches a file or sets a pragma; an answer in one form and not
 * in another; a JSON answer that does not parse; a refusal without a reason; a statement that runs on past its time.
 * Seeds: the questions of `schema` and statements that are refused, written into the folder $TM_FUZZ_SEEDS. */
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "pipeline/database.h"
#include "reports/query/query.h"
#include "stages/output/sqlite/event_tables.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/support/schema_sample.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { SQL_BYTES = 4096, FORMS = 4, COLUMNS = 100, ROWS = 50, SECONDS_MOST = 10 };

#define LIMIT_PS INT64_C(50000000000) /* 50 ms */

static struct tm_run the_run;
static struct tm_database database;
static char *schema; /* what the database was */

static const char *const refused[] = {
    "delete from ops",
    "attach 'x' as y",
    "pragma writable_schema = 1",
    "select load_extension('x')",
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
    "select name, slf_ps from ops; drop table ops",
    "select hex(zeroblob(1e9))",
    "create table t(a)",
    "select * from ops a, ops b, kernels c, steps d, findings e",
    "select name from ops where name glob '*[' or name like '%_%' escape '\\'",
    "values (1), (null), (x'00ff'), (1e999), ('\x01')",
};

static char *schema_of(struct sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    char *text = NULL;

    FUZZ_REQUIRE(sqlite3_prepare_v2(db, "select group_concat(name || coalesce(sql, '')) from sqlite_master", -1,
                                    &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW);
    text = strdup((const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return text;
}

static void put_seed(const char *folder, const char *table, size_t number, const char *sql)
{
    char path[4096];
    FILE *to;

    (void)snprintf(path, sizeof(path), "%s/query-%s-%zu", folder, table, number);
    to = fopen(path, "wb");
    if (!to)
        return;
    (void)fputs(sql, to);
    (void)fclose(to);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    struct tm_doc *doc;

    (void)argc;
    (void)argv;
    fuzz_run_init(&the_run);
    doc = tm_doc_new(&the_run);
    tm_database_new(&database, &the_run);
    FUZZ_REQUIRE(doc && database.db);
    test_schema_sample(tm_doc_root(doc), "gpu", TEST_NOTHING_IS_NULL);
    tm_event_tables_create(&the_run, database.db);
    tm_query_create(&the_run, database.db);
    tm_query_fill(&the_run, database.db, tm_doc_root(doc), UINT32_MAX);
    FUZZ_REQUIRE(!tm_failed(&the_run));
    tm_doc_free(doc);
    schema = schema_of(database.db);
    for (size_t i = 0; folder && i < tm_query_table_count; i++)
        for (size_t n = 0; n < TM_QUERY_QUESTIONS; n++)
            put_seed(folder, tm_query_tables[i].name, n, tm_query_tables[i].question[n].sql);
    for (size_t i = 0; folder && i < sizeof(refused) / sizeof(refused[0]); i++)
        put_seed(folder, "refused", i, refused[i]);
    return 0;
}

static void check_json(const char *text, size_t length)
{
    struct tm_run run;
    struct tm_doc *doc;

    fuzz_run_init(&run);
    doc = tm_doc_new(&run);
    FUZZ_REQUIRE(doc && tm_doc_read(doc, tm_doc_root(doc), text, length, "answer") == TM_OK);
    FUZZ_REQUIRE(tm_int(tm_get(tm_doc_root(doc), "rows_returned")) ==
                 (int64_t)tm_length(tm_get(tm_doc_root(doc), "rows")));
    tm_doc_free(doc);
    fuzz_run_end(&run);
}

static tm_status ask(const char *sql, enum tm_query_form form)
{
    struct tm_query_answer answer = { .sql = sql, .form = form, .columns = COLUMNS, .top = ROWS, .limit_ps = LIMIT_PS };
    uint32_t wanted = 0;
    unsigned sources = 0;
    char *text = NULL;
    size_t length = 0;
    FILE *const to = open_memstream(&text, &length);
    const clock_t before = clock();
    tm_status st;

    the_run.error = (struct tm_error){ .status = TM_OK };
    answer.statement = tm_query_prepare(&the_run, database.db, sql, &wanted, &sources);
    if (answer.statement) {
        FUZZ_REQUIRE(sqlite3_stmt_readonly(answer.statement));
        FUZZ_REQUIRE(tm_query_print(&the_run, &answer, to) == the_run.error.status);
        (void)sqlite3_finalize(answer.statement);
    } else {
        FUZZ_REQUIRE(tm_failed(&the_run));
    }
    st = the_run.error.status;
    FUZZ_REQUIRE(fclose(to) == 0 && clock() - before <= (clock_t)SECONDS_MOST * CLOCKS_PER_SEC);
    FUZZ_REQUIRE(st == TM_OK || ((st == TM_ERR_USAGE || st == TM_ERR_LIMIT) && the_run.error.what[0]));
    for (size_t i = 0; i < length && form != TM_QUERY_CSV; i++)
        FUZZ_REQUIRE((unsigned char)text[i] >= 0x20 || text[i] == '\n');
    if (st == TM_OK && form == TM_QUERY_JSON)
        check_json(text, length);
    free(text);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char sql[SQL_BYTES];
    const size_t length = size < SQL_BYTES ? size : SQL_BYTES - 1;
    const int changes = sqlite3_total_changes(database.db);
    char *after;
    tm_status st[FORMS];

    memcpy(sql, data, length);
    sql[length] = '\0';
    if (strcasestr(sql, "printf") || strcasestr(sql, "format"))
        return 0; /* SQLite counts out a precision of 10^9 in one opcode, and looks at no clock meanwhile */
    for (int form = 0; form < FORMS; form++) {
        st[form] = ask(sql, (enum tm_query_form)form);
        FUZZ_REQUIRE((st[form] == TM_OK) == (st[0] == TM_OK) || st[form] == TM_ERR_LIMIT || st[0] == TM_ERR_LIMIT);
        if (st[form] == TM_ERR_LIMIT)
            break;
    }
    after = schema_of(database.db);
    FUZZ_REQUIRE(sqlite3_total_changes(database.db) == changes && strcmp(after, schema) == 0);
    free(after);
    return 0;
}
