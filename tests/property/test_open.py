#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server of `open`: it answers on this machine, at its token, for its own host, and with what it listed alone; it
outlasts clients that mean harm, ends when the page is closed, and leaves nothing behind."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, UNDER, Scratch, run  # noqa: E402

ADDRESS = re.compile(r"^http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/$")


class Server:
    """`with Server(folder, input...) as server:`"""

    def __init__(self, folder, *inputs):
        self.command = [*UNDER, str(BINARY), "open", *map(str, inputs), "--no-browser", "--tmp", str(folder)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = ADDRESS.match(self.address)
        self.port, self.token = (int(found.group(1)), found.group(2)) if found else (0, "")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=60)

    def send(self, data, seconds=60):
        """out: what comes back until the server closes"""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as to:
            to.sendall(data)
            back = b""
            while True:
                try:
                    piece = to.recv(1 << 16)
                except ConnectionResetError:
                    return back
                if not piece:
                    return back
                back += piece

    def get(self, name="", *fields, method="GET", host=None, token=None):
        """out: status, head, body"""
        host = f"127.0.0.1:{self.port}" if host is None else host
        lines = [f"{method} /{self.token if token is None else token}/{name} HTTP/1.1", f"Host: {host}", *fields, "", ""]
        head, _, body = self.send("\r\n".join(lines).encode()).partition(b"\r\n\r\n")
        return int(head.split(b" ")[1] or 0), head.decode(), body


def check_answers(tap, server, report, trace):
    status, head, body = server.get()
    tap.ok(status == 200 and b"Nothing is uploaded" in body and "frame-src 'self'" in head, "the page", head)
    tap.ok(server.get("report.html")[2] == report, "the report, byte by byte")
    status, head, body = server.get("trace")
    tap.ok(status == 200 and body == trace, "the trace, byte by byte", head)
    facts = json.loads(server.get("facts.json")[2])
    tap.ok(facts["ui"] == "https://ui.perfetto.dev" and facts["report"] and facts["file"] == "trace.pftrace", "its facts", facts)
    of = {name: bool(re.search(facts["pinned"], name)) for name in
          ("Analysis · tracemill · a", "critical findings · tracemill", "warning findings · tracemill · b", "busy share · tracemill",
           "gpu:3 steps · tracemill", "gpu:4 steps · tracemill", "Host analysis · tracemill · b", "busy share · tracemill · a",
           "info findings · tracemill", "gpu:0 steps · tracemill · a", "host steps · tracemill · a", "gpu:0 busy share · tracemill", "Stream #1")}
    tap.ok(list(of.values()) == [True] * 5 + [False] * 8, "the rows that are pinned, of several hosts the verdict and the findings", of)
    status, head, body = server.get("trace", method="HEAD")
    tap.ok(status == 200 and not body and f"Content-Length: {len(trace)}\r\n" in head, "HEAD has no body", head)
    for text, first, end in (("0-9", 0, 10), ("5-", 5, len(trace)), ("-7", len(trace) - 7, len(trace)), (f"10-{10**17}", 10, len(trace))):
        status, head, body = server.get("trace", f"Range: bytes={text}")
        wanted = f"Content-Range: bytes {first}-{end - 1}/{len(trace)}"
        tap.ok(status == 206 and body == trace[first:end] and wanted in head, f"a range: {text}", head)
    for text in (f"{len(trace)}-", "-0"):
        tap.ok(server.get("trace", f"Range: bytes={text}")[0] == 416, f"no range: {text}")
    for text in ("bytes=0-1,3-4", "bytes=9-3", "lines=0-1", "bytes=", "bytes=-", "bytes=0-99999999999999999999"):
        tap.ok(server.get("trace", f"Range: {text}")[::2] == (200, trace), f"the whole instead of {text}")


def check_refusals(tap, server):
    tap.ok(server.get(token="0" * 32)[0] == 403, "another token")
    tap.ok(server.get(token=server.token[:-1])[0] == 403, "a token that is too short")
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port}.evil.example", ""):
        tap.ok(server.get(host=host)[0] == 403, f"another host: {host!r}")
    for name in ("summary.json", "../x", "..%2fx", "/etc/passwd", "report.html/", "trace.pftrace", "ALIVE/", "a" * 4000):
        tap.ok(server.get(name)[0] == 404, f"nothing else: {name[:20]}")
    base = f"/{server.token}/"
    good = f"Host: 127.0.0.1:{server.port}\r\n"
    for status, what, data in (
            (405, "POST", f"POST {base} HTTP/1.1\r\n{good}Content-Length: 0\r\n\r\n"),
            (400, "no host", f"GET {base} HTTP/1.1\r\n\r\n"),
            (400, "two hosts", f"GET {base} HTTP/1.1\r\n{good}{good}\r\n"),
            (400, "a body", f"GET {base} HTTP/1.1\r\n{good}Content-Length: 3\r\n\r\nabc"),
            (400, "chunks", f"GET {base} HTTP/1.1\r\n{good}Transfer-Encoding: chunked\r\n\r\n"),
            (400, "a folded line", f"GET {base} HTTP/1.1\r\n{good} x\r\n\r\n"),
            (400, "a control character", f"GET {base} HTTP/1.1\r\n{good}A: \x01\r\n\r\n"),
            (400, "no slash", f"GET x HTTP/1.1\r\n{good}\r\n"),
            (400, "no version", f"GET {base}\r\n{good}\r\n"),
            (505, "another version", f"GET {base} HTTP/2.0\r\n{good}\r\n"),
            (431, "an endless head", f"GET {base} HTTP/1.1\r\n{good}A: {'a' * 9000}\r\n\r\n")):
        answer = server.send(data.encode("latin-1"))
        tap.ok(answer.startswith(b"HTTP/1.1 %d " % status) or (status in (400, 431) and answer == b""), f"{status}: {what}", answer[:80])
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    begun = time.monotonic()
    tap.ok(server.get()[0] == 200 and time.monotonic() - begun < 5, "clients that say nothing keep nobody out")
    for one in idle:
        one.close()


def check_parts(tap, folder, source):
    """The folder of a split trace: its page, its overview, and the parts that its list has, each at its own name."""
    parts = folder / "parts"
    tap.ok(run("split", source, "-o", parts, "--by", "step=2").status == 0, "a trace is split")
    names = sorted(path.name for path in parts.glob("part-*"))
    (parts / "part-9999.pftrace").write_bytes(b"not listed")
    for what in (parts, parts / "index.html"):
        with Server(folder, what) as server:
            facts = json.loads(server.get("facts.json")[2])
            tap.ok(server.get("report.html")[2] == (parts / "index.html").read_bytes() and facts["report"], f"{what.name}: the list of the parts")
            tap.ok(facts["file"] == "overview.pftrace" and server.get("trace")[2] == (parts / "overview.pftrace").read_bytes(), "its overview", facts)
            wrong = [name for name in names if server.get(name)[2] != (parts / name).read_bytes()]
            tap.ok(len(names) > 1 and not wrong, f"{len(names)} parts, byte by byte", *wrong)
            first = (parts / names[0]).read_bytes()
            tap.ok(server.get(names[0], "Range: bytes=5-14")[2] == first[5:15], "a range of a part")
            tap.ok(server.get(names[0], method="HEAD")[2] == b"", "HEAD has no body")
            tap.ok(server.get("part-9999.pftrace")[0] == 404 and server.get("index.json")[0] == 404, "nothing else of the folder")
            (parts / names[0]).rename(parts / "away")
            tap.ok(server.get(names[0])[0] == 404, "a part that was removed")
            (parts / names[0]).mkdir()
            tap.ok(server.get(names[0])[0] == 404, "a folder in its place")
            (parts / names[0]).rmdir()
            (parts / "away").rename(parts / names[0])
    (parts / "index.json").unlink()
    result = run("open", parts, "--no-browser")
    tap.ok(result.status == 3 and not result.out, "another index.html is no list of parts", result)


def check_end(tap, folder, source):
    with Server(folder, source) as server:
        tap.ok(server.get("report.html")[0] == 200, "a run is analyzed and served", server.address)
        made = list(folder.glob("tracemill-open-*"))
        tap.ok(len(made) == 1 and made[0].stat().st_mode & 0o077 == 0, "in a folder for nobody else", made)
        with socket.create_connection(("127.0.0.1", server.port)) as page:
            page.sendall(f"GET /{server.token}/alive HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode())
            tap.ok(b"text/event-stream" in page.recv(4096), "the page holds an answer open")
            time.sleep(4)
            tap.ok(server.process.poll() is None, "it serves as long as the page is open")
        try:
            status = server.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            status = None
        tap.ok(status == 0 and not list(folder.glob("tracemill-open-*")), "it ends with the page, and leaves nothing", status)
    with Server(folder, source) as server:
        server.process.send_signal(signal.SIGINT)
        status = server.process.wait(timeout=60)
        tap.ok(status in (-signal.SIGINT, 128 + signal.SIGINT) and not list(folder.glob("tracemill-open-*")),
               "Ctrl-C ends it, and leaves nothing", status)


def check_browser(tap, folder, trace):
    script = folder / "browser.sh"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" >"{folder}/asked"\n', encoding="utf-8")
    script.chmod(0o755)
    process = subprocess.Popen([str(BINARY), "open", str(trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, BROWSER=str(script)))
    address = process.stdout.readline().strip()
    end = time.monotonic() + 60
    while not ((folder / "asked").exists() and (folder / "asked").read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    tap.ok((folder / "asked").exists() and (folder / "asked").read_text() == address, "$BROWSER gets the address", address)
    process.terminate()
    process.communicate(timeout=60)


def main():
    tap = Tap()
    with Scratch() as folder:
        source = folder / "run.xplane.pb"
        source.write_bytes(make_profile.MAKERS["gpu"](seed=3).encode())
        report = folder / "made.report"
        tap.ok(run("report", source, "-o", report, "--format", "html,perfetto").status == 0, "a report with its trace")
        with Server(folder, report) as server:
            tap.ok(bool(ADDRESS.match(server.address)), "it prints its address", server.address)
            check_answers(tap, server, (report / "report.html").read_bytes(), (report / "trace.pftrace").read_bytes())
            check_refusals(tap, server)
        with Server(folder, report / "report.html") as server:
            tap.ok(server.get("trace")[0] == 200, "a report's file finds the trace beside it")
        (report / "trace.pftrace").rename(folder / "alone.pftrace")
        with Server(folder, report) as server:
            tap.ok(server.get("trace")[0] == 404 and "file" not in json.loads(server.get("facts.json")[2]), "a report without a trace")
        with Server(folder, folder / "alone.pftrace") as server:
            tap.ok(server.get("trace")[0] == 200 and not json.loads(server.get("facts.json")[2])["report"], "a trace alone")
        check_parts(tap, folder, source)
        check_end(tap, folder, source)
        check_browser(tap, folder, folder / "alone.pftrace")
        result = run("open", folder / "none", "--no-browser")
        tap.ok(result.status == 3 and not result.out, "what is not there", result)
    tap.done()


if __name__ == "__main__":
    main()
