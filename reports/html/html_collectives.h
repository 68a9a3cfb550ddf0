/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_COLLECTIVES_H
#define TM_HTML_COLLECTIVES_H

#include "reports/html/html_page.h"

/* The sections on several devices. */
void tm_html_collectives(struct tm_page *page);
void tm_html_balance(struct tm_page *page);

#endif
