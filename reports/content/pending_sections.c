/* SPDX-License-Identifier: Apache-2.0 */
/* Sections that are still in reports/body and reports/html. */
#include "reports/content/say.h"

static void say_nothing(const struct tm_content *content)
{
    (void)content;
}

const struct tm_section tm_devices_section = { "devices", "Devices", "devices", say_nothing };
const struct tm_section tm_gaps_section = { "gaps", "Idle gaps", "gaps", say_nothing };
const struct tm_section tm_ops_section = { "ops", "Operations", "ops", say_nothing };
const struct tm_section tm_scopes_section = { "scopes", "Scopes", "scopes", say_nothing };
const struct tm_section tm_fusion_section = { "fusion", "Fusion", "fusion", say_nothing };
const struct tm_section tm_programs_section = { "programs", "Programs", "programs", say_nothing };
const struct tm_section tm_occupancy_section = { "occupancy", "Occupancy", "occupancy", say_nothing };
const struct tm_section tm_roofline_section = { "roofline", "Roofline", "roofline", say_nothing };
