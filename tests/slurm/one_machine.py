#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm of some emulated nodes on this machine, for as long as a test or a command runs.

    tests/slurm/one_machine.py [--nodes N] [--cpus N] [--keep] -- COMMAND...

Debian's slurmd takes -N, so that one machine can be several nodes.  Everything lies in a new folder below $TMPDIR and
listens on 127.0.0.1 only, on ports that were free; no service manager, no control groups, no database, nothing below
/etc.  Root or not: jobs run as the caller.  All daemons, steps and jobs are descendants of this process, which takes
in their orphans; they are ended by their numbers, and end with this process, however it ends.
"""

import argparse
import contextlib
import ctypes
import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NEEDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
SYSTEM_FOLDERS = "/usr/sbin:/sbin:/usr/local/sbin"  # where daemons lie, which are not on everybody's path
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None, use_errno=True)


class SlurmError(Exception):
    """It cannot be started, or does not do what it was told."""


def which(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_FOLDERS}")


def missing():
    """Programs that are not installed."""
    return [name for name in NEEDS if not which(name)]


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def free_ports(count):
    """Below those that the kernel gives to outgoing connections: nobody gets one by chance before a daemon has it."""
    ports = []
    for port in random.SystemRandom().sample(range(20000, 32000), 200):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise SlurmError("no free ports")


def processes():
    """pid -> (parent, state) of all processes."""
    found = {}
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int(name)
            fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rsplit(")", 1)[1].split()
            found[pid] = (int(fields[1]), fields[0])
    return found


def descendants(of):
    """Running ones, zombies left out."""
    table = processes()
    found, layer = [], {of}
    while layer:
        layer = {pid for pid, (parent, _) in table.items() if parent in layer}
        found += [pid for pid in layer if table[pid][1] != "Z"]
    return found


def wait_until(holds, seconds, what, every=0.2):
    """What `holds` gives once it is something."""
    end = time.monotonic() + seconds
    while True:
        got = holds()
        if got:
            return got
        if time.monotonic() > end:
            raise SlurmError(f"not after {seconds} s: {what}")
        time.sleep(every)


class OneMachine:
    """`with OneMachine() as slurm:`.  slurm.environment is what clients need."""

    def __init__(self, nodes=2, cpus=2, keep=False, **settings):
        self.names = [f"n{number}" for number in range(nodes)]
        self.cpus, self.keep, self.settings = cpus, keep, settings
        self.folder = self.munge = self.controller = None
        self.nodes = {}  # name -> Popen of its daemon
        self.ports = []

    # --- up and down ---

    def __enter__(self):
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.before = set(descendants(os.getpid()))
        for attempt in range(3):  # another may have taken a port between looking and listening
            try:
                self._start()
                return self
            except SlurmError:
                log = self.logs()
                self.down()
                if attempt == 2 or "Address already in use" not in log:
                    sys.stderr.write(log[-4000:])
                    raise
            except BaseException:
                self.down()
                raise

    def __exit__(self, *_):
        self.down()

    def _start(self):
        self.folder = Path(tempfile.mkdtemp(prefix="one-slurm."))
        self.folder.chmod(0o755)  # munged refuses a socket where others may write
        for name in ("munge", "state", "log"):
            (self.folder / name).mkdir(mode=0o755)
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.ports = free_ports(1 + len(self.names))
        (self.folder / "slurm.conf").write_text(self._configuration(), "utf-8")
        # A client of Slurm obeys many variables of the submitter; none of a test's environment is meant.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH_", "SQUEUE_", "SINFO_", "SCONTROL_"))}
        self.environment.update(SLURM_CONF=str(self.folder / "slurm.conf"),
                                PATH=f"{os.environ['PATH']}:{SYSTEM_FOLDERS}")
        at = self.folder / "munge"
        self.munge = self._daemon("munged", "--foreground", f"--socket={at}/socket", f"--key-file={key}",
                                  f"--pid-file={at}/pid", f"--log-file={at}/log", f"--seed-file={at}/seed")
        wait_until(lambda: (at / "socket").exists() or self.munge.poll() is not None, 20, "munged listens")
        self.controller = self._daemon("slurmctld", "-D", "-i", "-f", self.environment["SLURM_CONF"])
        for name in self.names:
            self.start_node(name)
        wait_until(self._all_idle, 40, "all nodes are idle")

    def _configuration(self):
        user, host, at = getpass.getuser(), socket.gethostname().split(".")[0], self.folder
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // len(self.names) >> 20
        settings = {
            "ClusterName": "one", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": self.ports[0],
            "SlurmUser": user, "SlurmdUser": user,
            # cred_expire is also how long a requeued task waits before it begins again
            "AuthType": "auth/munge", "AuthInfo": f"socket={at}/munge/socket,cred_expire=5",
            "CryptoType": "crypto/munge", "StateSaveLocation": f"{at}/state",
            "SlurmctldPidFile": f"{at}/controller.pid", "SlurmdPidFile": f"{at}/%n.pid", "SlurmdSpoolDir": f"{at}/spool.%n",
            "SlurmctldLogFile": f"{at}/log/slurmctld", "SlurmdLogFile": f"{at}/log/slurmd.%n",
            "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "MpiDefault": "none",
            "JobAcctGatherType": "jobacct_gather/none", "AccountingStorageType": "accounting_storage/none",
            "CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny",  # every socket on 127.0.0.1
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core_Memory",
            "SlurmdParameters": "config_overrides",  # a node may claim what the machine has not
            "SchedulerParameters": "sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1",
            "ReturnToService": 2, "MaxArraySize": 1001, "KillWait": 3, "MinJobAge": 600, "SlurmdTimeout": 6,
            "InactiveLimit": 0, "EpilogMsgTime": 0, "JobRequeue": 1,
            **self.settings,
        }
        lines = [f"{name}={value}" for name, value in settings.items()]
        lines += [f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} RealMemory={memory}"
                  for name, port in zip(self.names, self.ports[1:])]
        lines.append("PartitionName=batch Nodes=ALL Default=YES MaxTime=01:00:00 State=UP")
        return "\n".join(lines) + "\n"

    def _daemon(self, name, *arguments):
        with open(self.folder / "log" / "daemons", "ab") as log:
            return subprocess.Popen([which(name), *arguments], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, start_new_session=True, preexec_fn=end_with_parent)

    def _all_idle(self):
        for daemon in (self.munge, self.controller, *self.nodes.values()):
            if daemon.poll() is not None:
                raise SlurmError(f"'{' '.join(daemon.args)}' ended with {daemon.returncode}")
        return len(self._words("sinfo", "-h", "-N", "-t", "idle", "-o", "%N")) == len(self.names)

    def _words(self, *command):
        return subprocess.run([which(command[0]), *command[1:]], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=60).stdout.decode().split()

    def logs(self):
        parts = []
        for path in sorted((self.folder / "log").iterdir()) + [self.folder / "munge" / "log"]:
            if path.exists():
                parts.append(f"--- {path.name}\n{path.read_text('utf-8', 'replace')[-4000:]}")
        return "\n".join(parts)

    def _ours(self):
        return [pid for pid in descendants(os.getpid()) if pid not in self.before]

    @staticmethod
    def _reap():
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def down(self):
        """End everything that came of this, and remove its folder."""
        if not self.folder:
            return
        if self.controller and self.controller.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired, OSError):
                subprocess.run([which("scancel"), "--signal=KILL", "--full", "--user", getpass.getuser()], env=self.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                               timeout=10)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._ours():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            end = time.monotonic() + 5
            while self._ours() and time.monotonic() < end:
                time.sleep(0.05)
        for daemon in (self.munge, self.controller, *self.nodes.values()):
            if daemon:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    daemon.wait(5)
        self._reap()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder, self.munge, self.controller, self.nodes = None, None, None, {}

    # --- what tests do with it ---

    def start_node(self, name):
        (self.folder / f"spool.{name}").mkdir(exist_ok=True)
        self.nodes[name] = self._daemon("slurmd", "-D", "-N", name, "-f", self.environment["SLURM_CONF"])

    def kill_node(self, name):
        """The daemon of a node dies with all steps on it and their processes, as if its power had failed."""
        doomed = [self.nodes[name].pid] + descendants(self.nodes[name].pid)
        spool = str(self.folder / f"spool.{name}")
        for pid in self._ours():  # steps are daemons of their own: known by what they hold open
            with contextlib.suppress(OSError):
                held = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
                if any(path.startswith(f"{self.folder}/log/slurmd.{name}") or path.startswith(spool) for path in held):
                    doomed += [pid] + descendants(pid)
        for pid in dict.fromkeys(doomed):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.nodes[name].wait()

    def jobs(self):
        """Array task or job -> what Slurm knows of it; times as texts that compare as they are."""
        done = subprocess.run([which("scontrol"), "--oneliner", "show", "job"], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=60)
        found = {}
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            of = dict(word.split("=", 1) for word in reversed(line.split(" ")) if "=" in word)  # paths come last
            if "JobId" not in of:
                continue
            name = f"{of['ArrayJobId']}_{of['ArrayTaskId']}" if "ArrayTaskId" in of else of["JobId"]
            found[name] = {"state": of.get("JobState"), "node": of.get("NodeList"), "reason": of.get("Reason"),
                           "restarts": int(of.get("Restarts", 0)), "exit": of.get("ExitCode"),
                           "begin": of.get("StartTime"), "end": of.get("EndTime")}
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--cpus", type=int, default=2, help="that each node claims")
    parser.add_argument("--keep", action="store_true", help="leave the folder with its logs")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    options = parser.parse_args()
    lacking = missing()
    if lacking:
        sys.exit(f"one_machine: not installed: {' '.join(lacking)}; 'scripts/install-deps.sh slurm' does it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with OneMachine(options.nodes, options.cpus, options.keep) as slurm:
        return subprocess.run(options.command, env=slurm.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
