#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What coding agents use: the skill, whose commands and SQL are right, and the MCP server: its messages are the protocol's, its answers
those of the verbs, nothing outside its root is read, and no message ends it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BINARY, ROOT, UNDER, Scratch, run  # noqa: E402

DATA = ROOT / "tests" / "data"


class Server:
    """A client's side of `mcp`."""

    def __init__(self, *options):
        self.process = subprocess.Popen([*UNDER, str(BINARY), "mcp", *map(str, options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def send(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        answer = self.receive()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.number, answer
        return answer

    def call(self, tool, **arguments):
        """The text of a tool's answer, and whether it is an error."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        assert all(item["type"] == "text" for item in result["content"]), result
        return "\n".join(item["text"] for item in result["content"]), result["isError"]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


def check_protocol(tap):
    server = Server("--root", DATA)
    first = server.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})["result"]
    tap.ok(first["protocolVersion"] == "2025-06-18" and "tools" in first["capabilities"] and first["serverInfo"]["name"] == "tracemill",
           "it introduces itself", first)
    server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    tap.ok(server.ask("ping")["result"] == {}, "a notification has no answer, a ping has one")
    tools = {tool["name"]: tool for tool in server.ask("tools/list")["result"]["tools"]}
    wrong = [name for name, tool in tools.items()
             if tool["inputSchema"]["type"] != "object" or not set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
             or not tool["description"] or not tool["annotations"]["readOnlyHint"]]
    tap.ok({"brief", "show", "query", "schema", "list", "compare", "inspect"} == set(tools) and not wrong, "it lists its tools", wrong)
    for text, code in (("{bad\n", -32700), ("[]\n", -32600), ('{"id": 1}\n', -32600), ('"x"\n', -32600),
                       ('{"jsonrpc": "2.0", "id": "a", "method": "nothing"}\n', -32601),
                       ('{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nothing"}}\n', -32602),
                       ('{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "brief", "arguments": []}}\n', -32602),
                       (b'{"x": "' + b"y" * (2 << 20) + b'"}\n', -32700), ("[" * 5000 + "\n", -32700),
                       (b'{"id": 1}\0{"id": 2}\n', -32700)):
        server.send(text)
        answer = server.receive()
        tap.ok(answer["error"]["code"] == code, f"refused with {code}: {text[:40]!r}", answer)
    server.send("\n\r\n")
    tap.ok(server.ask("ping")["result"] == {}, "it goes on after all of them")
    tap.ok(server.end() == 0, "it ends with its input")


def check_tools(tap):
    server = Server("--root", DATA)
    for tool, arguments, words in (("brief", {"run": "demo"}, ("brief", DATA / "demo")),
                                   ("show", {"run": "demo", "what": "ops", "top": 3, "sort": "-self_ps", "where": "self_share_pct > 1"},
                                    ("show", DATA / "demo", "ops", "--top", "3", "--sort", "-self_ps", "--where", "self_share_pct > 1")),
                                   ("show", {"run": "demo", "what": "hlo", "op": "0/dot.45", "top": 2},
                                    ("show", DATA / "demo", "hlo", "0/dot.45", "--top", "2")),
                                   ("query", {"run": "demo", "sql": "select class, count(*) as n from events group by class"},
                                    ("query", DATA / "demo", "select class, count(*) as n from events group by class")),
                                   ("schema", {"table": "gaps"}, ("schema", "gaps")), ("inspect", {"run": "demo"}, ("inspect", DATA / "demo"))):
        text, is_error = server.call(tool, **arguments)
        expected = run(*words)
        tap.ok(not is_error and text.startswith(expected.out.rstrip("\n")), f"{tool}: the answer is that of the verb", text[:200])
    text, is_error = server.call("query", run="demo", sql="select * from events", top=10000)
    tap.ok(not is_error and len(text.encode()) <= 52 << 10 and "cut" in text, "a long answer is cut", len(text))
    for what, tool, arguments in (("missing", "brief", {}), ("unknown", "brief", {"run": "demo", "x": "y"}), ("wrong type", "brief", {"run": 5}),
                                  ("an option", "show", {"run": "demo", "what": "--help"}), ("too many rows", "show", {"run": "demo", "top": 0}),
                                  ("an op of no program", "show", {"run": "demo", "what": "hlo", "op": "nothing.1"}),
                                  ("no SELECT", "query", {"run": "demo", "sql": "delete from kernels"}),
                                  ("no profile", "brief", {"run": "README.md"})):
        text, is_error = server.call(tool, **arguments)
        tap.ok(is_error and text, f"{what}: an error that says why", text)
    server.end()


def check_root(tap):
    with Scratch() as folder:
        inside, outside = folder / "in", folder / "out"
        inside.mkdir()
        shutil.copytree(DATA / "tiny", outside)
        os.symlink(outside, inside / "link")
        (folder / "in-and-more").mkdir()
        server = Server("--root", inside)
        for path in ("../out", str(outside), "link", "/etc/passwd", "../in-and-more", "none", ""):
            text, is_error = server.call("brief", run=path)
            tap.ok(is_error and "Verdict" not in text, f"not read: {path!r}", text[:200])
        server.end()
        result = run("mcp", "--root", folder / "nowhere")
        tap.ok(result.status == 2 and "--root" in result.err, "a root that is not there", result)


def check_skill(tap):
    text = run("skill").out
    verbs = set(re.findall(r"tracemill ([a-z]+)", text.split("---", 2)[2]))
    known = set(re.findall(r"^  ([a-z]+)", run("help").out, re.MULTILINE))
    tap.ok(len(text.splitlines()) < 300 and text.startswith("---\nname: tracemill\n"), "a skill of less than 300 lines", len(text.splitlines()))
    tap.ok(len(verbs) > 8 and verbs - {"reads", "does"} <= known, "its verbs are there", sorted(verbs - known))
    options = {option for option in re.findall(r"--([a-z-]{3,})", text)}
    every = run("man").out.replace("\\-", "-")
    tap.ok(options and not [option for option in options if f"--{option}" not in every], "its options are there",
           [option for option in options if f"--{option}" not in every])
    statements = [line for line in re.search(r"```sql\n(.*?)```", text, re.DOTALL)[1].splitlines() if not line.startswith("--")]
    results = [run("query", DATA / "demo", sql) for sql in statements]
    tap.ok(len(results) >= 4 and all(result.status == 0 for result in results), "its SQL runs", *(r.err for r in results if r.status))
    with Scratch() as folder:
        result = run("skill", "--install", folder / "skills")
        installed = folder / "skills" / "tracemill" / "SKILL.md"
        tap.ok(result.status == 0 and installed.read_text(encoding="utf-8") == text, "it is installed", result)
        (folder / "file").write_text("x", encoding="utf-8")
        result = run("skill", "--install", folder / "file")
        tap.ok(result.status == 5 and result.err, "not into a file", result)


def main():
    tap = Tap()
    check_protocol(tap)
    check_tools(tap)
    check_root(tap)
    check_skill(tap)
    tap.done()


if __name__ == "__main__":
    main()
