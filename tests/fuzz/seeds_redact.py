# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_redact: names as traces have them, an '@' where the planted word goes, and maps of names."""

NAMES = """fusion.12
cudaLaunchKernel@
/home/@/train.py:12
@/gpu:0
ip-10-12-0-77.@.internal
jit(f)/@_3/dot_general
f32[131072,8]{1,0:T(8,128)} @
--dir=/train/@ file:///a/b
void @::kernel<4, (anonymous namespace)>(int*)
/usr/lib/python3.11/site-packages/@/x.py:33 wait
caf\u00e9@ \u202e@
host-kq7bz4mw @
$queue.py:154 @
user_48210233@1234 0x7f3ab2c9
@@@
C:\\Users\\@\\a.py"""

MAP = "tracemill names 1\nkey 00000000000000010000000000000002\nkq7bz4mw\tword\nrx2gd8kt\ta\\tb\\\\\\n\n"


def seeds():
    out = {f"line-{i}": line.encode() for i, line in enumerate(NAMES.split("\n"))}
    out["all"] = NAMES.encode()
    out["bytes"] = b"\xff\xfe@\x00x\n" + bytes(range(256))
    out["long"] = b"a" * 300 + b"@" + b"b1" * 200
    out["map"] = MAP.encode()
    out["map-cut"] = MAP.encode()[:70]
    out["map-long"] = MAP.encode() + b"kq7bz4mw\t" + b"w" * 600 + b"\n"
    return out
