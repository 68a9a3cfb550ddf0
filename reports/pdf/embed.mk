# SPDX-License-Identifier: Apache-2.0
# The fonts of the PDF as C, so that the program needs no font file.  FONTS: where fonts-dejavu-core has them.
FONTS ?= /usr/share/fonts/truetype/dejavu
PDF_FONTS := $(addprefix $(FONTS)/,DejaVuSans.ttf DejaVuSans-Bold.ttf DejaVuSansMono.ttf)
GENERATED += $(BUILD)/gen/pdf_fonts.c

$(BUILD)/gen/pdf_fonts.c: reports/pdf/embed_fonts.py $(PDF_FONTS)
	@mkdir -p $(@D)
	python3 reports/pdf/embed_fonts.py $(PDF_FONTS) >$@
