/* SPDX-License-Identifier: Apache-2.0 */
/* Sections that are still in reports/body and reports/html. */
#include "reports/content/say.h"

static void say_nothing(const struct tm_content *content)
{
    (void)content;
}

const struct tm_section tm_transfers_section = { "transfers", "Transfers", "transfers", say_nothing };
const struct tm_section tm_collectives_section = { "collectives", "Collectives", "collectives", say_nothing };
const struct tm_section tm_balance_section = { "balance", "Balance", "balance", say_nothing };
const struct tm_section tm_host_section = { "host", "Host", "host", say_nothing };
const struct tm_section tm_fallback_section = { "fallback", "CPU fallback", "fallback", say_nothing };
const struct tm_section tm_compile_section = { "compile", "Compilation", "compile", say_nothing };
const struct tm_section tm_memory_section = { "memory", "Memory", "memory", say_nothing };
const struct tm_section tm_environment_section = { "environment", "Environment", "environment", say_nothing };
const struct tm_section tm_coverage_section = { "coverage", "Data quality", "coverage", say_nothing };
const struct tm_section tm_missing_section = { "missing", "Not recorded", NULL, say_nothing };
const struct tm_section tm_definitions_section = { "definitions", "Definitions", NULL, say_nothing };
const struct tm_section tm_provenance_section = { "provenance", "How this report was made", NULL, say_nothing };
