/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ASSETS_H
#define TM_ASSETS_H

#include <stddef.h>

/* Style sheet and script of the page, made of style.css, script.js and the palette by embed.sh.
 * Each has the hash that the page's content security policy names: "sha256-" and base64 of the
 * bytes between the tags. */
struct tm_asset {
    const char *bytes;
    size_t length;
    const char *hash;
};

extern const struct tm_asset tm_asset_style, tm_asset_script;

#endif
