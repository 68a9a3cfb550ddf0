# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_request: what a browser sends, and what it never would."""

HOST = "Host: 127.0.0.1:40001\r\n"
TEXTS = (
    f"GET /0123456789abcdef0123456789abcdef/ HTTP/1.1\r\n{HOST}Accept: text/html,*/*;q=0.8\r\nSec-Fetch-Mode: navigate\r\n\r\n",
    f"GET /t/trace?x=1 HTTP/1.1\r\n{HOST}Range: bytes=0-1023\r\nConnection: keep-alive\r\n\r\n",
    f"HEAD /t/report.html HTTP/1.0\nhost:localhost:1\nrange: bytes=-5\n\n",
    f"GET / HTTP/1.1\r\n{HOST}Range: bytes=1-2,5-6\r\nContent-Length: 0\r\n\r\n",
    f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    f"GET / HTTP/2.0\r\n{HOST} folded\r\nA\x01: \t \r\n\r\n",
)


def seeds():
    return {f"request-{i}": text.encode("latin-1") for i, text in enumerate(TEXTS)}
