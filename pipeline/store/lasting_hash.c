/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/lasting_hash.h"

#include <string.h>

#include <xxhash.h>

struct tm_lasting_hash tm_hash_texts(const char *const text[], size_t count)
{
    XXH128_hash_t hash = { .low64 = 0, .high64 = 0 };

    for (size_t i = 0; i < count; i++) {
        const char *const at = text[i] ? text[i] : "";

        hash = XXH3_128bits_withSeed(at, strlen(at), hash.low64 ^ hash.high64);
    }
    return (struct tm_lasting_hash){ .high = hash.high64, .low = hash.low64 };
}
