# SPDX-License-Identifier: Apache-2.0
"""Calls of a client that is slow to load, as forks of one process that has loaded it: a program in Python imports the client,
then calls serve().

A shell script stands for the client (Tools of buckets.py).  It makes a FIFO `FOLDER/PID`, writes its own PID and a newline to
`FOLDER/calls`, and reads an exit status from its FIFO.  Each call is a fork of this process with the arguments, environment,
folder and standard streams of that script, and ends when that script is killed."""

import errno
import os
import select
import signal
import sys
import time
from pathlib import Path

STREAMS = ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY))
INTERPRETER_WORDS = 2  # /bin/sh SCRIPT


def strings_of(path):
    return path.read_bytes().decode(errors="surrogateescape").split("\0")[:-1]


def call(name, main, kept, caller):
    """The client, as the caller would run it.  Does not return."""
    kept = {variable: os.environ[variable] for variable in kept}
    os.environ.clear()
    os.environ.update([text.split("=", 1) for text in strings_of(caller / "environ")], **kept)
    os.chdir(caller / "cwd")
    for number, mode in STREAMS:
        os.dup2(os.open(caller / "fd" / str(number), mode), number)
    sys.argv = [name, *strings_of(caller / "cmdline")[INTERPRETER_WORDS:]]
    sys.exit(main())


def answer(fifo, status):
    """out: whether the caller, which may not have opened its end yet, has the status"""
    try:
        end = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return False
    os.write(end, b"%d\n" % status)
    os.close(end)
    return True


def serve_one(name, main, kept, folder, pid):
    """One call, from its start to its answer."""
    caller, status = Path("/proc") / pid, None
    client = os.fork()
    if client == 0:
        call(name, main, kept, caller)
    while caller.exists():
        if status is None:
            ended, code = os.waitpid(client, os.WNOHANG)
            status = os.waitstatus_to_exitcode(code) if ended else None
        if status is not None and answer(folder / pid, status):
            return
        time.sleep(0.01)
    if status is None:
        os.kill(client, signal.SIGKILL)


def serve(folder, name, main, kept=()):
    """Makes the FIFO `folder/calls` and answers the calls; ends at the end of stdin.
    in: main  the client, which gives an exit status or ends the process; its argv[0] is name
        kept  variables of the environment of this process, not of the caller"""
    os.mkfifo(folder / "calls")
    calls = os.open(folder / "calls", os.O_RDWR)  # it has a writer at any time: no end of file
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what serves a call
    rest = b""
    while 0 not in select.select([calls, 0], [], [])[0]:
        *pids, rest = (rest + os.read(calls, 4096)).split(b"\n")
        for pid in pids:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                serve_one(name, main, kept, folder, pid.decode())
                os._exit(0)
