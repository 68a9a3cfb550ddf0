/* SPDX-License-Identifier: Apache-2.0 */
/* The tree lies in one table: node 0 is the message, children are chains.  What comes new into it is a copy, so that
 * it stays a tree whatever is spliced where.  What cannot be read at the end of the message stays as it is.
 * source: protobuf's encoding (https://protobuf.dev/programming-guides/encoding/) */
#include "tests/support/mutate_protobuf.h"

#include <stdbool.h>

MUTATE_UNWATCHED_BEGIN

enum { NODES_MOST = 8192, DEEPEST = 24, CHANGES_MOST = 4, WRAPS_MOST = 80, COPIES_MOST = 300, VARINT_MOST = 10 };
enum wire { VARINT, FIXED64, LENGTH, GROUP, GROUP_END, FIXED32, WIRES = 8 };

struct node {
    uint64_t tag;      /* number << 3 | wire */
    uint64_t value;    /* of a number */
    const uint8_t *at; /* of what is no message: its bytes */
    size_t length;
    uint64_t told;        /* the length that is written, of one that lies */
    size_t content_bytes; /* as it will be written, without tag and length */
    uint32_t first, next; /* children and siblings; 0 = none */
    uint8_t padding;      /* bytes more than its number, or its length, needs */
    bool is_message, is_raw, lies, is_dropped;
};

struct tree {
    struct node nodes[NODES_MOST];
    uint32_t count;
    struct mutate_dice dice;
    mutate_bytes_fn *bytes;
    uint8_t texts[MUTATE_MOST]; /* made for this change */
    size_t text_bytes;
    uint8_t out[MUTATE_MOST];
    size_t out_bytes, most;
    bool is_full;
};

static struct tree tree; /* too large for a stack */

/* --- reading --- */

struct view {
    const uint8_t *at, *end;
};

static bool read_varint(struct view *view, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && view->at < view->end; shift += 7) {
        const uint8_t byte = *view->at++;

        if (shift < 64)
            *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_fixed(struct view *view, uint64_t *value, size_t bytes)
{
    if ((size_t)(view->end - view->at) < bytes)
        return false;
    *value = 0;
    for (size_t i = 0; i < bytes; i++)
        *value |= (uint64_t)view->at[i] << (8 * i);
    view->at += bytes;
    return true;
}

static uint32_t new_node(void)
{
    if (tree.count == NODES_MOST)
        return 0;
    tree.nodes[tree.count] = (struct node){ .tag = 0 };
    return tree.count++;
}

static bool is_text(const uint8_t *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (at[i] < 0x20 || at[i] == 0x7f)
            return false;
    return true;
}

static bool read_fields(uint32_t parent, struct view view, int depth, bool keeps_rest);

static bool read_length(struct node *node, uint32_t index, struct view *view, int depth)
{
    uint64_t length;

    if (!read_varint(view, &length) || length > (uint64_t)(view->end - view->at))
        return false;
    node->at = view->at;
    node->length = (size_t)length;
    view->at += length;
    if (length && depth < DEEPEST && !is_text(node->at, node->length)) {
        const uint32_t before = tree.count;

        node->is_message = read_fields(index, (struct view){ node->at, view->at }, depth + 1, false);
        if (!node->is_message) {
            node->first = 0;
            tree.count = before;
        }
    }
    return true;
}

static bool read_value(uint32_t index, struct view *view, int depth)
{
    struct node *const node = &tree.nodes[index];

    switch (node->tag & 7) {
    case VARINT:
        return read_varint(view, &node->value);
    case FIXED64:
        return read_fixed(view, &node->value, 8);
    case FIXED32:
        return read_fixed(view, &node->value, 4);
    case LENGTH:
        return read_length(node, index, view, depth);
    default:
        return false; /* groups stay with the rest */
    }
}

/* Children of a node.  False where something is no field: of the outermost message the rest becomes a node. */
static bool read_fields(uint32_t parent, struct view view, int depth, bool keeps_rest)
{
    uint32_t last = 0;

    while (view.at < view.end) {
        const struct view begin = view;
        const uint32_t index = new_node();
        bool is_read;

        if (!index)
            return false;
        is_read = read_varint(&view, &tree.nodes[index].tag) && tree.nodes[index].tag >= 8 &&
                  tree.nodes[index].tag >> 3 <= 0x1fffffff && read_value(index, &view, depth);
        if (!is_read && !keeps_rest)
            return false;
        if (!is_read) {
            tree.nodes[index] =
                (struct node){ .is_raw = true, .at = begin.at, .length = (size_t)(begin.end - begin.at) };
            view.at = view.end;
        }
        *(last ? &tree.nodes[last].next : &tree.nodes[parent].first) = index;
        last = index;
    }
    return true;
}

static uint32_t read_message(const uint8_t *data, size_t size)
{
    const uint32_t root = tree.count++;

    tree.nodes[root] = (struct node){ .tag = LENGTH, .is_message = true };
    return read_fields(root, (struct view){ data, data + size }, 0, true) ? root : UINT32_MAX;
}

/* --- writing --- */

static void put_byte(uint8_t byte)
{
    if (tree.out_bytes < tree.most)
        tree.out[tree.out_bytes++] = byte;
    else
        tree.is_full = true;
}

static size_t varint_bytes(uint64_t value)
{
    size_t bytes = 1;

    for (; value >= 0x80; value >>= 7)
        bytes++;
    return bytes;
}

static size_t padded_bytes(uint64_t value, uint8_t padding)
{
    return varint_bytes(value) + padding;
}

static void put_varint(uint64_t value, uint8_t padding)
{
    for (size_t left = padded_bytes(value, padding); left > 1; left--, value >>= 7)
        put_byte((uint8_t)(value | 0x80));
    put_byte((uint8_t)(value & 0x7f));
}

static void put_bytes(const uint8_t *at, size_t length)
{
    if (length > tree.most - tree.out_bytes) {
        tree.is_full = true;
        return;
    }
    if (length)
        memcpy(tree.out + tree.out_bytes, at, length);
    tree.out_bytes += length;
}

static uint64_t told_length(const struct node *node)
{
    return node->lies ? node->told : node->content_bytes;
}

static size_t whole_bytes(const struct node *node)
{
    const size_t tag = varint_bytes(node->tag);

    if (node->is_raw)
        return node->content_bytes;
    switch (node->tag & 7) {
    case VARINT:
        return tag + padded_bytes(node->value, node->padding);
    case FIXED64:
        return tag + 8;
    case FIXED32:
        return tag + 4;
    case LENGTH:
        return tag + padded_bytes(told_length(node), node->padding) + node->content_bytes;
    case GROUP:
        return 2 * tag + node->content_bytes;
    default:
        return tag;
    }
}

static void measure(uint32_t index)
{
    struct node *const node = &tree.nodes[index];

    node->content_bytes = node->is_message ? 0 : node->length;
    for (uint32_t i = node->is_message ? node->first : 0; i; i = tree.nodes[i].next) {
        if (tree.nodes[i].is_dropped)
            continue;
        measure(i);
        node->content_bytes += whole_bytes(&tree.nodes[i]);
    }
}

static void put_node(uint32_t index);

static void put_content(const struct node *node)
{
    if (!node->is_message)
        put_bytes(node->at, node->length);
    for (uint32_t i = node->is_message ? node->first : 0; i && !tree.is_full; i = tree.nodes[i].next)
        if (!tree.nodes[i].is_dropped)
            put_node(i);
}

static void put_fixed(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        put_byte((uint8_t)(value >> (8 * i)));
}

static void put_node(uint32_t index)
{
    const struct node *const node = &tree.nodes[index];

    if (!node->is_raw)
        put_varint(node->tag, 0);
    switch (node->is_raw ? (unsigned)WIRES : (unsigned)(node->tag & 7)) {
    case VARINT:
        put_varint(node->value, node->padding);
        break;
    case FIXED64:
        put_fixed(node->value, 8);
        break;
    case FIXED32:
        put_fixed(node->value, 4);
        break;
    case LENGTH:
        put_varint(told_length(node), node->padding);
        put_content(node);
        break;
    case GROUP:
        put_content(node);
        put_varint(node->tag + 1, 0);
        break;
    case WIRES:
        put_content(node);
        break;
    default:
        break;
    }
}

/* out: bytes in tree.out; 0 = they do not fit */
static size_t write_message(uint32_t root, size_t most)
{
    tree.out_bytes = 0;
    tree.most = most < MUTATE_MOST ? most : MUTATE_MOST;
    tree.is_full = false;
    measure(root);
    put_content(&tree.nodes[root]);
    return tree.is_full ? 0 : tree.out_bytes;
}

/* --- changes --- */

/* clang-format off */
static const uint64_t numbers[] = {
    0, 1, 2, 3, 7, 100, 127, 128, 255, 256, 999, 1000, 65535, 65536, 1000000, 999999999, 0x7fffffff, 0x80000000, 0xffffffff,
    0x100000000, 1000000000000, (UINT64_C(1) << 53) - 1, (UINT64_C(1) << 53) + 1, 1767225600000000000, INT64_MAX / 1000,
    INT64_MAX / 1000 + 1, INT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX,
    UINT64_MAX - 999, UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000001),
    UINT64_C(0xfff0000000000000), UINT64_C(0x7fefffffffffffff), UINT64_C(0x8000000000000001),
};
/* clang-format on */

/* What the program looks for in names of planes, lines, events and stats, and what is no text. */
/* clang-format off */
static const char *const words[] = {
    "", "/host:CPU", "/host:metadata", "/device:GPU:0", "/device:GPU:1", "/device:GPU:4294967296", "/device:TPU:0",
    "/device:TPU:1 SparseCore 0", "/device:CUSTOM:0", "Task Environment", "XLA Ops", "XLA Modules", "Steps", "Async XLA Ops",
    "XLA TraceMe", "Framework Ops", "Source code", "Stream #13(Compute)", "Stream #14(MemcpyD2H)", "python", "Host Threads/6",
    "tf_XLAEigen/1", "tf_XLATfrtCpuClient", "TfrtGpuClient", "tpu_driver", "train", "PjitFunction(f)", "cuLaunchKernel",
    "hipLaunchKernel", "cudaMemcpyAsync", "MemcpyD2H", "MemcpyH2D", "MemcpyP2P", "Memset", "backend_compile",
    "BlockHostUntilReady", "DoEnqueueProgram", "ThunkExecutor::Execute", "jit_step(9)", "$model.py:3 step", "fusion.1",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "%all-reduce.2 = f32[8]{0} all-reduce(f32[8]{0} %a)",
    "%ar-start = f32[8]{0} all-reduce-start(f32[8]{0} %a)", "%ar-done = f32[8]{0} all-reduce-done(f32[8]{0} %ar-start)",
    "%w = (s32[]) while((s32[]) %t), condition=%c, body=%b", "%copy = f32[99999999999]{0} copy(f32[1]{0} %x)",
    "kind_src:device kind_dst:pinned size:64 dest:0 async:1", "kind_src:device kind_dst:device size:18446744073709551615",
    "regs:32 static_shared:0 dynamic_shared:0 grid:8,2,1 block:256,1,1 occ_pct:50", "regs:-1 grid:4294967296,0 block: occ_pct:1e999",
    "correlation_id", "step_num", "_r", "_p", "_c", "_pt", "_ct", "group_id", "hlo_op", "hlo_module", "hlo_category", "hlo_proto",
    "Hlo Proto", "program_id", "run_id", "device_ordinal", "queue_id", "kernel_details", "memcpy_details", "memset_details",
    "memalloc_details", "theoretical_occupancy_pct", "occupancy_min_grid_size", "tf_op", "source", "source_stack", "flops",
    "model_flops", "bytes_accessed", "raw_bytes_accessed", "memory_access_breakdown", "bytes_transferred", "shape_with_layout",
    "device_offset_ps", "device_duration_ps", "peak_teraflops_per_second", "peak_hbm_bw_gigabytes_per_second", "clock_rate",
    "core_count", "memory_size", "compute_cap_major", "device_vendor", "device_type_string", "has_megacore", "occ_pct",
    "profile_start_time", "profile_stop_time", "bytes_in_use", "bytes_reserved", "fragmentation", "peak_bytes_in_use", "address",
    "tf_data", "context_id", "consumer_id", "producer_id", "is_eager", "long_name", "deduplicated_name", "self_duration_ps",
    "0", "-1", "18446744073709551616", "1e400", "nan", "-", "%", "a/b/c/d", "\xff\xfe", "\xed\xa0\x80", "\xf0\x9f\x98\x80",
    "x\ny", "\t", "<script>", "=1+1", "../../x",
};
/* clang-format on */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static size_t below(size_t most)
{
    return mutate_below(&tree.dice, most);
}

/* Any node but the message itself; 0 = there is none. */
static uint32_t any_node(void)
{
    for (int tries = 0; tries < 8 && tree.count > 1; tries++) {
        const uint32_t i = 1 + (uint32_t)below(tree.count - 1);

        if (!tree.nodes[i].is_dropped && tree.nodes[i].tag)
            return i;
    }
    return 0;
}

static bool is_number(const struct node *node)
{
    return (node->tag & 7) == VARINT || (node->tag & 7) == FIXED64 || (node->tag & 7) == FIXED32;
}

static uint64_t new_number(uint64_t old)
{
    const struct node *const other = &tree.nodes[any_node()];

    switch (below(8)) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    case 2:
        return old ^ UINT64_C(1) << below(64);
    case 3:
        return mutate_bits(&tree.dice) >> below(64);
    case 4:
        return old * 1000 + below(3) - 1;
    case 5:
        return is_number(other) ? other->value : 0; /* another's id, or time */
    default:
        return numbers[below(COUNT(numbers))];
    }
}

/* A copy of a node and what is inside it; 0 = no room. */
static uint32_t copy_node(uint32_t from)
{
    const uint32_t to = new_node();
    uint32_t last = 0;

    if (!to)
        return 0;
    tree.nodes[to] = tree.nodes[from];
    tree.nodes[to].first = tree.nodes[to].next = 0;
    for (uint32_t i = tree.nodes[from].first; i; i = tree.nodes[i].next) {
        const uint32_t child = copy_node(i);

        if (!child)
            return 0;
        *(last ? &tree.nodes[last].next : &tree.nodes[to].first) = child;
        last = child;
    }
    return to;
}

static void put_behind(uint32_t node, uint32_t added)
{
    if (!added)
        return;
    tree.nodes[added].next = tree.nodes[node].next;
    tree.nodes[node].next = added;
}

static void put_inside(uint32_t node, uint32_t added)
{
    if (!added)
        return;
    tree.nodes[added].next = tree.nodes[node].first;
    tree.nodes[node].first = added;
}

static uint8_t *room_for(size_t bytes)
{
    uint8_t *const at = tree.texts + tree.text_bytes;

    if (bytes > sizeof(tree.texts) - tree.text_bytes)
        return NULL;
    tree.text_bytes += bytes;
    return at;
}

static void set_bytes(struct node *node, const void *at, size_t length)
{
    node->at = at;
    node->length = length;
    node->is_message = false;
}

static void set_word(struct node *node)
{
    const char *const word = words[below(COUNT(words))];

    set_bytes(node, word, strlen(word));
}

/* The bytes of a text, changed by who knows nothing of them, or many of them. */
static void change_bytes(struct node *node)
{
    enum { ROOM = 512 };
    const size_t length = node->is_message ? 0 : node->length < ROOM / 2 ? node->length : ROOM / 2;
    uint8_t *const at = room_for(ROOM);

    if (!at)
        return;
    if (length)
        memcpy(at, node->at, length);
    if (tree.bytes && below(4)) {
        set_bytes(node, at, tree.bytes(at, length, ROOM));
    } else {
        memset(at, "a\xc3 0\\/"[below(6)], ROOM);
        set_bytes(node, at, below(ROOM));
    }
}

static void change_text(struct node *node)
{
    const struct node *const other = &tree.nodes[any_node()];

    if (below(4) == 0)
        change_bytes(node);
    else if (below(3) == 0 && (other->tag & 7) == LENGTH && !other->is_message)
        set_bytes(node, other->at, other->length);
    else
        set_word(node);
}

static void change_value(struct node *node)
{
    if (is_number(node))
        node->value = new_number(node->value);
    else if (!node->is_message)
        change_text(node);
}

static void change_tag(struct node *node)
{
    static const uint32_t odd[] = { 0, 15, 16, 18999, 0x1fffffff, 0x20000000 };
    const uint64_t number = below(8) ? 1 + below(12) : odd[below(COUNT(odd))];

    node->tag = number << 3 | (node->tag & 7);
}

static void change_wire(struct node *node)
{
    node->tag = (node->tag & ~UINT64_C(7)) | below(WIRES);
    if (below(2))
        node->value = new_number(node->value);
}

static void lie(struct node *node)
{
    node->lies = true;
    node->told = below(2) ? node->length + below(5) - 2 : new_number(node->length);
}

static void repeat(uint32_t index)
{
    for (size_t n = mutate_few(&tree.dice, COPIES_MOST); n > 0; n--)
        put_behind(index, copy_node(index));
}

/* Two that follow each other change places. */
static void swap(struct node *node)
{
    struct node *const next = &tree.nodes[node->next];
    const struct node before = *node;

    if (!node->next)
        return;
    *node = *next;
    *next = before;
    next->next = node->next;
    node->next = before.next;
}

static void splice(uint32_t index)
{
    const uint32_t from = any_node(), added = from ? copy_node(from) : 0;

    if (added && below(2))
        tree.nodes[added].tag = tree.nodes[index].tag; /* in the place of its like */
    if (tree.nodes[index].is_message && below(2))
        put_inside(index, added);
    else
        put_behind(index, added);
    if (below(2))
        tree.nodes[index].is_dropped = true;
}

static void insert(uint32_t index)
{
    const uint32_t added = new_node();
    struct node *const node = &tree.nodes[added];

    if (!added)
        return;
    node->tag = (1 + below(12)) << 3 | below(6);
    node->value = new_number(0);
    set_word(node);
    if (tree.nodes[index].is_message && below(2))
        put_inside(index, added);
    else
        put_behind(index, added);
}

/* A message around it, and around that. */
static void wrap(uint32_t index)
{
    for (size_t n = mutate_few(&tree.dice, WRAPS_MOST); n > 0; n--) {
        const uint32_t inside = new_node();
        struct node *const node = &tree.nodes[index];

        if (!inside)
            return;
        tree.nodes[inside] = *node;
        tree.nodes[inside].next = 0;
        *node = (struct node){
            .tag = (node->tag & ~UINT64_C(7)) | LENGTH, .first = inside, .next = node->next, .is_message = true
        };
    }
}

static void change(void)
{
    const uint32_t index = any_node();
    struct node *const node = &tree.nodes[index];

    if (!index)
        return;
    switch (below(20)) {
    case 0:
        change_tag(node);
        break;
    case 1:
        change_wire(node);
        break;
    case 2:
        lie(node);
        break;
    case 3:
    case 4:
        repeat(index);
        break;
    case 5:
    case 6:
        node->is_dropped = true;
        break;
    case 7:
        swap(node);
        break;
    case 8:
    case 9:
        splice(index);
        break;
    case 10:
        insert(index);
        break;
    case 11:
        wrap(index);
        break;
    case 12:
        node->padding = (uint8_t)below(VARINT_MOST + 1);
        break;
    default:
        change_value(node);
        break;
    }
}

static void begin(unsigned seed, mutate_bytes_fn *bytes)
{
    tree.count = 0;
    tree.text_bytes = 0;
    tree.dice.state = seed;
    tree.bytes = bytes;
}

size_t mutate_protobuf(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes)
{
    size_t length;

    begin(seed, bytes);
    if (read_message(data, size) != 0)
        return 0;
    for (size_t n = 1 + below(CHANGES_MOST); n > 0; n--)
        change();
    length = write_message(0, most);
    if (length)
        memcpy(data, tree.out, length);
    return length;
}

size_t mutate_protobuf_cross(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                             size_t most, unsigned seed)
{
    uint32_t end;
    size_t length;

    begin(seed, NULL);
    if (read_message(a, a_size) != 0)
        return 0;
    end = tree.count;
    if (end < 2 || end == NODES_MOST || read_message(b, b_size) == UINT32_MAX || tree.count < end + 2)
        return 0;
    for (size_t n = 1 + below(CHANGES_MOST); n > 0; n--) {
        const uint32_t from = end + 1 + (uint32_t)below(tree.count - end - 1), to = 1 + (uint32_t)below(end - 1);
        const uint32_t added = copy_node(from);

        if (tree.nodes[to].is_message && below(2))
            put_inside(to, added);
        else
            put_behind(to, added);
        if (below(3) == 0)
            tree.nodes[to].is_dropped = true;
    }
    length = write_message(0, most);
    if (length)
        memcpy(out, tree.out, length);
    return length;
}

MUTATE_UNWATCHED_END
