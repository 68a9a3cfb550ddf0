# SPDX-License-Identifier: Apache-2.0
"""Google's store on this machine: the part of its JSON API that `gcloud storage` uses for objects.  Keys, generations and
contents are in memory; requests are recorded, and can be answered with an error, or wait."""

import base64
import datetime
import hashlib
import json
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

API, DOWNLOAD = "/storage/v1/b/", "/download/storage/v1/b/"
UPLOADS = ("/upload/storage/v1/b/", "/resumable/upload/storage/v1/b/")
PAGE = 1000  # objects of a list, as of the store
CRC32C = 0x82F63B78


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (CRC32C if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data):
    """Base64 of the big-endian checksum."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return base64.b64encode((crc ^ 0xFFFFFFFF).to_bytes(4, "big")).decode()


class Stored:
    """An object."""

    def __init__(self, server, bucket, key, data, generation, kind, metadata):
        self.data = data
        path = f"{bucket}/o/{urllib.parse.quote(key, safe='')}"
        self.facts = {
            "kind": "storage#object", "id": f"{bucket}/{key}/{generation}", "selfLink": f"{server}{API}{path}",
            "mediaLink": f"{server}{DOWNLOAD}{path}?generation={generation}&alt=media", "name": key, "bucket": bucket, "generation": str(generation),
            "metageneration": "1", "contentType": kind, "storageClass": "STANDARD", "size": str(len(data)), "crc32c": crc32c(data),
            "md5Hash": base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode(), "etag": f"e{generation}"}
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.facts.update(timeCreated=now, updated=now, timeStorageClassUpdated=now)
        if metadata:
            self.facts["metadata"] = metadata


class Answer(Exception):
    """Ends the handling of a request."""

    def __init__(self, status, body=b"", kind="application/json", headers=()):
        super().__init__(status)
        self.status, self.kind, self.headers = status, kind, dict(headers)
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


def problem(status, message, reason):
    return Answer(status, {"error": {"code": status, "message": message, "errors": [{"message": message, "domain": "global", "reason": reason}]}})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def handle_request(self):
        data = self.body()
        path, _, query = self.path.partition("?")
        arguments = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        store = self.server.store
        store.requests.append(f"{self.command} {urllib.parse.unquote(path)}")
        while store.holds(self.command, urllib.parse.unquote(path)):
            time.sleep(0.05)
        try:
            with store.lock:
                store.answer(self.command, path, arguments, self.headers, data)
        except Answer as answer:
            self.send_response(answer.status)
            for name, value in {"Content-Type": answer.kind, "Content-Length": len(answer.body), **answer.headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(answer.body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_request


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that was ended, or a connection that was reset, on purpose."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class GoogleBucket:
    """`with GoogleBucket() as bucket:` a bucket called "traces".  No other bucket exists."""

    def __init__(self):
        self.lock, self.objects, self.uploads, self.requests = threading.RLock(), {}, {}, []
        self.earlier = None  # a list: objects that are replaced or deleted are kept, as in a bucket with versions
        self.generation, self.page = 1764000000000000, PAGE
        self.refuses = self.holds = lambda method, path: None  # an Answer; whether the request gets no answer meanwhile

    def __enter__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.store = self
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def put(self, key, data, kind="application/octet-stream", metadata=None):
        with self.lock:
            self.retire(key)
            self.generation += 1
            self.objects[key] = Stored(f"http://127.0.0.1:{self.port}", "traces", key, data, self.generation, kind, metadata)
            return self.objects[key]

    def retire(self, key):
        """An object is replaced or deleted."""
        stored = self.objects.pop(key, None)
        if stored and self.earlier is not None:
            stored.facts["timeDeleted"] = stored.facts["updated"]
            self.earlier.append(stored)

    def contents(self, prefix):
        """The objects below a prefix, without it."""
        with self.lock:
            return {key.removeprefix(prefix): stored.data for key, stored in self.objects.items() if key.startswith(prefix)}

    def asked(self):
        """The requests since the last question: method and path."""
        requests, self.requests = self.requests, []
        return requests

    def settings(self, tools, folder, port=None):
        """The environment in which the client finds this server, with its own files in a folder."""
        return {"PATH": tools.path, "CLOUDSDK_CONFIG": folder, "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true", "CLOUDSDK_CORE_PROJECT": "p",
                "CLOUDSDK_CORE_DISABLE_PROMPTS": "1", "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
                "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true", "CLOUDSDK_CORE_DISABLE_FILE_LOGGING": "true",
                "CLOUDSDK_STORAGE_MAX_RETRIES": 1, "CLOUDSDK_STORAGE_BASE_RETRY_DELAY": 0,
                "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": f"http://127.0.0.1:{port or self.port}/storage/v1/"}

    # --- requests ---

    def answer(self, method, path, arguments, headers, data):
        if refusal := self.refuses(method, urllib.parse.unquote(path)):
            raise refusal
        for start in UPLOADS:
            if path.startswith(start):
                self.upload(method, path, path.removeprefix(start).split("/")[0], arguments, headers, data)
        if not path.startswith((API, DOWNLOAD)):
            raise problem(404, "Not Found", "notFound")
        bucket, _, rest = path.removeprefix("/download").removeprefix(API).partition("/")
        if bucket != "traces":
            raise problem(404, "The specified bucket does not exist.", "notFound")
        if not rest:
            raise Answer(200, {"kind": "storage#bucket", "id": bucket, "name": bucket, "location": "EU", "storageClass": "STANDARD",
                               "metageneration": "1", "generation": "1", "projectNumber": "1"})
        if rest == "storageLayout":
            raise Answer(200, {"kind": "storage#storageLayout", "bucket": bucket, "location": "EU", "locationType": "multi-region"})
        if rest == "o" and method == "GET":
            self.list(arguments)
        if rest.startswith("o/"):
            self.act(method, rest.removeprefix("o/"), arguments, headers, data)
        raise problem(404, "Not Found", "notFound")

    def list(self, arguments):
        prefix, delimiter = arguments.get("prefix", ""), arguments.get("delimiter")
        earlier = self.earlier or [] if arguments.get("versions", "").lower() == "true" else []
        found = sorted((stored.facts for stored in [*self.objects.values(), *earlier] if stored.facts["name"].startswith(prefix)),
                       key=lambda facts: (facts["name"], int(facts["generation"])))
        first, most = int(arguments.get("pageToken", 0)), min(int(arguments.get("maxResults", PAGE)), self.page)
        items, folders = [], []
        for facts in found[first:first + most]:
            below = facts["name"].removeprefix(prefix)
            if not delimiter or delimiter not in below:
                items.append(facts)
            elif (folder := prefix + below[:below.index(delimiter) + 1]) not in folders:
                folders.append(folder)
        answer = {"items": items, "prefixes": folders, "nextPageToken": str(first + most) if first + most < len(found) else ""}
        raise Answer(200, {"kind": "storage#objects", **{name: value for name, value in answer.items() if value}})

    def find(self, key, arguments):
        stored = self.objects.get(key)
        if not stored or arguments.get("generation", stored.facts["generation"]) != stored.facts["generation"]:
            raise problem(404, f"No such object: traces/{key}", "notFound")
        return stored

    def act(self, method, name, arguments, headers, data):
        """On one object."""
        if name.endswith("/compose"):
            self.compose(urllib.parse.unquote(name.removesuffix("/compose")), arguments, json.loads(data))
        key = urllib.parse.unquote(name)
        stored = self.find(key, arguments)
        if method == "DELETE":
            self.retire(key)
            raise Answer(204)
        if method == "PATCH":
            stored.facts.update(json.loads(data))
        if arguments.get("alt") != "media":
            raise Answer(200, stored.facts)
        extent = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("Range", ""))
        more = {"X-Goog-Generation": stored.facts["generation"], "ETag": stored.facts["etag"],
                "X-Goog-Hash": f"crc32c={stored.facts['crc32c']},md5={stored.facts['md5Hash']}"}
        if not extent:
            raise Answer(200, stored.data, stored.facts["contentType"], more)
        start, size = int(extent[1]), len(stored.data)
        if start >= size:
            raise Answer(416, b"", headers={"Content-Range": f"bytes */{size}"})
        end = min(int(extent[2] or size - 1), size - 1)
        raise Answer(206, stored.data[start:end + 1], stored.facts["contentType"], {**more, "Content-Range": f"bytes {start}-{end}/{size}"})

    def keep(self, key, data, facts, arguments):
        wanted = arguments.get("ifGenerationMatch")
        present = self.objects[key].facts["generation"] if key in self.objects else "0"
        if wanted is not None and wanted != present:
            raise problem(412, "At least one of the pre-conditions you specified did not hold.", "conditionNotMet")
        stored = self.put(key, data, facts.get("contentType", "application/octet-stream"), facts.get("metadata"))
        if facts.get("md5Hash", stored.facts["md5Hash"]) != stored.facts["md5Hash"]:
            del self.objects[key]
            raise problem(400, "Provided MD5 hash does not match calculated MD5 hash.", "invalid")
        raise Answer(200, stored.facts)

    def compose(self, key, arguments, request):
        parts = [self.find(source["name"], source) for source in request["sourceObjects"]]
        self.keep(key, b"".join(part.data for part in parts), request.get("destination", {}), arguments)

    def upload(self, method, path, bucket, arguments, headers, data):
        if method == "PUT" or "upload_id" in arguments:
            self.resume(arguments["upload_id"], headers, data)
        if bucket != "traces":
            raise problem(404, "The specified bucket does not exist.", "notFound")
        if arguments.get("uploadType") == "multipart":
            mark = re.search(r"boundary=[\"']?([^\"';]+)", headers["Content-Type"])[1].encode()
            head, content = (part.split(b"\n", 1)[1].partition(b"\n\n" if b"\r\n\r\n" not in part else b"\r\n\r\n")[2]
                             for part in data.split(b"--" + mark)[1:3])
            content = content.removesuffix(b"\n").removesuffix(b"\r")
            facts = json.loads(head)
            self.keep(facts["name"], content, facts, arguments)
        facts = json.loads(data or b"{}")
        key = arguments.get("name", facts.get("name"))
        if arguments.get("uploadType") == "media":
            self.keep(key, data, {}, arguments)
        number = f"u{len(self.uploads)}"
        self.uploads[number] = [key, facts, arguments, b""]
        raise Answer(200, headers={"Location": f"http://{headers['Host']}{path}?uploadType=resumable&upload_id={number}"})

    def resume(self, number, headers, data):
        upload = self.uploads[number]
        extent = re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", headers.get("Content-Range", ""))
        if not extent:
            self.keep(upload[0], data, upload[1], upload[2])
        if extent[1]:
            upload[3] = upload[3][:int(extent[1])] + data
        if extent[3] != "*" and int(extent[3]) == len(upload[3]):
            self.keep(upload[0], upload[3], upload[1], upload[2])
        raise Answer(308, headers={"Range": f"bytes=0-{len(upload[3]) - 1}"} if upload[3] else {})
