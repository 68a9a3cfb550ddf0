/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the kind of a file.  Most formats have a magic number; JSON is identified by its keys.  Protobuf has no magic
 * number and four formats start alike, so the head is parsed once as each of them (shape tables: which field has which
 * wire type), and the best match wins.  Nothing is allocated.  Formats: schemas/xplane.proto; Perfetto's
 * trace_packet.proto, pprof's profile.proto, XLA's hlo.proto, for which the tables have the numbers and types of the
 * fields that occur early. */
#include "stages/input/bytes/input_file.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/discover.h"
#include "pipeline/files.h"
#include "pipeline/strings.h"
#include "stages/input/bytes/archive.h"
#include "stages/input/bytes/inflate.h"
#include "stages/input/bytes/unwrap.h"

/* ---- names -------------------------------------------------------------------------------------------- */

struct kind_row {
    const char *name;
    const char *hint;
};

#define GIVE_XPLANE "use the .xplane.pb file in the same folder"
#define GIVE_TRACE "use the .xplane.pb file written by jax.profiler.trace(), or the .json file of torch.profiler"

static const struct kind_row kind_rows[TM_FILE_KINDS] = {
    [TM_FILE_UNKNOWN] = { "of an unknown type", GIVE_TRACE },
    [TM_FILE_EMPTY] = { "empty after decompression", "profile again with block_until_ready() inside the trace" },
    [TM_FILE_XSPACE] = { "a JAX or XLA profile (XSpace)", "" },
    [TM_FILE_CHROME_JSON] = { "a Chrome trace in JSON", "" },
    [TM_FILE_ROCPROF_JSON] = { "rocprofv3 JSON, which contains no trace events",
                               "use the .xplane.pb file written by jax.profiler.trace()" },
    [TM_FILE_SPEEDSCOPE] = { "a speedscope profile, which contains only host samples", GIVE_TRACE },
    [TM_FILE_EXECUTION_TRACE] = { "a PyTorch execution trace, a graph of operators without kernels",
                                  "use the trace written by torch.profiler's export_chrome_trace()" },
    [TM_FILE_OTHER_JSON] = { "JSON, but not a trace", GIVE_XPLANE },
    [TM_FILE_SUMMARY_JSON] = { "a tracemill summary", "use the trace that it was created from" },
    [TM_FILE_PARTIAL] = { "a tracemill partial", "pass it to 'tracemill report' uncompressed" },
    [TM_FILE_PERFETTO] = { "a Perfetto trace", "" },
    [TM_FILE_OWN_PERFETTO] = { "a Perfetto trace written by tracemill", "" },
    [TM_FILE_PPROF] = { "a device memory profile (pprof)", "" },
    [TM_FILE_HLO] = { "an XLA HLO module", "use the run's .xplane.pb file, not the program" },
    [TM_FILE_HTML] = { "a web page (HTML)", "download the file itself, not the page that shows it" },
    [TM_FILE_NSIGHT_REPORT] = { "an Nsight Systems report",
                                "profile with jax.profiler.trace() or torch.profiler, and use that trace" },
    [TM_FILE_NSIGHT_DATABASE] = { "an Nsight Systems export (SQLite)",
                                  "profile with jax.profiler.trace() or torch.profiler, and use that trace" },
    [TM_FILE_SQLITE] = { "an SQLite database", "profile with jax.profiler.trace(), and use its .xplane.pb file" },
    [TM_FILE_RIEGELI] = { "a Riegeli file", GIVE_XPLANE },
    [TM_FILE_TENSORBOARD] = { "a TensorBoard event file",
                              "the profile is next to it, in plugins/profile/: pass the log directory" },
    [TM_FILE_UTF16] = { "UTF-16 text", "convert it with 'iconv -f UTF-16 -t UTF-8'; traces are JSON in UTF-8" },
    [TM_FILE_SCRIPT] = { "a script", GIVE_TRACE },
    [TM_FILE_TEXT] = { "plain text", GIVE_TRACE },
    [TM_FILE_PDF] = { "a PDF document", "use the trace that it was created from" },
    [TM_FILE_ELF] = { "a program or library (ELF)", "use the .xplane.pb file written by jax.profiler.trace()" },
    [TM_FILE_GIT_LFS] = { "a Git LFS pointer, not the file itself", "fetch the file with 'git lfs pull'" },
    [TM_FILE_GZIP] = { "compressed twice, with gzip inside", "decompress it once with 'gunzip' or 'zstd -d'" },
    [TM_FILE_ZSTD] = { "compressed twice, with zstd inside", "decompress it once with 'gunzip' or 'zstd -d'" },
    [TM_FILE_XZ] = { "compressed with xz", "decompress it with 'xz -d'" },
    [TM_FILE_BZIP2] = { "compressed with bzip2", "decompress it with 'bzip2 -d'" },
    [TM_FILE_LZ4] = { "compressed with lz4", "decompress it with 'lz4 -d'" },
    [TM_FILE_TAR] = { "a tar archive", "pass its path without unpacking it; an archive inside another archive must "
                                       "be unpacked" },
    [TM_FILE_ZIP] = { "a zip archive", "pass its path without unpacking it; an archive inside another file must be "
                                       "unpacked" },
    [TM_FILE_SEVEN_ZIP] = { "a 7z archive", "unpack it with '7z x', and pass the folder" },
};

const char *tm_kind_name(enum tm_file_kind kind)
{
    assert((unsigned)kind < TM_FILE_KINDS);
    return kind_rows[kind].name;
}

const char *tm_kind_hint(enum tm_file_kind kind)
{
    assert((unsigned)kind < TM_FILE_KINDS);
    return kind_rows[kind].hint;
}

bool tm_kind_can_read(enum tm_file_kind kind)
{
    return kind == TM_FILE_XSPACE || kind == TM_FILE_PPROF || tm_kind_is_streamed(kind);
}

bool tm_kind_is_streamed(enum tm_file_kind kind)
{
    return kind == TM_FILE_CHROME_JSON || kind == TM_FILE_PERFETTO || kind == TM_FILE_OWN_PERFETTO;
}

/* ---- magic numbers ------------------------------------------------------------------------------------ */

struct magic {
    uint16_t at;
    uint8_t length;
    uint8_t kind;
    const char *bytes;
};

static const struct magic magics[] = {
    { 0, 2, TM_FILE_GZIP, "\x1f\x8b" },
    { 0, 4, TM_FILE_ZSTD, "\x28\xb5\x2f\xfd" },
    { 0, 6, TM_FILE_XZ,
      "\xfd"
      "7zXZ\0" },
    { 4, 6, TM_FILE_BZIP2, "\x31\x41\x59\x26\x53\x59" }, /* a block of data */
    { 4, 6, TM_FILE_BZIP2, "\x17\x72\x45\x38\x50\x90" }, /* the end of an empty file */
    { 0, 4, TM_FILE_LZ4, "\x04\x22\x4d\x18" },
    { 0, 4, TM_FILE_ZIP, "PK\x03\x04" },
    { 0, 4, TM_FILE_ZIP, "PK\x05\x06" }, /* an empty one */
    { 0, 4, TM_FILE_ZIP, "PK\x07\x08" }, /* a part of several */
    { 0, 6, TM_FILE_SEVEN_ZIP, "7z\xbc\xaf\x27\x1c" },
    { 257, 5, TM_FILE_TAR, "ustar" },
    { 0, 16, TM_FILE_SQLITE, "SQLite format 3\0" },
    { 0, 2, TM_FILE_UTF16, "\xff\xfe" },
    { 0, 2, TM_FILE_UTF16, "\xfe\xff" },
    { 0, 2, TM_FILE_SCRIPT, "#!" },
    { 0, 8, TM_FILE_RIEGELI, "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f" },
    { 0, 5, TM_FILE_PDF, "%PDF-" },
    { 0, 4, TM_FILE_ELF,
      "\x7f"
      "ELF" },
    { 0, 18, TM_FILE_PARTIAL, "TRACEMILL PARTIAL " },
    { 0, 24, TM_FILE_GIT_LFS, "version https://git-lfs." },
};

/* Of zstd: sixteen magic numbers. */
static bool is_skippable_frame(const uint8_t *first, size_t length)
{
    return length >= 4 && (first[0] & 0xf0) == 0x50 && memcmp(first + 1, "\x2a\x4d\x18", 3) == 0;
}

static enum tm_file_kind by_magic(const uint8_t *first, size_t length)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        const struct magic *const m = &magics[i];

        if (length >= (size_t)m->at + m->length && memcmp(first + m->at, m->bytes, m->length) == 0)
            return m->kind;
    }
    return is_skippable_frame(first, length) ? TM_FILE_ZSTD : TM_FILE_UNKNOWN;
}

enum tm_wrapping tm_wrapping_of(const uint8_t *first, size_t length)
{
    const enum tm_file_kind kind = by_magic(first, length);

    return kind == TM_FILE_GZIP ? TM_GZIP : kind == TM_FILE_ZSTD ? TM_ZSTD : TM_PLAIN;
}

static bool has_text(const uint8_t *first, size_t length, const char *text)
{
    return memmem(first, length, text, strlen(text)) != NULL;
}

/* The first page of a database has the statements that made its tables. */
static bool is_nsight_database(const uint8_t *first, size_t length)
{
    return has_text(first, length, "CUPTI_ACTIVITY_KIND_") || has_text(first, length, "TARGET_INFO_SYSTEM_ENV") ||
           has_text(first, length, "META_DATA_EXPORT");
}

/* JSON of 16-bit units without a mark of their order. */
static bool is_bare_utf16(const uint8_t *first, size_t length)
{
    if (length < 4)
        return false;
    if (first[0] == 0)
        return (first[1] == '{' || first[1] == '[') && first[2] == 0 && first[3] != 0;
    return (first[0] == '{' || first[0] == '[') && first[1] == 0 && first[2] != 0 && first[3] == 0;
}

/* A tar from before the magic number: the header's checksum, in octal, is the sum of its bytes with the
 * checksum's own field taken as blanks. */
static bool is_old_tar(const uint8_t *first, size_t length)
{
    enum { HEADER = 512, SUM_AT = 148, SUM_BYTES = 8 };
    unsigned sum = 0, told = 0, digits = 0;

    if (length < HEADER || first[0] == 0)
        return false;
    for (size_t i = 0; i < HEADER; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : first[i];
    for (size_t i = SUM_AT; i < SUM_AT + SUM_BYTES; i++) {
        if (first[i] >= '0' && first[i] <= '7') {
            told = told * 8 + (first[i] - '0');
            digits++;
        } else if (digits > 0) {
            break;
        }
    }
    return digits > 0 && told == sum;
}

/* TFRecord: length (8 bytes), its check (4), then the first event, which names the version of the format. */
static bool is_tensorboard(const uint8_t *first, size_t length)
{
    static const char version[] = "brain.Event:";
    const size_t end = length < 64 ? length : 64;

    if (length < 24 || memcmp(first + 2, "\0\0\0\0\0\0", 6) != 0)
        return false;
    return memmem(first + 12, end - 12, version, sizeof(version) - 1) != NULL;
}

/* ---- JSON and other text -------------------------------------------------------------------------------- */

static size_t skip_blanks(const uint8_t *first, size_t length, size_t at)
{
    while (at < length && (first[at] == ' ' || (first[at] >= '\t' && first[at] <= '\r')))
        at++;
    return at;
}

static size_t text_begin(const uint8_t *first, size_t length)
{
    const size_t mark = length >= 3 && memcmp(first, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    return skip_blanks(first, length, mark);
}

#define TM_SUMMARY_SCHEMA "tracemill.summary"

/* Information from the keys of a JSON text. */
struct json_keys {
    bool trace_events, phase, kineto, rocprof, summary, schema, nodes;
};

static bool is_key(const uint8_t *key, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(key, wanted, length) == 0;
}

static void take_key(struct json_keys *keys, const uint8_t *key, size_t length, size_t depth)
{
    static const char rocprof[] = "rocprofiler-sdk";

    if (depth == 1) {
        keys->trace_events |= is_key(key, length, "traceEvents");
        keys->kineto |= is_key(key, length, "deviceProperties") || is_key(key, length, "displayTimeUnit") ||
                        is_key(key, length, "traceName");
        keys->rocprof |= length >= sizeof(rocprof) - 1 && memcmp(key, rocprof, sizeof(rocprof) - 1) == 0;
        keys->summary |= is_key(key, length, TM_SUMMARY_SCHEMA);
        keys->schema |= is_key(key, length, "schema");
        keys->nodes |= is_key(key, length, "nodes");
    } else if (depth == 2) {
        keys->phase |= is_key(key, length, "ph");
    }
}

/* The end of the string that starts after `at`; `length` if it does not end. */
static size_t string_end(const uint8_t *first, size_t length, size_t at)
{
    while (at < length && first[at] != '"')
        at += first[at] == '\\' ? 2 : 1;
    return at < length ? at : length;
}

/* One walk over the text, without a tree: strings that a colon follows are keys.  The name of our own format is
 * a value, and nothing else has that name. */
static struct json_keys read_keys(const uint8_t *first, size_t length, size_t at)
{
    struct json_keys keys = { 0 };
    size_t depth = 0;

    while (at < length) {
        const uint8_t c = first[at++];

        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (c == '"') {
            const size_t end = string_end(first, length, at);
            const size_t after = end < length ? skip_blanks(first, length, end + 1) : length;
            const bool key = after < length && first[after] == ':';

            if (key || is_key(first + at, end - at, TM_SUMMARY_SCHEMA))
                take_key(&keys, first + at, end - at, depth);
            at = end < length ? end + 1 : length;
        }
    }
    return keys;
}

/* An object longer than the head may have its events later: the reader will find out.
 * out:    *sure  it is definitely a trace */
static enum tm_file_kind json_kind(const uint8_t *first, size_t length, size_t at, bool *sure)
{
    const struct json_keys keys = read_keys(first, length, at);
    const bool is_cut = length >= TM_KIND_HEAD_BYTES;

    *sure = keys.trace_events || keys.kineto || (first[at] == '[' && keys.phase);

    if (keys.rocprof)
        return TM_FILE_ROCPROF_JSON;
    if (keys.summary)
        return TM_FILE_SUMMARY_JSON;
    if (*sure)
        return TM_FILE_CHROME_JSON;
    if (keys.schema && keys.nodes)
        return TM_FILE_EXECUTION_TRACE;
    if (has_text(first, length, "speedscope.app/file-format-schema"))
        return TM_FILE_SPEEDSCOPE;
    return first[at] == '{' && is_cut ? TM_FILE_CHROME_JSON : TM_FILE_OTHER_JSON;
}

/* '{' or '[' and then what JSON allows there, without control characters: a protobuf may start with the same
 * bytes. */
static bool is_json(const uint8_t *first, size_t length, size_t at)
{
    const size_t near = length - at < 64 ? length : at + 64;
    size_t next;

    if (at >= length || (first[at] != '{' && first[at] != '['))
        return false;
    for (size_t i = at; i < near; i++) {
        if (first[i] < ' ' && !(first[i] >= '\t' && first[i] <= '\r'))
            return false;
    }
    next = skip_blanks(first, length, at + 1);
    if (next >= length)
        return true;
    return first[at] == '{' ? first[next] == '"' || first[next] == '}'
                            : strchr("{[\"]-0123456789tfn", first[next]) != NULL && first[next] != 0;
}

static bool begins_with(const uint8_t *first, size_t length, size_t at, const char *word)
{
    for (; *word; word++, at++) {
        if (at >= length || tolower(first[at]) != *word)
            return false;
    }
    return true;
}

static bool is_text(const uint8_t *first, size_t length)
{
    size_t at = 0;

    while (at < length) {
        uint32_t code;
        const size_t bytes = tm_utf8_next((const char *)first + at, length - at, &code);

        if (bytes == 0)
            return length - at < 4 && length >= TM_KIND_HEAD_BYTES; /* a character that the end of the head cuts */
        if ((code < ' ' && !(code >= '\t' && code <= '\r') && code != 0x1b) || code == 0x7f)
            return false;
        at += bytes;
    }
    return true;
}

/* ---- protobuf ----------------------------------------------------------------------------------------- */

enum {
    VARINT = 0,
    FIXED64 = 1,
    LEN = 2,
    FIXED32 = 5,
    TEXT = 8 /* LEN that holds text */,
    NUMBERS = 9 /* repeated: LEN, or VARINT where each is alone */
};

/* A field of a message: its wire type, and what is inside. */
struct field_shape {
    uint16_t number;
    uint8_t type;
    const struct shape *inside; /* NULL = not looked into */
};

struct shape {
    const struct field_shape *fields;
    size_t count;
};

#define SHAPE(name, ...)                                                                                               \
    static const struct field_shape name##_fields[] = { __VA_ARGS__ };                                                 \
    static const struct shape name = { name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]) }

SHAPE(x_stat, { 1, VARINT, NULL }, { 2, FIXED64, NULL }, { 3, VARINT, NULL }, { 4, VARINT, NULL }, { 5, LEN, NULL },
      { 6, LEN, NULL }, { 7, VARINT, NULL });

SHAPE(x_event, { 1, VARINT, NULL }, { 2, VARINT, NULL }, { 3, VARINT, NULL }, { 4, LEN, &x_stat }, { 5, VARINT, NULL });

SHAPE(x_line, { 1, VARINT, NULL }, { 2, LEN, NULL }, { 3, VARINT, NULL }, { 4, LEN, &x_event }, { 9, VARINT, NULL },
      { 10, VARINT, NULL }, { 11, LEN, NULL });

SHAPE(x_map_entry, { 1, VARINT, NULL }, { 2, LEN, NULL });

SHAPE(x_plane, { 1, VARINT, NULL }, { 2, LEN, NULL }, { 3, LEN, &x_line }, { 4, LEN, &x_map_entry },
      { 5, LEN, &x_map_entry }, { 6, LEN, &x_stat });

SHAPE(x_space, { 1, LEN, &x_plane }, { 2, TEXT, NULL }, { 3, TEXT, NULL }, { 4, TEXT, NULL });

SHAPE(perfetto_attribute, { 1, TEXT, NULL }, { 2, VARINT, NULL }, { 3, TEXT, NULL });

SHAPE(perfetto_attributes, { 1, LEN, &perfetto_attribute });

SHAPE(perfetto_packet, { 1, LEN, NULL }, { 2, LEN, NULL }, { 3, VARINT, NULL }, { 5, LEN, NULL }, { 6, LEN, NULL },
      { 7, LEN, NULL }, { 8, VARINT, NULL }, { 9, LEN, NULL }, { 10, VARINT, NULL }, { 11, LEN, NULL },
      { 12, LEN, NULL }, { 13, VARINT, NULL }, { 33, LEN, NULL }, { 35, LEN, NULL }, { 36, LEN, NULL },
      { 37, LEN, NULL }, { 38, LEN, NULL }, { 39, LEN, NULL }, { 41, VARINT, NULL }, { 42, VARINT, NULL },
      { 43, LEN, NULL }, { 44, LEN, NULL }, { 45, LEN, NULL }, { 46, LEN, NULL }, { 48, LEN, NULL }, { 50, LEN, NULL },
      { 52, LEN, NULL }, { 53, LEN, NULL }, { 54, LEN, NULL }, { 56, LEN, NULL }, { 58, VARINT, NULL },
      { 59, LEN, NULL }, { 60, LEN, NULL }, { 64, LEN, NULL }, { 67, LEN, NULL }, { 69, LEN, NULL }, { 73, LEN, NULL },
      { 75, LEN, NULL }, { 76, VARINT, NULL }, { 79, VARINT, NULL }, { 87, VARINT, NULL }, { 89, LEN, NULL },
      { 98, VARINT, NULL }, { 126, LEN, &perfetto_attributes }, { 133, LEN, NULL });

SHAPE(perfetto, { 1, LEN, &perfetto_packet });

SHAPE(pprof_type, { 1, VARINT, NULL }, { 2, VARINT, NULL });

SHAPE(pprof_label, { 1, VARINT, NULL }, { 2, VARINT, NULL }, { 3, VARINT, NULL }, { 4, VARINT, NULL });

SHAPE(pprof_sample, { 1, NUMBERS, NULL }, { 2, NUMBERS, NULL }, { 3, LEN, &pprof_label });

SHAPE(pprof_mapping, { 1, VARINT, NULL }, { 2, VARINT, NULL }, { 3, VARINT, NULL }, { 4, VARINT, NULL },
      { 5, VARINT, NULL }, { 6, VARINT, NULL }, { 7, VARINT, NULL }, { 8, VARINT, NULL }, { 9, VARINT, NULL },
      { 10, VARINT, NULL });

SHAPE(pprof_line, { 1, VARINT, NULL }, { 2, VARINT, NULL }, { 3, VARINT, NULL });

SHAPE(pprof_location, { 1, VARINT, NULL }, { 2, VARINT, NULL }, { 3, VARINT, NULL }, { 4, LEN, &pprof_line },
      { 5, VARINT, NULL });

SHAPE(pprof_function, { 1, VARINT, NULL }, { 2, VARINT, NULL }, { 3, VARINT, NULL }, { 4, VARINT, NULL },
      { 5, VARINT, NULL });

SHAPE(pprof, { 1, LEN, &pprof_type }, { 2, LEN, &pprof_sample }, { 3, LEN, &pprof_mapping },
      { 4, LEN, &pprof_location }, { 5, LEN, &pprof_function }, { 6, TEXT, NULL }, { 7, VARINT, NULL },
      { 8, VARINT, NULL }, { 9, VARINT, NULL }, { 10, VARINT, NULL }, { 11, LEN, &pprof_type }, { 12, VARINT, NULL },
      { 13, LEN, NULL }, { 14, VARINT, NULL });

SHAPE(hlo_instruction, { 1, TEXT, NULL }, { 2, TEXT, NULL }, { 3, LEN, NULL }, { 7, LEN, NULL }, { 8, LEN, NULL },
      { 9, VARINT, NULL }, { 35, VARINT, NULL }, { 36, LEN, NULL }, { 38, LEN, NULL });

SHAPE(hlo_computation, { 1, TEXT, NULL }, { 2, LEN, &hlo_instruction }, { 4, LEN, NULL }, { 5, VARINT, NULL },
      { 6, VARINT, NULL }, { 7, VARINT, NULL }, { 8, TEXT, NULL });

SHAPE(hlo_module, { 1, TEXT, NULL }, { 2, TEXT, NULL }, { 3, LEN, &hlo_computation }, { 4, LEN, NULL },
      { 5, VARINT, NULL }, { 6, VARINT, NULL }, { 7, LEN, NULL }, { 8, LEN, NULL }, { 9, LEN, NULL }, { 10, LEN, NULL },
      { 11, VARINT, NULL });

SHAPE(hlo_proto, { 1, LEN, &hlo_module }, { 3, LEN, NULL });

/* How well a shape explains the head. */
struct fit {
    size_t known;  /* fields that the shape has, of the right type */
    size_t doubts; /* fields that it lacks, text that is none */
    size_t wrong;  /* fields of another type, and the place where the structure is lost */
};

/* The bytes [at, end); cut = there may be more after the end. */
struct span {
    const uint8_t *at, *end;
    bool cut;
};

enum token { TOKEN_OK, TOKEN_END, TOKEN_BAD };

static enum token read_long_varint(struct span *s, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte;

        if (s->at == s->end)
            return s->cut ? TOKEN_END : TOKEN_BAD;
        byte = *s->at++;
        if (shift == 63 && byte > 1)
            return TOKEN_BAD;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return TOKEN_OK;
    }
    return TOKEN_BAD;
}

static inline enum token read_varint(struct span *s, uint64_t *value)
{
    if (s->at == s->end || *s->at & 0x80)
        return read_long_varint(s, value);
    *value = *s->at++;
    return TOKEN_OK;
}

/* A field's number and type, and its bytes where it is LEN; steps over it. */
static inline enum token read_field(struct span *s, uint64_t *number, unsigned *type, struct span *inside)
{
    uint64_t tag, length = 0;
    enum token token = read_varint(s, &tag);

    if (token != TOKEN_OK)
        return token;
    *number = tag >> 3;
    *type = tag & 7;
    if (*number == 0 || *number > 0x1fffffff)
        return TOKEN_BAD;
    if (*type == FIXED64 || *type == FIXED32)
        length = *type == FIXED64 ? 8 : 4;
    else if (*type != VARINT && *type != LEN)
        return TOKEN_BAD;
    else if ((token = read_varint(s, &length)) != TOKEN_OK)
        return token;
    *inside = (struct span){ .at = s->at, .end = s->at };
    if (*type == VARINT)
        return TOKEN_OK;
    if (length > (uint64_t)(s->end - s->at)) {
        if (!s->cut || length > INT64_MAX)
            return TOKEN_BAD;
        inside->cut = true;
        length = (uint64_t)(s->end - s->at);
    }
    s->at += length;
    inside->end = s->at;
    return TOKEN_OK;
}

static const struct field_shape *find_field(const struct shape *shape, uint64_t number)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (shape->fields[i].number == number)
            return &shape->fields[i];
    }
    return NULL;
}

static bool has_controls(const struct span *text)
{
    for (const uint8_t *at = text->at; at < text->end; at++) {
        if (*at < ' ' && !(*at >= '\t' && *at <= '\r'))
            return true;
    }
    return false;
}

static bool has_type(const struct field_shape *field, unsigned type)
{
    if (field->type == NUMBERS)
        return type == LEN || type == VARINT;
    return type == (field->type == TEXT ? LEN : field->type);
}

/* Walk a message as `shape`.  Up to the depth of the tables: space, plane, line, event, stat.
 * out: false if the structure is lost: the caller stops as well */
static bool walk(const struct shape *shape, struct span s, struct fit *fit)
{
    while (s.at < s.end) {
        const struct field_shape *field;
        struct span inside = { 0 };
        uint64_t number = 0;
        unsigned type = 0;
        const enum token token = read_field(&s, &number, &type, &inside);

        if (token == TOKEN_END)
            return true;
        if (token == TOKEN_BAD) {
            fit->wrong++;
            return false;
        }
        field = find_field(shape, number);
        if (!field) {
            fit->doubts++;
            continue;
        }
        if (!has_type(field, type)) {
            fit->wrong++;
            continue;
        }
        fit->known++;
        if (field->type == TEXT)
            fit->doubts += has_controls(&inside);
        if (field->inside && !walk(field->inside, inside, fit))
            return false;
    }
    return true;
}

/* One wrong field outweighs this many right ones: random bytes are read as right fields now and then. */
enum { WRONG_WEIGHT = 8, DOUBT_WEIGHT = 2, CLEAN_LEAST = 8 };

static int64_t score(const struct fit *fit)
{
    return (int64_t)fit->known - WRONG_WEIGHT * (int64_t)fit->wrong - DOUBT_WEIGHT * (int64_t)fit->doubts;
}

/* The name of a plane as written by every writer of XSpace, directly after its tag and length: identifies a damaged
 * file. */
static bool has_plane_name(const uint8_t *first, size_t length)
{
    static const char *const names[] = {
        "/host:CPU", "/host:metadata", "/host:", "/device:GPU:", "/device:TPU:", "/device:", "Task Environment",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t bytes = strlen(names[i]);
        const uint8_t *at = first;

        while ((at = memmem(at, (size_t)(first + length - at), names[i], bytes)) != NULL) {
            if (at - first >= 2 && at[-2] == 0x12)
                return true;
            at++;
        }
    }
    return false;
}

static enum tm_file_kind protobuf_kind(const uint8_t *first, size_t length)
{
    static const struct {
        const struct shape *shape;
        enum tm_file_kind kind;
    } candidates[] = {
        /* of equals, the first one */
        { &x_space, TM_FILE_XSPACE }, { &perfetto, TM_FILE_PERFETTO }, { &pprof, TM_FILE_PPROF },
        { &hlo_proto, TM_FILE_HLO },  { &hlo_module, TM_FILE_HLO },
    };
    const struct span all = { .at = first, .end = first + length, .cut = true };
    enum tm_file_kind kind = TM_FILE_UNKNOWN;
    bool clean = false;
    int64_t best = 0;

    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
        struct fit fit = { 0 };

        (void)walk(candidates[i].shape, all, &fit);
        if (score(&fit) > best) {
            best = score(&fit);
            clean = fit.wrong == 0 && best >= CLEAN_LEAST && candidates[i].kind != TM_FILE_HLO;
            kind = candidates[i].kind;
        }
    }
    /* a damaged XSpace may resemble something else, and a Perfetto trace may name a track like this */
    if (!clean && has_plane_name(first, length))
        return TM_FILE_XSPACE;
    return best < CLEAN_LEAST && is_text(first, length) ? TM_FILE_UNKNOWN : kind; /* "junk" has a field 13, too */
}

/* The first packet of a trace that this program wrote is an attribute of this name (perfetto_writer.c). */
static bool is_own_perfetto(const uint8_t *first, size_t length)
{
    static const char key[] = "tracemill.version";

    return memmem(first, length < 64 ? length : 64, key, sizeof(key) - 1) != NULL;
}

enum tm_file_kind tm_kind_by_magic(const uint8_t *first, size_t length)
{
    const enum tm_file_kind kind = by_magic(first, length);

    return kind == TM_FILE_UNKNOWN && is_old_tar(first, length) ? TM_FILE_TAR : kind;
}

enum tm_file_kind tm_kind_of(const uint8_t *first, size_t length)
{
    const size_t head = length < TM_KIND_HEAD_BYTES ? length : TM_KIND_HEAD_BYTES;
    const size_t begin = text_begin(first, head);
    enum tm_file_kind kind = tm_kind_by_magic(first, head); /* a checksum says more than how a protobuf may start */
    bool sure;

    if (kind == TM_FILE_SQLITE && is_nsight_database(first, head))
        return TM_FILE_NSIGHT_DATABASE;
    if (kind != TM_FILE_UNKNOWN)
        return kind;
    if (head == 0)
        return TM_FILE_EMPTY;
    if (is_bare_utf16(first, head))
        return TM_FILE_UTF16;
    if (is_json(first, head, begin))
        return json_kind(first, head, begin, &sure);
    if (begins_with(first, head, begin, "<!doctype html") || begins_with(first, head, begin, "<html"))
        return TM_FILE_HTML;
    kind = protobuf_kind(first, head);
    if (kind == TM_FILE_PERFETTO && is_own_perfetto(first, head))
        return TM_FILE_OWN_PERFETTO;
    if (kind != TM_FILE_UNKNOWN)
        return kind;
    if (is_tensorboard(first, head))
        return TM_FILE_TENSORBOARD;
    return is_text(first, head) ? TM_FILE_TEXT : TM_FILE_UNKNOWN;
}

/* Files of `convert` and `split` are marked before their events (chrome_json_writer.c). */
static bool is_own_json(const uint8_t *first, size_t length)
{
    return has_text(first, length < 256 ? length : 256, "\"tracemill.version\"");
}

bool tm_kind_is_trace(const uint8_t *first, size_t length, enum tm_file_kind *kind)
{
    const size_t head = length < TM_KIND_HEAD_BYTES ? length : TM_KIND_HEAD_BYTES;
    bool sure = false;

    *kind = tm_kind_of(first, length);
    if (*kind == TM_FILE_CHROME_JSON && !is_own_json(first, head))
        (void)json_kind(first, head, text_begin(first, head), &sure);
    return sure || (*kind == TM_FILE_XSPACE && has_plane_name(first, head));
}

/* Detects from the first bytes whether a file is a trace.  Wrapped data is unwrapped in memory. */

struct first_bytes {
    uint8_t *at;
    size_t length, taken;
};

static tm_status take_bytes(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    struct first_bytes *const b = raw->own;
    const size_t left = b->length - b->taken;

    *got = left < bytes ? left : bytes;
    memcpy(to, b->at + b->taken, *got);
    b->taken += *got;
    return TM_OK;
}

static const struct tm_raw_type raw_memory = { .read = take_bytes };

static void tell(const uint8_t *head, size_t length, enum tm_sniffed *sniffed)
{
    enum tm_file_kind kind;

    if (tm_kind_is_trace(head, length, &kind))
        *sniffed = kind == TM_FILE_XSPACE ? TM_SNIFFED_XSPACE : TM_SNIFFED_TRACE_JSON;
}

static tm_status tell_wrapped(struct tm_run *run, struct first_bytes *b, enum tm_sniffed *sniffed)
{
    const struct tm_raw_bytes raw = { .type = &raw_memory, .run = run, .name = "the first bytes", .fd = -1, .own = b };
    struct tm_unwrap *unwrap;
    const uint8_t *head;
    size_t length;

    if (tm_unzstd_window(b->at, b->length) > tm_unzstd_window_most(&run->budget))
        return tm_fail(&run->error, TM_ERR_INPUT, -1,
                       "the zstd data needs a larger window than the memory limit "
                       "allows");
    unwrap = tm_unwrap_new(&raw, TM_INFLATE_DEFAULT, 0);
    if (!unwrap)
        return run->error.status;
    head = tm_unwrap_head(unwrap, &length);
    tell(head, length, sniffed);
    tm_unwrap_free(unwrap);
    return TM_OK;
}

tm_status tm_sniff(struct tm_run *run, tm_read_some *read, void *from, enum tm_sniffed *sniffed)
{
    struct first_bytes b = { .at = tm_take(&run->budget, TM_ACCOUNT_INPUT, TM_RAW_BLOCK_BYTES, &run->error) };
    enum tm_file_kind kind;
    size_t more = 0;
    tm_status st;

    *sniffed = TM_SNIFFED_OTHER;
    if (!b.at)
        return run->error.status;
    st = read(from, b.at, TM_KIND_HEAD_BYTES, &b.length);
    kind = st == TM_OK ? tm_kind_of(b.at, b.length) : TM_FILE_UNKNOWN;
    if (kind == TM_FILE_GZIP || kind == TM_FILE_ZSTD) {
        if (b.length == TM_KIND_HEAD_BYTES)
            st = read(from, b.at + b.length, TM_RAW_BLOCK_BYTES - b.length, &more);
        b.length += more;
        if (st == TM_OK)
            st = tell_wrapped(run, &b, sniffed);
    } else if (st == TM_OK) {
        tell(b.at, b.length, sniffed);
    }
    tm_give(&run->budget, TM_ACCOUNT_INPUT, b.at, TM_RAW_BLOCK_BYTES);
    return st;
}

struct file {
    struct tm_run *run;
    const char *path;
    int fd;
};

static tm_status read_file(void *from, uint8_t *to, size_t bytes, size_t *got)
{
    const struct file *const file = from;
    const int problem = tm_read_on(file->fd, to, bytes, got);

    return !problem ? TM_OK
                    : tm_fail_system(&file->run->error, TM_ERR_INPUT, -1, problem, "cannot read '%s'", file->path);
}

tm_status tm_sniff_file(struct tm_run *run, const char *path, enum tm_sniffed *sniffed)
{
    struct file file = { .run = run, .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
    tm_status st;

    if (file.fd < 0)
        return tm_fail_system(&run->error, TM_ERR_INPUT, -1, errno, "cannot open '%s'", path);
    st = tm_sniff(run, read_file, &file, sniffed);
    (void)close(file.fd); /* it was only read */
    return st;
}

/* ---- archives ------------------------------------------------------------------------------------------ */

static tm_status refuse_head(struct tm_run *run, const char *path, const char *act, int problem)
{
    if (problem == EACCES || problem == EPERM)
        tm_hint(&run->error, "check the file's permissions with 'ls -l'");
    return tm_fail_system(&run->error, TM_ERR_INPUT, -1, problem, "cannot %s '%s'", act, path);
}

/* The start of a regular file; empty for anything else, or if it does not exist: the code that reads it reports
 * that. */
static tm_status read_head(struct tm_run *run, const char *path, uint8_t *head, size_t *got)
{
    struct stat info;
    int fd, problem;

    *got = 0;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? TM_OK : refuse_head(run, path, "open", errno);
    if (!S_ISREG(info.st_mode))
        return TM_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse_head(run, path, "open", errno);
    problem = tm_read_at(fd, head, TM_KIND_MAGIC_BYTES, 0, got);
    (void)close(fd); /* it was only read */
    return problem ? refuse_head(run, path, "read", problem) : TM_OK;
}

tm_status tm_kind_is_archive(struct tm_run *run, const char *path, bool *is_archive)
{
    uint8_t head[TM_KIND_MAGIC_BYTES];
    enum tm_file_kind kind;
    size_t got;
    tm_status st = read_head(run, path, head, &got);

    *is_archive = false;
    if (st != TM_OK)
        return st;
    kind = tm_kind_by_magic(head, got);
    if (kind == TM_FILE_GZIP || kind == TM_FILE_ZSTD)
        st = tm_archive_is_wrapped_tar(run, path, is_archive);
    else
        *is_archive = kind == TM_FILE_TAR || kind == TM_FILE_ZIP;
    return st;
}
