/* SPDX-License-Identifier: Apache-2.0 */
/* Files changed as the fuzz targets change them, for tests that compare readers.
 *
 *   mutate json|message SEED COUNT FOLDER FILE...    writes FOLDER/0, FOLDER/1 ...: of each file in turn, changed once
 *                                                    to three times; the same seed gives the same files */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/mutate_json.h"
#include "tests/support/mutate_protobuf.h"

typedef size_t mutate_fn(uint8_t *data, size_t size, size_t most, unsigned seed, mutate_bytes_fn *bytes);

static struct mutate_dice dice;

/* A bit of a byte, or a byte more. */
static size_t change_bytes(uint8_t *data, size_t size, size_t most)
{
    if (size && mutate_below(&dice, 3))
        data[mutate_below(&dice, size)] ^= (uint8_t)(1u << mutate_below(&dice, 8));
    else if (size < most)
        data[size++] = (uint8_t)mutate_bits(&dice);
    return size;
}

static size_t read_file(const char *path, uint8_t *data)
{
    FILE *const from = fopen(path, "rb");
    size_t size;

    if (!from) {
        perror(path);
        exit(1);
    }
    size = fread(data, 1, MUTATE_MOST, from);
    (void)fclose(from);
    return size;
}

static void write_file(const char *folder, unsigned number, const uint8_t *data, size_t size)
{
    char path[4096];
    FILE *to;

    (void)snprintf(path, sizeof(path), "%s/%u", folder, number);
    to = fopen(path, "wb");
    if (!to || fwrite(data, 1, size, to) != size || fclose(to) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[MUTATE_MOST];
    const unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    const unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    mutate_fn *const mutate = argc > 1 && strcmp(argv[1], "json") == 0 ? mutate_json : mutate_protobuf;

    if (argc < 6) {
        (void)fputs("usage: mutate json|message SEED COUNT FOLDER FILE...\n", stderr);
        return 2;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t size = read_file(argv[5 + i % (unsigned)(argc - 5)], data);

        dice.state = (uint64_t)seed << 32 | i;
        for (size_t n = 1 + mutate_below(&dice, 3); n > 0; n--) {
            const size_t changed = mutate(data, size, sizeof(data), (unsigned)mutate_bits(&dice), change_bytes);

            size = changed ? changed : size;
        }
        write_file(argv[4], i, data, size);
    }
    return 0;
}
