# SPDX-License-Identifier: Apache-2.0
# The page's style sheet and script as C, with the hashes that its content security policy names.
GENERATED += $(BUILD)/gen/html_assets.c

# The parts of the script; start.js uses all others.
PAGE_SCRIPT := $(addprefix reports/html/script/,base.js view.js sort.js filter.js columns.js copy.js anchors.js open.js \
	find.js tips.js lit.js zoom.js theme.js trace.js start.js)

# The script of the list of parts.
PARTS_SCRIPT := $(addprefix reports/html/script/,base.js trace.js parts.js)

$(BUILD)/gen/html_assets.c: reports/html/embed.sh reports/html/style.css reports/html/tools.css $(PAGE_SCRIPT) $(PARTS_SCRIPT) \
		reports/chart/palette.c
	@mkdir -p $(@D)
	bash reports/html/embed.sh reports/html reports/chart/palette.c script $(PAGE_SCRIPT) parts_script $(PARTS_SCRIPT) >$@

# The page that `open` serves around a report.
GENERATED += $(patsubst reports/html/served/page.%,$(BUILD)/gen/served_%.c,$(wildcard reports/html/served/page.*))

$(BUILD)/gen/served_%.c: reports/html/served/page.% schemas/embed.mk
	@$(call embed_text,served_$*)
