# SPDX-License-Identifier: Apache-2.0
"""An S3 server on this machine with the real client, a connection to it that fails in known ways, and a PATH with nothing but
named programs, whose calls are recorded."""

import logging
import os
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from moto.server import ThreadedMotoServer

AWS_CALLS = Path(__file__).parent / "aws_calls.py"
GCLOUD_CALLS = Path(__file__).parent / "gcloud_calls.py"
SYSTEM_PATH = "/usr/bin:/bin"

SIGNED = "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


class Bucket:
    """`with Bucket() as bucket:` a bucket called "traces"."""

    def __enter__(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.port = self.server.get_host_and_port()[1]
        self.put("", b"")
        return self

    def __exit__(self, *_):
        self.server.stop()

    def put(self, key, data, method="PUT"):
        address = f"http://127.0.0.1:{self.port}/traces/{urllib.request.quote(key)}"
        request = urllib.request.Request(address, data, method=method,
                                         headers={"Content-Type": "application/octet-stream", "Authorization": SIGNED})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read(), dict(answer.headers)

    def get(self, key):
        return self.put(key, None, "GET")

    def settings(self, tools, port=None):
        """The environment in which the client finds this server."""
        return {"PATH": tools.path, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port or self.port}", "AWS_MAX_ATTEMPTS": 1,
                "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


class Tools:
    """A PATH with these programs: a name and the text of a shell script, in which "$@" are the arguments.  Each call adds to
    `log`: the name, the number of arguments, the arguments, each with a NUL behind it.  The shell writes them itself: a batch
    makes hundreds of calls."""

    def __init__(self, folder, **programs):
        folder.mkdir()
        self.log, self.path = folder / "log", str(folder)
        for name, text in programs.items():
            script = folder / name
            script.write_text(f"#!/bin/sh\nprintf '%s\\0' {name} $# \"$@\" >>{shlex.quote(str(self.log))}\n{text}\n", encoding="utf-8")
            script.chmod(0o755)

    def calls(self):
        """The calls since the last question."""
        words = self.log.read_bytes().decode().split("\0")[:-1] if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        calls = []
        while words:
            end = 2 + int(words[1])
            calls.append([words[0], *words[2:end]])
            words = words[end:]
        return calls


def forked_tools(folder, name, server, *more):
    """The real client of this name.  Its calls are made by a process that has loaded it, `server FOLDER more` (forked_calls.py), which
    ends with this one.  The script tells its PID from a subshell: its own stdout is looked up at any time afterwards."""
    calls = folder.with_name(folder.name + ".calls")
    calls.mkdir()
    place = shlex.quote(str(calls))
    text = f"/usr/bin/mkfifo {place}/$$\n(echo $$ >{place}/calls)\nread -r status <{place}/$$\nexit \"$status\""
    tools = Tools(folder, **{name: text})
    tools.client = subprocess.Popen([*server, calls, *more], stdin=subprocess.PIPE)
    while not (calls / "calls").exists() and tools.client.poll() is None:
        time.sleep(0.05)
    return tools


def aws_tools(folder):
    return forked_tools(folder, "aws", [sys.executable, AWS_CALLS])


def gcloud_tools(folder, program):
    """in: program  the installed gcloud"""
    library = Path(program).resolve().parents[1] / "lib"
    python = shutil.which("python3", path=SYSTEM_PATH)
    return forked_tools(folder, "gcloud", [python, "-S", GCLOUD_CALLS], library)


class Between:
    """A connection to a server that ends early, stops, or answers itself.  how: "reset", "stall", or bytes to answer; after
    so many bytes of an answer."""

    def __init__(self, port, how, after=0):
        self.port, self.how, self.after = port, how, after
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.here = self.listener.getsockname()[1]
        self.ends = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self.here

    def __exit__(self, *_):
        self.ends.set()
        self.listener.close()

    def _accept(self):
        while not self.ends.is_set():
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client:
            if isinstance(self.how, bytes):
                client.recv(65536)
                client.sendall(self.how)
                return
            with socket.create_connection(("127.0.0.1", self.port)) as server:
                forward = threading.Thread(target=self._forward, args=(client, server), daemon=True)
                forward.start()
                try:
                    self._answer(server, client)
                    client.shutdown(socket.SHUT_RD)
                except OSError:
                    return  # the client was ended
                forward.join()

    @staticmethod
    def _forward(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            return

    def _answer(self, server, client):
        sent = 0
        while data := server.recv(4096):
            client.sendall(data)
            sent += len(data)
            if sent > self.after and self.how == "reset":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            while sent > self.after and not self.ends.is_set():  # it stalls
                time.sleep(0.05)
