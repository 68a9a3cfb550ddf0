/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of the Chrome reader for any processor: byte by byte. */
#define TM_JSON_STRIDE 1
#include "stages/input/chrome/chrome_engine.h"

const struct tm_chrome_engine tm_chrome_engine_plain = { .event = read_event, .skip = skip_any };
