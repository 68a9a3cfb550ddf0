/* SPDX-License-Identifier: Apache-2.0 */
/* Multiprocessors of NVIDIA GPUs by compute capability, and the occupancy that a launch has on them.
 * source: CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability";
 * the units of allocation are those of the occupancy calculator (cuda_occupancy.h): registers by 256 of a warp,
 * warps by four, shared memory by 256 bytes before 8.0 and by 128 after, with 1 KiB of each block reserved from 8.0.
 * GPUs of AMD have no table: ROCm records no occupancy to hold a calculation against. */
#include "stages/figures/sm_limits.h"

#include <stddef.h>

enum { WARP = 32, REGISTER_UNIT = 256, WARP_UNIT = 4, KIB = 1024 };

const char *const tm_limiter_name[TM_LIMITER_COUNT] = {
    [TM_LIMITER_REGISTERS] = "registers",
    [TM_LIMITER_SHARED_MEMORY] = "shared_memory",
    [TM_LIMITER_BLOCK_SIZE] = "block_size",
    [TM_LIMITER_GRID] = "grid",
    [TM_LIMITER_NONE] = "none",
    [TM_LIMITER_UNKNOWN] = "unknown",
};

/* clang-format off */
static const struct {
    uint32_t major, minor;
    struct tm_sm_limits limits;
} table[] = {
    /*           threads blocks registers  shared      reserved unit */
    { 3, 0,    { 2048,   16,    65536,      48 * KIB,  0,       256 } },
    { 3, 5,    { 2048,   16,    65536,      48 * KIB,  0,       256 } },
    { 3, 7,    { 2048,   16,    131072,    112 * KIB,  0,       256 } },
    { 5, 0,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 5, 2,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 5, 3,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 6, 0,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 6, 1,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 6, 2,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 7, 0,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 7, 2,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 7, 5,    { 1024,   16,    65536,      64 * KIB,  0,       256 } },
    { 8, 0,    { 2048,   32,    65536,     164 * KIB,  KIB,     128 } },
    { 8, 6,    { 1536,   16,    65536,     100 * KIB,  KIB,     128 } },
    { 8, 7,    { 1536,   16,    65536,     164 * KIB,  KIB,     128 } },
    { 8, 9,    { 1536,   24,    65536,     100 * KIB,  KIB,     128 } },
    { 9, 0,    { 2048,   32,    65536,     228 * KIB,  KIB,     128 } },
    { 10, 0,   { 2048,   32,    65536,     228 * KIB,  KIB,     128 } },
    { 10, 3,   { 2048,   32,    65536,     228 * KIB,  KIB,     128 } },
    { 12, 0,   { 1536,   24,    65536,     100 * KIB,  KIB,     128 } },
    { 12, 1,   { 1536,   24,    65536,     100 * KIB,  KIB,     128 } },
};
/* clang-format on */

/* The limits of a compute capability.  out: false where the table does not have it */
static bool sm_limits_of(uint32_t major, uint32_t minor, struct tm_sm_limits *limits)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].major == major && table[i].minor == minor) {
            *limits = table[i].limits;
            return true;
        }
    }
    return false;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Blocks that fit by what they need of one thing. */
struct fit {
    uint32_t blocks;
    enum tm_occupancy_limiter limiter;
};

static struct fit fit_registers(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm, uint32_t warps)
{
    struct fit fit = { UINT32_MAX, TM_LIMITER_REGISTERS };

    if (shape->registers && shape->registers <= sm->registers / WARP) {
        const uint32_t of_warp = (uint32_t)round_up((uint64_t)shape->registers * WARP, REGISTER_UNIT);

        fit.blocks = sm->registers / of_warp / WARP_UNIT * WARP_UNIT / warps;
    }
    return fit;
}

static struct fit fit_shared(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm)
{
    struct fit fit = { UINT32_MAX, TM_LIMITER_SHARED_MEMORY };

    if (shape->shared_bytes <= sm->shared_bytes) {
        const uint64_t of_block = round_up(shape->shared_bytes + sm->shared_reserved_bytes, sm->shared_unit_bytes);

        if (of_block)
            fit.blocks = (uint32_t)(sm->shared_bytes / of_block);
    }
    return fit;
}

static struct fit fit_threads(const struct tm_sm_limits *sm, uint32_t warps)
{
    const uint32_t blocks = sm->threads / WARP / warps;

    return (struct fit){ blocks < sm->blocks ? blocks : sm->blocks, TM_LIMITER_BLOCK_SIZE };
}

/* Recorded and worked out are the same: to a tenth of a percent, or a whole one where percents were written whole. */
static bool agrees(uint32_t recorded_milli, uint64_t milli)
{
    const uint64_t apart = recorded_milli > milli ? recorded_milli - milli : milli - recorded_milli;

    return apart <= (recorded_milli % 1000 ? 100 : 1000);
}

/* Occupancy of so many blocks at once, in 1000ths of a block. */
static uint64_t milli_of(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm, uint64_t blocks_milli)
{
    return blocks_milli * shape->threads * 100 / sm->threads;
}

/* PyTorch counts no more blocks than the grid has for each multiprocessor. */
static bool is_grid(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm, uint32_t resident)
{
    uint64_t blocks_milli;

    if (!shape->multiprocessors || __builtin_mul_overflow(shape->blocks, (uint64_t)1000, &blocks_milli))
        return false;
    blocks_milli /= shape->multiprocessors;
    return blocks_milli < (uint64_t)resident * 1000 && agrees(shape->recorded_milli, milli_of(shape, sm, blocks_milli));
}

/* By what a block needs, whatever the grid has; resident 0 = it cannot be told. */
static struct tm_occupancy resident_of(const struct tm_launch_shape *shape, struct tm_sm_limits *sm)
{
    const uint32_t warps = (shape->threads + WARP - 1) / WARP;
    const struct tm_occupancy unknown = { TM_LIMITER_UNKNOWN, 0 };
    struct tm_occupancy answer = { TM_LIMITER_UNKNOWN, UINT32_MAX };
    struct fit fits[3];

    if (!shape->threads || shape->threads > 1024 || !sm_limits_of(shape->major, shape->minor, sm))
        return unknown;
    fits[0] = fit_registers(shape, sm, warps);
    fits[1] = fit_shared(shape, sm);
    fits[2] = fit_threads(sm, warps);
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        if (fits[i].blocks < answer.resident)
            answer = (struct tm_occupancy){ fits[i].limiter, fits[i].blocks };
    }
    return answer.resident ? answer : unknown;
}

struct tm_occupancy tm_occupancy_of(const struct tm_launch_shape *shape)
{
    const uint32_t warps = (shape->threads + WARP - 1) / WARP;
    const struct tm_occupancy unknown = { TM_LIMITER_UNKNOWN, 0 };
    struct tm_sm_limits sm;
    struct tm_occupancy answer = resident_of(shape, &sm);

    if (!shape->recorded_milli || !answer.resident)
        return unknown;
    if (agrees(shape->recorded_milli, milli_of(shape, &sm, (uint64_t)answer.resident * 1000))) {
        if ((uint64_t)answer.resident * warps * WARP >= sm.threads)
            answer.limiter = TM_LIMITER_NONE;
        return answer;
    }
    if (!is_grid(shape, &sm, answer.resident))
        return unknown;
    answer.limiter = TM_LIMITER_GRID;
    return answer;
}

/* --- what a profile records --- */

enum { ONE_PCT_MILLI = 1000, FULL_MILLI = 100000 };

/* All in one; UINT64_MAX = too many. */
static uint64_t product(const uint32_t size[3])
{
    uint64_t all = 1;

    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(all, (uint64_t)(size[i] ? size[i] : 1), &all))
            return UINT64_MAX;
    return all;
}

struct tm_launch_shape tm_launch_shape_of(const uint32_t grid[3], const uint32_t block[3])
{
    const uint64_t threads = block[0] ? product(block) : 0;

    return (struct tm_launch_shape){ .blocks = grid[0] ? product(grid) : 0,
                                     .threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX };
}

/* The occupancy that all warps of the grid together make up, if they are spread evenly; over FULL_MILLI for many. */
static uint64_t milli_of_grid(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm)
{
    const unsigned __int128 threads = (unsigned __int128)shape->blocks * shape->threads;
    const unsigned __int128 room = (unsigned __int128)shape->multiprocessors * sm->threads;
    const unsigned __int128 milli = (threads * FULL_MILLI + room / 2) / room;

    return milli > UINT32_MAX ? UINT32_MAX : (uint64_t)milli;
}

/* in: grid_milli  one percent or more: what no block fits for has another reason than rounding */
static bool settle_none_fits(const struct tm_launch_shape *shape, uint64_t grid_milli, uint32_t *milli)
{
    struct tm_sm_limits sm;
    const struct tm_occupancy fits = resident_of(shape, &sm);
    uint64_t of_blocks;

    if (!fits.resident || !shape->registers)
        return false;
    of_blocks = (uint64_t)fits.resident * shape->threads * FULL_MILLI / sm.threads;
    *milli = (uint32_t)(of_blocks < grid_milli ? of_blocks : grid_milli);
    return true;
}

bool tm_recorded_occupancy(const struct tm_config *config, const struct tm_device *device, uint32_t *milli)
{
    struct tm_launch_shape shape = tm_launch_shape_of(config->grid, config->block);
    struct tm_sm_limits sm;
    uint64_t grid_milli;

    *milli = config->occupancy_milli;
    if (!config->has_achieved)
        return config->occupancy_milli != 0;
    if (!shape.blocks || !shape.threads || shape.threads > 1024 || !device->core_count ||
        !sm_limits_of(device->capability_major, device->capability_minor, &sm))
        return true;
    shape.multiprocessors = device->core_count;
    shape.registers = config->registers;
    shape.shared_bytes = config->shared_bytes;
    shape.major = device->capability_major;
    shape.minor = device->capability_minor;
    grid_milli = milli_of_grid(&shape, &sm);
    if (grid_milli < (uint64_t)config->occupancy_milli + ONE_PCT_MILLI)
        *milli = (uint32_t)(grid_milli < FULL_MILLI ? grid_milli : FULL_MILLI);
    else if (!config->occupancy_milli)
        return settle_none_fits(&shape, grid_milli, milli);
    return true;
}
