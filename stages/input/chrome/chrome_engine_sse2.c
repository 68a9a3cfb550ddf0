/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of the Chrome reader 16 bytes at a time: any x86-64. */
#ifdef __x86_64__
#define TM_JSON_STRIDE 16
#include "stages/input/chrome/chrome_engine.h"

const struct tm_chrome_engine tm_chrome_engine_sse2 = { .event = read_event, .skip = skip_any };
#endif
