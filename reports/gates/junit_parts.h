/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JUNIT_PARTS_H
#define TM_JUNIT_PARTS_H

#include <stdio.h>

#include "pipeline/doc.h"

/* What JUnit files of one check and of a night are made of.  Texts are any bytes. */

/* As text or attribute of XML 1.0; what is too long loses its middle. */
void tm_junit_text(FILE *to, const char *text);
/* ` NAME="TEXT"` */
void tm_junit_attribute(FILE *to, const char *name, const char *text);
void tm_junit_property(FILE *to, const char *name, const char *value);
/* A case for each row of CHECK.md, no two of one name. */
void tm_junit_cases(FILE *to, const struct tm_value *rows, const char *classname);
tm_status tm_junit_end(struct tm_run *run, FILE *to) TM_MUST_USE; /* errors: TM_ERR_OUTPUT */

#endif
