/* SPDX-License-Identifier: Apache-2.0 */
/* The head that all pages share.  The content security policy names the style and the script by hash and allows nothing
 * else, so that even a text that slipped through the writer could neither run nor load anything. */
#include "reports/html/html_head.h"

#include <stdio.h>

#include "reports/html/assets.h"

enum { POLICY_BYTES = 512 };

static void put_policy(struct tm_htmlw *w, bool has_script)
{
    char policy[POLICY_BYTES];

    (void)snprintf(policy, sizeof(policy),
                   "default-src 'none'; style-src '%s'; script-src %s%s%s; base-uri 'none'; form-action 'none'",
                   tm_asset_style.hash, has_script ? "'" : "", has_script ? tm_asset_script.hash : "'none'",
                   has_script ? "'" : "");
    tm_htmlw_open(w, "meta");
    tm_htmlw_attr(w, "http-equiv", "Content-Security-Policy");
    tm_htmlw_attr(w, "content", policy);
    tm_htmlw_leaf(w);
}

static void put_meta(struct tm_htmlw *w, const char *name, const char *content)
{
    tm_htmlw_open(w, "meta");
    tm_htmlw_attr(w, "name", name);
    tm_htmlw_attr(w, "content", content);
    tm_htmlw_leaf(w);
}

void tm_html_head(struct tm_htmlw *w, const char *title, const char *page, bool has_script)
{
    tm_htmlw_verbatim(w, "<!DOCTYPE html>\n", sizeof("<!DOCTYPE html>\n") - 1);
    tm_htmlw_open(w, "html");
    tm_htmlw_attr(w, "lang", "en");
    tm_htmlw_open(w, "head");
    tm_htmlw_open(w, "meta");
    tm_htmlw_attr(w, "charset", "utf-8");
    tm_htmlw_leaf(w);
    put_policy(w, has_script);
    put_meta(w, "viewport", "width=device-width, initial-scale=1");
    put_meta(w, "color-scheme", "light dark");
    put_meta(w, "referrer", "no-referrer");
    tm_htmlw_open(w, "title");
    tm_htmlw_printf(w, "%.200s%s%s", title, title[0] ? ": " : "", page);
    tm_htmlw_close_line(w);
    tm_htmlw_open(w, "style");
    tm_htmlw_verbatim(w, tm_asset_style.bytes, tm_asset_style.length);
    tm_htmlw_close_line(w);
    tm_htmlw_close_line(w);
}
