# SPDX-License-Identifier: Apache-2.0
# The page's style sheet and script as C, with the hashes that its content security policy names.
GENERATED += $(BUILD)/gen/html_assets.c

$(BUILD)/gen/html_assets.c: reports/html/embed.sh reports/html/style.css reports/html/script.js reports/chart/palette.c
	@mkdir -p $(@D)
	bash reports/html/embed.sh reports/html reports/chart/palette.c >$@
