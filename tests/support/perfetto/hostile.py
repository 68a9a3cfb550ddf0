# SPDX-License-Identifier: Apache-2.0
"""A Chrome trace with everything in it that readers stumble over, and that may still be written so that they do not."""

DEEP = 600     # spans inside of each other: viewers take 512
WIDE = 40      # spans that overlap and do not nest
WORDS = ["line\\nbreak\\ttab", "null\\u0000byte", "\\u001b[31mred\\u0007", "\\ud83d\\ude80 rocket", "lone \\ud800 half",
         "quote \\\" and \\\\", "<script>alert(1)</script>", "\\u202ereversed", "", "=1+1", "a.b[0].c",
         "C:\\\\tmp\\\\"]


def events():
    yield '{"ph":"M","pid":1,"name":"process_name","args":{"name":"one \\u0001 process"}}'
    yield '{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"deep\\n"}}'
    yield from nested()
    yield from overlapping()
    for number, word in enumerate(WORDS):
        yield f'{{"ph":"X","pid":1,"tid":3,"ts":{number * 10},"dur":5,"name":"{word}","cat":"{word}",' \
              f'"args":{{"{word} key":"{word}","n":{number}}}}}'
    yield from counters()
    yield from odd()


def nested():
    for number in range(DEEP):
        yield f'{{"ph":"X","pid":1,"tid":1,"ts":{number},"dur":{2 * DEEP - 2 * number},"name":"level {number}"}}'


def overlapping():
    for number in range(WIDE):
        yield f'{{"ph":"X","pid":1,"tid":2,"ts":{number * 3},"dur":{50 + number},"name":"over {number}"}}'


def counters():
    values = ("1", "-2.5", "NaN", "Infinity", "-Infinity", '"7"', '"seven"', "null", "1e400", "[1]",
              "12345678901234567890")
    for number, value in enumerate(values):
        yield f'{{"ph":"C","pid":1,"ts":{number},"name":"level","args":{{"value":{value}}}}}'


def odd():
    yield '{"ph":"X","pid":1,"tid":4,"ts":10,"dur":-5,"name":"ends before it begins"}'
    yield '{"ph":"X","pid":1,"tid":4,"ts":20,"name":"no length"}'
    yield '{"ph":"X","pid":1,"tid":4,"ts":30.0004,"dur":0.0001,"name":"less than a nanosecond"}'
    yield '{"ph":"X","pid":1,"tid":4,"ts":30.0006,"dur":0.0005,"name":"rounds up"}'
    yield '{"ph":"X","pid":"text","tid":"text","ts":40,"dur":1,"name":"texts for numbers"}'
    yield '{"ph":"X","pid":-1,"tid":4294967296,"ts":50,"dur":1,"name":"numbers out of range"}'
    yield '{"ph":"B","pid":1,"tid":4,"ts":60,"name":"never ended"}'
    yield '{"ph":"E","pid":1,"tid":5,"ts":61}'
    yield '{"ph":"B","pid":1,"tid":6,"ts":60,"name":"told twice",' \
          '"args":{"k":"begin","a.b":1,"a_b":2,"o":{"x.y":1,"x_z":2}}}'
    yield '{"ph":"E","pid":1,"tid":6,"ts":62,"args":{"k":"end","a[b]":3}}'
    yield '{"ph":"b","pid":1,"cat":"c","id":1,"ts":70,"name":"async"}'
    yield '{"ph":"b","pid":1,"cat":"c","id":2,"ts":72,"name":"async"}'
    yield '{"ph":"e","pid":1,"cat":"c","id":1,"ts":75,"name":"async"}'
    yield '{"ph":"e","pid":1,"cat":"c","id":2,"ts":78,"name":"async"}'
    yield '{"ph":"i","s":"g","ts":80,"pid":1,"name":"everywhere"}'
    yield '{"ph":"X","pid":1,"tid":4,"ts":90,"dur":1,"name":"numbers","args":{"a":18446744073709551615,' \
          '"b":-1e3,"c":NaN,"d":-Infinity,"e":9223372036854775807,"f":true,"g":null,"h":[],"i":{},' \
          '"j":[[1],{"k":2.5}],"l":1e-7,"m":0.00043402777777777775,' \
          '"n":-12.0000000000000000005}}'
    yield '{}'


def document():
    return ('{"traceEvents":[' + ",\n".join(events()) + "]}").encode()
