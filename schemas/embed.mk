# Data that is part of the program: each file becomes a C string, one literal per line of the file.
embed_text = mkdir -p $(@D); { echo '/* made from $< */'; echo 'const char tm_$(1)[] ='; \
	sed -e 's/[\\"?]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' $<; echo ';'; } >$@.part && mv $@.part $@
GENERATED += $(BUILD)/gen/thresholds_json.c

$(BUILD)/gen/thresholds_json.c: schemas/thresholds.json schemas/embed.mk
	@$(call embed_text,thresholds_json)

# What `skill` prints.
GENERATED += $(BUILD)/gen/skill_md.c

$(BUILD)/gen/skill_md.c: docs/skill.md schemas/embed.mk
	@$(call embed_text,skill_md)

# The scripts and Jobs of `batch submit`.
GENERATED += $(patsubst schemas/slurm/%.sh.in,$(BUILD)/gen/slurm_%.c,$(wildcard schemas/slurm/*.sh.in))

$(BUILD)/gen/slurm_%.c: schemas/slurm/%.sh.in schemas/embed.mk
	@$(call embed_text,slurm_$*)

GENERATED += $(BUILD)/gen/kubernetes_jobs.c

$(BUILD)/gen/kubernetes_jobs.c: schemas/kubernetes/jobs.yaml.in schemas/embed.mk
	@$(call embed_text,kubernetes_jobs)

# The findings are parsed here, not at each run.
GENERATED += $(BUILD)/gen/findings_table.c

$(BUILD)/gen/findings_table.c: schemas/findings.json scripts/embed-findings.py schemas/embed.mk
	@mkdir -p $(@D)
	@python3 scripts/embed-findings.py $< >$@.part
	@mv $@.part $@
