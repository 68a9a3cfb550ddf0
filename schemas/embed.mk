# Data that is part of the program: each file becomes a C string, one literal per line of the file.
GENERATED += $(BUILD)/gen/thresholds_json.c

$(BUILD)/gen/thresholds_json.c: schemas/thresholds.json schemas/embed.mk
	@mkdir -p $(@D)
	@{ echo '/* made from $< */'; echo 'const char tm_thresholds_json[] ='; \
	   sed -e 's/[\\"?]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $<; echo ';'; } >$@.part
	@mv $@.part $@

# The findings are parsed here, not at each run.
GENERATED += $(BUILD)/gen/findings_table.c

$(BUILD)/gen/findings_table.c: schemas/findings.json scripts/embed-findings.py schemas/embed.mk
	@mkdir -p $(@D)
	@python3 scripts/embed-findings.py $< >$@.part
	@mv $@.part $@
