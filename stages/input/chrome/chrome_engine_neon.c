/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of the Chrome reader 16 bytes at a time: any arm64. */
#ifdef __AARCH64EL__
#define TM_JSON_STRIDE 16
#include "stages/input/chrome/chrome_engine.h"

const struct tm_chrome_engine tm_chrome_engine_neon = { .event = read_event, .skip = skip_any };
#endif
