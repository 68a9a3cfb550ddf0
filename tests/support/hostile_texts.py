# SPDX-License-Identifier: Apache-2.0
"""Texts that mean harm to a page, a terminal, a spreadsheet, a Markdown file, or to whoever reads them.

Each holds TOKEN, so that a test can tell where it came out.  What would run in a page sets window.__hit."""

TOKEN = "Zq7"
MARKUP = (f"{TOKEN}</script><script>window.__hit=1</script>\"><img src=x onerror=window.__hit=1>'>"
          "<svg onload=window.__hit=1>--></title></style></textarea></svg>"
          "<iframe srcdoc='<script>top.__hit=1</script>'>"
          "</iframe><!--<script "
          "<link rel=stylesheet href=http://x.invalid/a><base href=http://x.invalid/> onfocus=window.__hit=1 "
          "&lt;script&gt;window.__hit=1&lt;/script&gt; ]]> ${window.__hit=1} {{7*7}}").encode()
ADDRESS = f"javascript:window.__hit=1//{TOKEN}".encode()
MARKDOWN = (f"{TOKEN}|a|`b``c`\\|d\n\n# Heading\n\n```\n<b>bold</b>\n~~~\n- item\n> quote\n![i](http://x.invalid/i.png)"
            "[l](javascript:window.__hit=1)<http://x.invalid/> *s* _u_ [^1] </code></details>\r\n1. one").encode()
CONTROLS = (f"{TOKEN}\x00\x01\x07\x08\t\n\r\x0b\x0c\x1b[31mred\x1b]0;title\x07\x7f\x80\x85\x9b31m\x9f"
            "\u202ertl\u202c\u2066in\u2069\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029"
            "\ufff9\U000e0041\ufffe").encode() + b"\xff\xfe\xc0\xaf\xed\xa0\x80\xed\xb0\x80\xf8\x88\x80\x80\x80\xe2\x82"
FORMULAS = [text.encode() for text in (f"=cmd|'/c calc'!{TOKEN}", f"+1+{TOKEN}", f"-1+{TOKEN}", f"@SUM({TOKEN})",
                                       f"\t={TOKEN}", f"\r={TOKEN}", f"=\"{TOKEN}\",1\n2",
                                       f" \"={TOKEN}", f"\uff1d{TOKEN}", f"{TOKEN};=1;\"+1;\uff20x\n-1\t@1")]
LONG = f"{TOKEN}<".encode() * (1 << 18)  # 1 MiB

# What no text output may hold: controls of C0 but the line's end, C1, direction marks, and what has no width.
FORBIDDEN = set(map(chr, [*range(0, 10), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F),
                          *range(0x2066, 0x206A), 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x061C, 0xFEFF]))
