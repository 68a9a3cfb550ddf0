#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folder of a batch in a bucket: what is stored and in which order, ended at any moment, with helpers that fail, and
restored.  With a real S3 server on this machine through the real client, and with a stand-in for gcloud that starts fast
and has the commands, outputs and messages of the real one, which test_gcloud.py runs."""

import json
import shlex
import shutil
import sys
import urllib.error
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from buckets import Between, Bucket, Tools, aws_tools  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, Scratch, run  # noqa: E402

DEMO = next((ROOT / "tests/data/demo").rglob("*.xplane.pb"))
TINY = next((ROOT / "tests/data/tiny").rglob("*.xplane.pb"))
FORMATS = ("--format", "html,json,csv")
FEWER = ("--format", "html,json")  # objects, where each costs a start of the helper

GCLOUD = r"""
store=%s
list() {
    %s - "$store" "${1#gs://}" <<'END'
import datetime, json, os, sys
store, (bucket, _, prefix) = sys.argv[1], sys.argv[2].removesuffix("**").partition("/")
rows = []
for folder, _, names in os.walk(os.path.join(store, bucket)):
    for name in names:
        path = os.path.join(folder, name)
        info, key = os.stat(path), os.path.relpath(path, os.path.join(store, bucket))
        if key.startswith(prefix):
            when = datetime.datetime.fromtimestamp(int(info.st_mtime), datetime.timezone.utc)
            rows.append({"name": key, "size": info.st_size, "generation": str(info.st_mtime_ns // 1000),
                         "update_time": when.strftime("%%Y-%%m-%%dT%%H:%%M:%%S+0000")})
print(json.dumps(sorted(rows, key=lambda row: row["name"]), indent=2))
END
}
case "$1 $2 $3" in
"storage cat "*)
    [ -f "$store/${3#gs://}" ] || { echo "ERROR: (gcloud.storage.cat) The following URLs matched no objects or files:" >&2
                                    echo "$3" >&2; exit 1; }
    exec /bin/cat "$store/${3#gs://}" ;;
"storage objects list") list "$4" ;;
"storage cp -")
    to=$store/${4#gs://}
    /bin/mkdir -p "${to%%/*}"
    /bin/cat >"$to.uploading.$$" && /bin/mv "$to.uploading.$$" "$to" && echo "$4" >>"$store.names" ;;
"storage cp --recursive")
    to=$store/${5#gs://}
    /bin/mkdir -p "$to"
    /bin/cp -R "${4%%/\*}/." "$to" && (cd "${4%%/\*}" && /usr/bin/find . -type f) | while read -r name; do echo "$5${name#./}"; done >>"$store.names" ;;
"storage rsync --recursive")
    /bin/cp -R "$store/${4#gs://}/." "$5" && (cd "$5" && /usr/bin/find . -type f) ;;
"storage rm --read-paths-from-stdin")
    missing=
    while read -r address; do
        if [ -f "$store/${address#gs://}" ]; then /bin/rm "$store/${address#gs://}"; else missing="$missing
$address"; fi
    done
    [ -z "$missing" ] || { echo "ERROR: (gcloud.storage.rm) The following URLs matched no objects or files:$missing" >&2; exit 1; } ;;
*) echo "ERROR: (gcloud.storage) Invalid choice" >&2; exit 2 ;;
esac
"""


class Gcloud(Tools):
    """Objects are files of a folder."""

    def __init__(self, folder):
        self.store = folder / "store"
        super().__init__(folder, gcloud=GCLOUD % (shlex.quote(str(self.store)), shlex.quote(sys.executable)))
        self.store.mkdir()

    def objects(self, prefix):
        return contents(self.store / prefix)

    def stored(self):
        """The objects stored since the last question, in order."""
        names = Path(f"{self.store}.names")
        lines = names.read_text(encoding="utf-8").splitlines() if names.exists() else []
        names.unlink(missing_ok=True)
        return lines


def contents(folder):
    """All files that a mirror has."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in files.items() if not name.startswith(("mirror/", "."))}


def make_root(root):
    """A run of one host, and one of two."""
    for name, traces in (("a", {"h": DEMO}), ("b", {"h1": DEMO, "h2": TINY})):
        folder = root / name / "2026-11-20"
        folder.mkdir(parents=True)
        for host, trace in traces.items():
            shutil.copy(trace, folder / f"{host}.xplane.pb")
    return root


def stored(calls, after):
    """The objects of calls, in order; after: the words before an address."""
    return [call[-1] for call in calls if call[1:1 + len(after)] == after]


def is_ordered(names):
    """Whether data precedes what says that it is there."""
    at = {name: index for index, name in enumerate(names)}
    results = [name for name in names if name.endswith("result.json")]
    items = all(at[name] < at[result] for result in results for name in names
                if name.startswith(result.removesuffix("result.json")) and name != result)
    top = [name for name in names if "/runs/" not in name]
    return items and results and names[-len(top):] == top and top[0].endswith("/history.db") and top[-1].endswith("/index.html")


def check_mirror(tap, folder, root):
    """Stored once, in order, restored."""
    tools, out = Gcloud(folder / "tools"), folder / "out"
    settings = {"PATH": tools.path}

    def batch(to, *options, name="perf", **more):
        return run("batch", root, "-o", to, *FORMATS, "--mirror", f"gs://b/{name}/", *options, **{**settings, **more})

    result = batch(out)
    names, starts = tools.stored(), len(tools.calls())
    objects = tools.objects("b/perf")
    tap.ok(result.status == 0 and objects == contents(out) and len(objects) > 12, "everything is in the bucket", result,
           sorted(set(objects) ^ set(contents(out))))
    tap.ok(len(names) == len(set(names)) == len(objects), "each is stored once", names)
    tap.ok(is_ordered(names), "data before what says that it is there", names)
    tap.ok(starts <= 7, f"by {starts} starts of the helper for {len(names)} objects")
    tap.ok(not (out / "mirror/.staging").exists() or not any((out / "mirror/.staging").iterdir()), "nothing waits any more")
    result = batch(out)
    tap.ok(result.status == 0 and not tools.calls(), "nothing new: no helper is started", result)
    shutil.rmtree(out)
    result = batch(out)
    calls = tools.calls()
    tap.ok(result.status == 0 and not tools.stored() and contents(out) == objects,
           "a lost folder is restored, and nothing of it is made again", calls, result)
    tap.ok([call[2] for call in calls] == ["objects", "rsync", "objects"],
           f"by {len(calls)} starts of the helper for {len(objects)} objects", calls)
    tap.ok(not any((out / "mirror/.staging").iterdir()), "and nothing waits")
    shutil.copytree(root / "a", root / "c")
    tools.calls()
    result = batch(out)
    names = tools.stored()
    tap.ok(result.status == 0 and tools.objects("b/perf") == contents(out), "a new run is stored", result)
    tap.ok(is_ordered(names) and not any("/a-2026" in name or "/b-2026" in name for name in names), "and only that", names)
    result = run("batch", "merge", out, *FORMATS, "--mirror", "gs://b/other", **settings)
    tap.ok(result.status == 0 and tools.objects("b/other") == contents(out), "another mirror gets everything", result)
    result = batch(folder / "dry", "--dry-run", name="dry")
    tap.ok(result.status == 0 and not tools.objects("b/dry"), "--dry-run stores nothing", result)
    tools.calls()
    return contents(out)


def check_restore(tap, folder, root):
    """The driver is killed, or the helper fails, while everything is fetched; objects that cannot be files; a command."""
    tools, out = Gcloud(folder / "tools"), folder / "out"
    batch = ("batch", root, "-o", out, *FEWER, "--mirror", "gs://b/perf")
    result = run(*batch, PATH=tools.path)
    wanted, names = tools.objects("b/perf"), tools.stored()
    tap.ok(result.status == 0 and len(names) == len(wanted) > 12, "a mirror", result)
    gcloud, real = tools.log.parent / "gcloud", folder / "gcloud"
    gcloud.rename(real)
    for how, status in (("kill -9 $PPID; exit 1", -9), ("echo broken >&2; exit 7", 3)):
        for at in ("half a file", "half of them", "all"):
            name = f"restore, {how.split()[0]} after {at}"
            part = {"half a file": '/bin/mkdir -p "$5" && echo half >"$5/history.db_.gstmp"',
                    "half of them": f'{real} storage rsync --recursive "$4/runs" "$5/runs" 2>&1', "all": f'{real} "$@"'}[at]
            gcloud.write_text(f'#!/bin/sh\nif [ "$2" = rsync ]; then /bin/mkdir -p "$5/runs"; {part}; {how}; fi\nexec {real} "$@"\n',
                              encoding="utf-8")
            gcloud.chmod(0o755)
            shutil.rmtree(out)
            result = run(*batch, PATH=tools.path)
            tap.ok(result.status == status and not (out / "manifest.jsonl").exists(), f"{name}: it ends", result)
            shutil.copy(real, gcloud)
            tools.calls()
            result = run(*batch, PATH=tools.path)
            tap.ok(result.status == 0 and contents(out) == wanted and not tools.stored(), f"{name}: restored by the next batch",
                   sorted(set(contents(out)) ^ set(wanted)), result)
    shutil.rmtree(out)
    tools.calls()
    result = run(*batch, "--fetch", f"{tools.path}/gcloud storage cat {{uri}}", PATH=tools.path)
    tap.ok(result.status == 0 and contents(out) == wanted and len(stored(tools.calls(), ["storage", "cat"])) == len(wanted),
           "a command fetches them one by one", result)
    for hostile in ("../h-out", "runs//x"):
        listing = json.dumps([{"name": f"perf/{name}", "size": len(data)} for name, data in {**wanted, hostile: b""}.items()])
        (folder / "listing").write_text(listing, encoding="utf-8")
        shutil.rmtree(out)
        tools.calls()
        result = run(*batch, "--listing", f"/bin/cat {folder}/listing", PATH=tools.path)
        tap.ok(result.status == 0 and contents(out) == wanted and len(stored(tools.calls(), ["storage", "cat"])) == len(wanted),
               f"so they are beside an object {hostile}", result)


def check_ends(tap, folder, root, wanted):
    """A driver that is killed at a put, and a helper that fails there: the next batch completes the mirror."""
    for how, at in [("kill -9 $PPID; exec /bin/cat >/dev/null", at) for at in (1, 2, 5, 9)] + [("echo broken >&2; exit 7", 4)]:
        name = f"{how.split()[0]} at {at}"
        place = folder / name.replace(" ", "-")
        place.mkdir()
        tools, out = Gcloud(place / "tools"), place / "out"
        text = f'echo x >>{shlex.quote(str(place / "count"))}\n[ $(/bin/wc -l <{shlex.quote(str(place / "count"))}) -ne {at} ] || {{ {how}; }}\n'
        (place / "store").write_text(f"#!/bin/sh\n{text}exec {tools.path}/gcloud storage cp - \"$1\"\n", encoding="utf-8")
        (place / "store").chmod(0o755)
        options = (*FEWER, "--mirror", "gs://b/perf", "--store", f"{place}/store {{uri}}")
        result = run("batch", root, "-o", out, *options, PATH=tools.path)
        half = tools.objects("b/perf")
        tap.ok(result.status == (-9 if "kill" in how else 5) and len(half) < len(wanted), f"{name}: the mirror is not complete", result)
        tap.ok("kill" in how or "cannot store 'gs://b/perf/" in result.err and "failed with status 7: broken" in result.err,
               f"{name}: says why", result)
        tap.ok(all(Path(result_file).parent.as_posix() == "." or files_of(half, result_file) == files_of(wanted, result_file)
                   for result_file in half if result_file.endswith("result.json")), f"{name}: no result without its files", sorted(half))
        result = run("batch", root, "-o", out, *options, PATH=tools.path)
        tap.ok(result.status == 0 and tools.objects("b/perf") == contents(out) == wanted, f"{name}: completed by the next batch", result)


def check_ends_of_folders(tap, folder, root, wanted):
    """Likewise where the helper takes folders: before it has stored one, halfway, and after it."""
    copy = 'cd "$1" && for name in $(/usr/bin/find . -type f | /usr/bin/sort); do'
    put = '/bin/mkdir -p "$store/${name%/*}" && /bin/cp "$name" "$store/$name"'
    for how, status in (("kill -9 $PPID; exit 1", -9), ("echo broken >&2; exit 7", 5)):
        for at in (1, 2, 4):
            for when in ("before", "halfway", "after"):
                name = f"{how.split()[0]} at folder {at}, {when}"
                place = folder / f"{how.split()[0]}-{at}-{when}"
                place.mkdir()
                store, out = place / "store", place / "out"
                stop = f"[ $(/bin/wc -l <{shlex.quote(str(place / 'count'))}) -ne {at} ] || {{ {how}; }}"
                parts = {"before": f"{stop}\n{copy} {put}; done", "halfway": f"n=0; {copy} n=$((n + 1)); [ $n -ne 2 ] || {stop}; {put}; done",
                         "after": f"{copy} {put}; done\n{stop}"}
                (place / "put").write_text(f"#!/bin/sh\nstore={shlex.quote(str(store))}\necho x >>{shlex.quote(str(place / 'count'))}\n"
                                           f"{parts[when]}\n", encoding="utf-8")
                (place / "put").chmod(0o755)
                options = (*FEWER, "--mirror", "gs://b/perf", "--store", f"{place}/put {{folder}} {{uri}}", "--listing", "/bin/echo []")
                result = run("batch", root, "-o", out, *options)
                half = contents(store)
                ended = result.status != 0
                tap.ok(result.status == status or (when == "halfway" and not ended), f"{name}: it ends", result)
                tap.ok(all(Path(file).parent.as_posix() == "." or files_of(half, file) == files_of(wanted, file)
                           for file in half if file.endswith("result.json")), f"{name}: no result without its files", sorted(half))
                tap.ok("index.html" not in half or "history.db" in half, f"{name}: no page without its history", sorted(half))
                result = run("batch", root, "-o", out, *options)
                tap.ok(result.status == 0 and contents(store) == contents(out) == wanted, f"{name}: completed by the next batch", result)


def files_of(objects, result):
    """The names in the folder of an item."""
    return sorted(name for name in objects if name.startswith(result.removesuffix("result.json")) and "/hosts/" not in name[len(result):])


def make_nights(root):
    """Two nights of two jobs, one of them with two hosts: --keep 1 prunes the first night."""
    for job, traces in (("a", {"h": DEMO}), ("b", {"h1": DEMO, "h2": TINY})):
        for night in ("2026-11-20", "2026-11-21"):
            place = root / job / night
            place.mkdir(parents=True)
            for host, trace in traces.items():
                shutil.copy(trace, place / f"{host}.xplane.pb")
    return root


def is_complete(objects):
    """Whether each result in a bucket has the files that it lists."""
    return all(f"{name.removesuffix('result.json')}{file['name']}" in objects
               for name, data in objects.items() if name.endswith("result.json") and name.startswith("runs/")
               for file in json.loads(data)["files"])


def check_prune(tap, folder, root):
    """What was pruned is removed, after everything else was stored; ended at any moment, and completed."""
    tools, out = Gcloud(folder / "tools"), folder / "out"
    batch = ("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/perf")
    result = run(*batch, PATH=tools.path)
    before = tools.objects("b/perf")
    tap.ok(result.status == 0 and sum("/hosts/" in name for name in before) >= 8, "two nights are stored", result)
    mine = next(name for name in before if "a-2026-11-20" in name and name.endswith("report.html")).replace("report.html", "mine.html")
    (tools.store / "b/perf" / mine).write_text("mine", encoding="utf-8")
    by_hand = next(out / name for name in before if "a-2026-11-21" in name and name.endswith(".csv"))
    shutil.copytree(out, folder / "whole")
    result = run("batch", "prune", out, "--keep", 1)
    pruned = set(before) - set(contents(out))
    tap.ok(result.status == 0 and any(name.endswith("hosts/h1/result.json") for name in pruned) and
           any(name.endswith(".csv") for name in pruned), "the first night is pruned", sorted(pruned), result)
    shutil.copytree(folder / "out", folder / "pruned")
    shutil.copytree(tools.store, folder / "store")
    tools.calls()
    result = run(*batch, PATH=tools.path)
    calls, objects = tools.calls(), tools.objects("b/perf")
    tap.ok(result.status == 0 and objects.pop(mine, None) == b"mine" and objects == contents(out) and not pruned & set(objects),
           "its objects are removed, others stay", sorted(set(objects) ^ set(contents(out))), result)
    tap.ok([call[2] for call in calls].count("rm") == 1 and calls[-1][2] == "rm", "last, by one start of the helper", calls)
    result = run(*batch, PATH=tools.path)
    tap.ok(result.status == 0 and not tools.calls(), "nothing is removed twice", result)
    by_hand.unlink()
    result = run("batch", "merge", out, *FORMATS, "--mirror", "gs://b/perf", PATH=tools.path)
    tap.ok(result.status in (0, 4) and str(by_hand.relative_to(out)) in tools.objects("b/perf"),
           "the object of a file that is removed by hand stays", result)
    wanted = {**objects, mine: b"mine"}
    check_prune_restored(tap, folder, root, wanted)
    check_prune_killed(tap, folder, root, wanted, pruned)
    check_ends_of_removal(tap, folder, "pruned", ("batch", root, "-o", "{out}", *FORMATS), 6, (objects, wanted), pruned)
    check_prune_itself(tap, folder, root, wanted, pruned)
    check_prune_commands(tap, folder, root, pruned)


def start(folder, name, state="pruned"):
    """The folder before ("whole") or after the prune, and the bucket."""
    place = folder / name.replace(" ", "-")
    place.mkdir()
    tools, out = Gcloud(place / "tools"), place / "out"
    shutil.copytree(folder / "store", tools.store, dirs_exist_ok=True)
    shutil.copytree(folder / state, out)
    return place, tools, out


def check_prune_restored(tap, folder, root, wanted):
    """A folder that was restored before it was pruned."""
    place, tools, out = start(folder, "restored")
    batch = ("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/perf")
    result = run(*batch, PATH=tools.path)
    tap.ok(result.status == 0 and tools.objects("b/perf") == wanted, "removed", result)
    shutil.rmtree(out)
    result = run(*batch, PATH=tools.path)
    tap.ok(result.status == 0 and contents(out) == wanted, "a pruned folder is restored, and nothing of it is made again", result)
    shutil.rmtree(tools.store / "b/perf")
    shutil.copytree(folder / "store/b/perf", tools.store / "b/perf")
    shutil.rmtree(out)
    tools.calls()
    result = run("batch", "merge", out, *FORMATS, "--mirror", "gs://b/perf", PATH=tools.path)
    again = run("batch", "prune", out, "--keep", 1)
    merged = run(*batch, PATH=tools.path)
    tap.ok(result.status == 0 and again.status == 0 and merged.status == 0 and tools.objects("b/perf") == wanted,
           "what was restored and then pruned is removed", result, again, merged)


def check_prune_killed(tap, folder, root, wanted, pruned):
    """A prune that was killed after it had marked results, before it removed their files; with a mirror in between."""
    place, tools, out = start(folder, "killed")
    batch = ("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/perf")
    for name in pruned:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tools.store / "b/perf" / name, out / name)
    between = run(*batch, PATH=tools.path)
    tap.ok(between.status == 0 and pruned <= set(tools.objects("b/perf")), "objects whose files exist are not removed", between)
    again, result = run("batch", "prune", out, "--keep", 1), run(*batch, PATH=tools.path)
    tap.ok(again.status == result.status == 0 and tools.objects("b/perf") == wanted, "they are after the next prune", again, result)


def check_ends_of_removal(tap, folder, state, command, last, wanted, pruned):
    """The driver is killed, or the helper fails, at each of its starts: before it has done something, halfway, and after it.
    last: the start that removes objects."""
    objects, wanted = wanted
    for how, status in (("kill -9 $PPID; exit 1", -9), ("echo broken >&2; exit 7", 5)):
        for at in range(1, last + 1):
            for when in ("before", "halfway", "after") if at == last else ("before", "after"):
                name = f"{state}, {how.split()[0]} at {at}, {when}"
                place, tools, out = start(folder, name.replace(",", ""), state)
                count = shlex.quote(str(place / "count"))
                stop = f"[ $(/bin/wc -l <{count}) -ne {at} ] || {{ {how}; }}"
                gcloud = tools.log.parent / "gcloud"
                real = place / "gcloud"
                gcloud.rename(real)
                act = {"before": f"{stop}\n{real} \"$@\"", "after": f"{real} \"$@\"\n{stop}",
                       "halfway": f"[ $(/bin/wc -l <{count}) -ne {at} ] || /usr/bin/head -n 3 | {real} \"$@\"\n{stop}\n{real} \"$@\""}
                gcloud.write_text(f"#!/bin/sh\n[ \"$3\" = list ] || echo x >>{count}\n[ \"$3\" != list ] || exec {real} \"$@\"\n{act[when]}\n",
                                  encoding="utf-8")
                gcloud.chmod(0o755)
                words = (*(out if word == "{out}" else word for word in command), "--mirror", "gs://b/perf")
                result = run(*words, PATH=tools.path)
                half = tools.objects("b/perf")
                tap.ok(result.status == (0 if (at, when, status) == (last, "after", 5) else status), f"{name}: it ends", result)
                tap.ok(is_complete(half) and (at == last or pruned <= set(half)), f"{name}: the bucket is complete", sorted(half))
                tap.ok(pruned <= set(half) or all(half[file] == objects[file] for file in objects if file not in pruned),
                       f"{name}: nothing is removed before all is stored", sorted(half))
                result = run(*words, PATH=tools.path)
                tap.ok(result.status == 0 and tools.objects("b/perf") == wanted, f"{name}: completed by the next one",
                       sorted(set(tools.objects("b/perf")) ^ set(wanted)), result)
                shutil.rmtree(place)


def check_prune_itself(tap, folder, root, merged, pruned):
    """The prune removes the objects itself."""
    place, tools, out = start(folder, "itself", "whole")
    prune = ("batch", "prune", out, "--keep", 1, "--mirror")
    before = contents(out)
    result = run(*prune, "gs://b/perf", "--dry-run", PATH=tools.path)
    tap.ok(result.status == 0 and contents(out) == before and not tools.calls(), "--dry-run starts no helper", result)
    result = run(*prune, "/b/perf", PATH=tools.path)
    tap.ok(result.status == 2 and "cannot mirror to '/b/perf'" in result.err and contents(out) == before, "a folder is no mirror", result)
    result = run("batch", "prune", "gs://b/perf", "--keep", 1, PATH=tools.path, cwd=place)
    tap.ok(result.status == 2 and "--mirror gs://b/perf" in result.err, "a bucket is not the folder", result)
    result = run(*prune, "gs://b/perf", PATH=tools.path)
    calls, wanted = tools.calls(), tools.objects("b/perf")
    objects = {name: data for name, data in wanted.items() if not name.endswith("mine.html")}
    tap.ok(result.status == 0 and objects == contents(out) and len(wanted) == len(objects) + 1 and not pruned & set(wanted),
           "a prune removes its objects from the mirror", sorted(set(objects) ^ set(contents(out))), result)
    tap.ok([call[2] for call in calls].count("rm") == 1 and calls[-1][2] == "rm", "last", calls)
    result = run(*prune, "gs://b/perf", PATH=tools.path)
    tap.ok(result.status == 0 and not tools.calls(), "once", result)
    result = run("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/perf", PATH=tools.path)
    tap.ok(result.status == 0 and tools.objects("b/perf") == merged, "the next batch renews the page", result)
    check_ends_of_removal(tap, folder, "whole", ("batch", "prune", "{out}", "--keep", 1), len(calls), (objects, wanted), pruned)


def check_prune_commands(tap, folder, root, pruned):
    """A command of --store is not guessed a helper for, and one of --remove reads addresses."""
    place, tools, out = start(folder, "commands")
    asked = place / "asked"
    (place / "remove").write_text(f"#!/bin/sh\nexec /bin/cat >>{shlex.quote(str(asked))}\n", encoding="utf-8")
    (place / "remove").chmod(0o755)
    batch = ("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/perf", "--store",
             f"{tools.path}/gcloud storage cp --recursive {{folder}}/* {{uri}}/")
    result = run(*batch, PATH=tools.path)
    tap.ok(result.status == 0 and pruned <= set(tools.objects("b/perf")) and "--remove" in result.err and
           f"{len(pruned)} objects of pruned runs stay" in result.err, "without a command, nothing is removed, with a warning", result)
    result = run(*batch, "--remove", f"{place}/remove", PATH=tools.path)
    lines = asked.read_text(encoding="utf-8").splitlines() if asked.exists() else []
    tap.ok(result.status == 0 and sorted(lines) == sorted(f"gs://b/perf/{name}" for name in pruned),
           "a command reads the addresses of the objects", lines, result)
    place, tools, out = start(folder, "other")
    result = run("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/other", PATH=tools.path)
    tap.ok(result.status == 0 and tools.objects("b/other") == contents(out) and pruned <= set(tools.objects("b/perf")),
           "a mirror at another address removes nothing from this one", result)


def check_prune_many(tap, folder, root):
    """More objects than S3 removes at once; the helper fails at the second thousand."""
    tools, out, asked = Gcloud(folder / "tools"), folder / "out", folder / "asked"
    (folder / "remove").write_text(f"#!/bin/sh\n/usr/bin/wc -l >>{shlex.quote(str(asked))}\n[ $(/usr/bin/wc -l <{shlex.quote(str(asked))}) -ne 2 ]\n",
                                   encoding="utf-8")
    (folder / "remove").chmod(0o755)
    batch = ("batch", root, "-o", out, "--format", "csv")
    result = run(*batch)
    first = next(path for path in (out / "runs").rglob("csv") if "2026-11-20" in str(path.parent.name))
    for number in range(1100):
        (first / f"more-{number}.csv").write_text("x", encoding="utf-8")
    batch = (*batch, "--mirror", "gs://b/perf", "--remove", folder / "remove")
    stored_all = run(*batch, PATH=tools.path)
    before = set(contents(out))
    run("batch", "prune", out, "--keep", 1)
    count = len(before - set(contents(out)))
    failed = run(*batch, PATH=tools.path)
    again, last = run(*batch, PATH=tools.path), run(*batch, PATH=tools.path)
    numbers = [int(line) for line in asked.read_text(encoding="utf-8").split()] if asked.exists() else []
    tap.ok(result.status == stored_all.status == 0 and count > 1100 and failed.status == 5 and again.status == last.status == 0 and
           numbers == [1000, count - 1000] * 2, f"{count} objects are removed by two starts", numbers, stored_all, failed, again, last)


def check_faults(tap, folder, root):
    """Each has a message, and the folder stays complete."""
    tools = Gcloud(folder / "tools")
    out = folder / "out"
    result = run("batch", root, "-o", out, *FORMATS, "--mirror", "gs://b/x", "--fetch-timeout", "1s", "--store", "/bin/sleep 60",
                 PATH=tools.path)
    tap.ok(result.status == 5 and "took nothing for 1 seconds" in result.err and "--fetch-timeout" in result.err and
           (out / "index.html").exists(), "a helper that stops", result)
    result = run("batch", root, "-o", out, *FORMATS, "--mirror", "s3://b/x", PATH=tools.path)
    tap.ok(result.status == 5 and "no program for it is installed (aws or rclone)" in result.err and "--store" in result.err,
           "no helper", result)
    result = run("batch", root, "-o", "s3://b/x", PATH=tools.path, cwd=folder)
    tap.ok(result.status == 2 and "--mirror s3://b/x" in result.err and "batch join" in result.err and not (folder / "s3:").exists(),
           "a bucket is not the folder", result)
    result = run("batch", "merge", "gs://b/x", PATH=tools.path, cwd=folder)
    tap.ok(result.status == 2 and "--mirror gs://b/x" in result.err, "nor that of a merge", result)
    result = run("batch", root, "-o", out, "--mirror", "/b/x", PATH=tools.path)
    tap.ok(result.status == 2 and "cannot mirror to '/b/x'" in result.err, "a folder is not a mirror", result)
    tools.calls()
    hostile = tools.store / "b" / "h"
    for name in ("../h-out", "runs/ab/.x", "mirror/aa/" + "0" * 32):
        (hostile / name).parent.mkdir(parents=True, exist_ok=True)
        (hostile / name).write_text("x", encoding="utf-8")
    result = run("batch", root, "-o", folder / "hostile", *FORMATS, "--mirror", "gs://b/h", PATH=tools.path)
    tap.ok(result.status == 0 and not stored(tools.calls(), ["storage", "cat"]) and not (folder / "h-out").exists() and
           not (folder / "hostile/runs/ab/.x").exists(), "objects that no batch has are not restored", result)


def check_s3(tap, folder, root, bucket):
    """The real client; the server fails meanwhile."""
    tools, out = aws_tools(folder / "tools"), folder / "out"
    options = ("batch", root, "-o", out, "--format", "json", "--mirror", "s3://traces/perf")
    with Between(bucket.port, b"") as port:
        result = run(*options, **bucket.settings(tools, port))
        tap.ok(result.status == 3 and "cannot list 's3://traces/perf/'" in result.err, "a connection that is reset", result)
    denied = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    run("batch", root, "-o", out, "--format", "json")
    with Between(bucket.port, b"") as port:
        result = run(*options, **bucket.settings(tools, port))
        tap.ok(result.status == 5 and "cannot store 's3://traces/perf'" in result.err, "likewise at a put", result)
    with Between(bucket.port, denied) as port:
        result = run(*options, **bucket.settings(tools, port))
        tap.ok(result.status == 5 and "cannot store 's3://traces/perf'" in result.err and "403" in result.err, "no access", result)
    result = run("batch", root, "-o", out, "--format", "json", "--mirror", "s3://nowhere/perf", **bucket.settings(tools))
    tap.ok(result.status == 5 and "NoSuchBucket" in result.err, "no such bucket", result)
    tools.calls()
    result = run(*options, **bucket.settings(tools))
    here, starts = contents(out), len(tools.calls())
    tap.ok(starts <= 5 and len(here) > starts, f"{len(here)} objects by {starts} starts of the client")
    try:
        there = {name: bucket.get(f"perf/{name}")[0] for name in here}
    except urllib.error.HTTPError as error:
        there = error
    tap.ok(result.status == 0 and there == here, "all objects are the files", there if isinstance(there, Exception) else "", result)
    tools.calls()
    shutil.rmtree(out)
    result = run(*options, **bucket.settings(tools))
    calls = tools.calls()
    tap.ok(result.status == 0 and contents(out) == here and not stored(calls, ["s3", "cp", "--recursive"]),
           "restored", result, calls)
    tap.ok(len(calls) == 3 and len(here) > 4, f"{len(here)} objects by {len(calls)} starts of the client", calls)


def check_prune_s3(tap, folder, root, bucket):
    """Removed by the real client; the server refuses all, or one object."""
    tools, out = aws_tools(folder / "tools"), folder / "out"
    options = ("batch", root, "-o", out, "--format", "json,text", "--mirror", 's3://traces/a "b"/perf')

    def objects():
        found = ElementTree.fromstring(bucket.get("")[0]).findall(".//{*}Key")
        return {key.text.removeprefix('a "b"/perf/') for key in found if key.text.startswith('a "b"/')}

    result = run(*options, **bucket.settings(tools))
    before = objects()
    tap.ok(result.status == 0 and before == set(contents(out)), "two nights are in a bucket of S3", sorted(before ^ set(contents(out))), result)
    foreign = next(name for name in before if "2026-11-20" in name and name.endswith(".txt")).replace(".txt", "-foreign.txt")
    bucket.put(f'a "b"/perf/{foreign}', b"foreign")
    run("batch", "prune", out, "--keep", 1)
    pruned = before - set(contents(out))
    tools.calls()
    stopped = run(*options, "--remove", "/bin/false", **bucket.settings(tools))
    tap.ok(stopped.status == 5 and "cannot remove objects below 's3://traces/a" in stopped.err and pruned and pruned < objects(),
           "a command that fails removes nothing", stopped)
    refused = (b'<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Error><Key>k</Key><Code>AccessDenied</Code>'
               b"<Message>Access Denied</Message></Error></DeleteResult>")
    head = b"HTTP/1.1 %s\r\nContent-Type: application/xml\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    for name, answer, said in (("all are refused", head % (b"403 Forbidden", 0), "403"),
                               ("one is refused", head % (b"200 OK", len(refused)) + refused, "aws refused: AccessDenied"),
                               ("the connection is reset", b"", "aws failed")):
        with Between(bucket.port, answer) as port:
            result = run(*options, **bucket.settings(tools, port))
        tap.ok(result.status == 5 and "cannot remove objects below" in result.err and said in result.err, name, result)
    tools.calls()
    result = run(*options, **bucket.settings(tools))
    calls = [call[2] for call in tools.calls()]
    tap.ok(result.status == 0 and objects() == set(contents(out)) | {foreign} and calls == ["delete-objects"],
           "the next batch removes them, and nothing else", sorted(objects() ^ set(contents(out))), calls, result)
    shutil.rmtree(out / "mirror")
    shutil.rmtree(out / "runs")
    (out / "manifest.jsonl").unlink()
    result = run(*options, **bucket.settings(tools))
    tap.ok(result.status == 0 and set(contents(out)) == objects(), "a pruned folder is restored", sorted(objects() ^ set(contents(out))), result)


def check_gcloud(tap, folder):
    """Profiles below gs://: listed with generations, fetched once."""
    tools, out = Gcloud(folder / "tools"), folder / "out"
    place = tools.store / "b/night/job/2026-11-20"
    place.mkdir(parents=True)
    shutil.copy(DEMO, place / "h.xplane.pb")

    def batch(name, fetched):
        result = run("batch", "gs://b/night", "-o", out, "--format", "json", PATH=tools.path)
        calls = [call[2] for call in tools.calls()]
        tap.ok(result.status == 0 and calls.count("objects") == 1 and calls.count("cat") == fetched, name, calls, result)

    batch("a root of gs://", 1)
    batch("the same generation is not fetched again", 0)
    shutil.copy(TINY, place / "h.xplane.pb")
    batch("another generation is", 1)
    result = run("report", "gs://b/none.xplane.pb", "-o", folder / "none", PATH=tools.path)
    tap.ok(result.status == 3 and "matched no objects or files: gs://b/none.xplane.pb" in result.err, "the message of gcloud", result)


def main():
    tap = Tap()
    with Scratch() as folder, Bucket() as bucket:
        for name in ("mirror", "restore", "ends", "folders", "prune", "prune-many", "faults", "s3", "prune-s3", "gcloud"):
            (folder / name).mkdir()
        root = make_root(folder / "root")
        check_mirror(tap, folder / "mirror", root)
        check_restore(tap, folder / "restore", root)
        wanted = folder / "wanted"
        run("batch", root, "-o", wanted, *FEWER)
        check_ends(tap, folder / "ends", root, contents(wanted))
        check_ends_of_folders(tap, folder / "folders", root, contents(wanted))
        nights = make_nights(folder / "nights")
        check_prune(tap, folder / "prune", nights)
        check_prune_many(tap, folder / "prune-many", nights / "a")
        check_faults(tap, folder / "faults", root)
        check_s3(tap, folder / "s3", root / "a", bucket)  # one run: each object takes the client a second
        check_prune_s3(tap, folder / "prune-s3", nights / "a", bucket)
        check_gcloud(tap, folder / "gcloud")
    tap.done()


main()
