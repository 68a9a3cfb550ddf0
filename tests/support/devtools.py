# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, driven through its own DevTools protocol: pages, keys, a pointer, and what a page asks
of the network, says on its console or opens as a dialog.  Texts of JSON over two pipes, each ended by a zero byte."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import time

# The shell first: the same engine without the windows of a browser starts in a third of the time.
BROWSER = next((b for b in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-quic", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe"]
# Layout and scripts as ever, but nothing is painted: half the CPU of a page.  The shell alone can do this.
NO_FRAMES = ["--enable-begin-frame-control", "--run-all-compositor-stages-before-draw"]
SECONDS = 60  # at most for an answer
CHILD_READS, CHILD_WRITES = 3, 4  # the file descriptors that the browser expects
KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""),
        "Home": (36, ""), "End": (35, ""), " ": (32, " "), "/": (191, "/")}
SHIFT = 8


LEFT = "Inspected target navigated or closed"


class DevToolsError(Exception):
    """The browser refused, died or did not answer."""


def _far_pipe():
    """A pipe whose ends lie clear of the numbers that the child gives them."""
    ends = os.pipe()
    far = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return far


class Browser:
    """`with Browser(folder) as browser:`; folder: for its own files.  paints: whether pages are drawn, which only callbacks of
    animation frames, observers and pictures need."""

    def __init__(self, folder, *flags, paints=True):
        self.home = folder / "browser"
        self.paints = paints or BROWSER != "chromium-headless-shell"
        self.flags = [*flags, *([] if self.paints else NO_FRAMES)]
        self.count = 0
        self.rest = b""
        self.answers = {}
        self.pages = {}

    def __enter__(self):
        child_in, self.to = _far_pipe()
        self.source, child_out = _far_pipe()

        def give_ends():
            os.dup2(child_in, CHILD_READS)
            os.dup2(child_out, CHILD_WRITES)

        self.process = subprocess.Popen(
            [BROWSER, *FLAGS, f"--user-data-dir={self.home}", *self.flags, "about:blank"], preexec_fn=give_ends,
            pass_fds=(CHILD_READS, CHILD_WRITES), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(child_in)
        os.close(child_out)
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(timeout=10)
        except (DevToolsError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.source)

    def post(self, method, session=None, **params):
        """Sends and does not wait.  out: the number of the answer"""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.count

    def send(self, method, session=None, **params):
        """out: the result; raises DevToolsError"""
        number = self.post(method, session, **params)
        end = time.monotonic() + SECONDS
        while number not in self.answers:
            self.take(end, method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise DevToolsError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def take(self, end, what):
        """Waits for bytes of the browser and hands on what is whole."""
        if not select.select([self.source], [], [], max(end - time.monotonic(), 0))[0]:
            raise DevToolsError(f"{what}: no answer in time")
        data = os.read(self.source, 1 << 20)
        if not data:
            raise DevToolsError(f"{what}: the browser ended")
        *whole, self.rest = (self.rest + data).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].see(message["method"], message["params"])

    def open_page(self, width=1280, height=900):
        return Page(self, width, height)


class Page:
    """A tab.  requests: addresses that it asked for; said: its console, errors that nothing caught, what its policy
    refused; dialogs: texts."""

    def __init__(self, browser, width, height):
        self.browser = browser
        self.requests, self.said, self.dialogs = [], [], []
        self.loads, self.has_fragment = 0, False
        frames = {} if browser.paints else {"enableBeginFrameControl": True}
        self.target = browser.send("Target.createTarget", url="about:blank", **frames)["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.send("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def see(self, method, params):
        if method == "Page.loadEventFired":
            self.loads += 1
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(params["message"])
            self.browser.post("Page.handleJavaScriptDialog", self.session, accept=False)

    def load(self, path, fragment=""):
        """Opens a file, also one that is open, and waits for its load event; what was seen of pages before is
        forgotten.  From a file to another fragment of it a browser does not load: an empty page lies between."""
        if fragment or self.has_fragment:
            self.go("about:blank")
        self.has_fragment = bool(fragment)
        self.go(path.as_uri() + fragment)

    def go(self, address):
        self.requests, self.said, self.dialogs = [], [], []
        before = self.loads
        end = time.monotonic() + SECONDS
        self.send("Page.navigate", url=address)
        while self.loads == before:
            self.browser.take(end, f"load of {address}")

    def before_load(self, script):
        """Runs in every page from now on, before its own scripts."""
        self.send("Page.addScriptToEvaluateOnNewDocument", source=script)

    def js(self, expression):
        """The value of an expression, awaited; raises DevToolsError where it throws."""
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise DevToolsError(result["exceptionDetails"].get("exception", {}).get("description", "threw"))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=SECONDS):
        """The first value of the expression that is true; the last one after that time.  A page that a link leads away
        from while it is asked has none yet."""
        end, value = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                if value := self.js(expression):
                    break
            except DevToolsError as error:
                if LEFT not in str(error):
                    raise
            time.sleep(0.03)
        return value

    def key(self, key, shift=False):
        code, text = KEYS[key]
        facts = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": SHIFT if shift else 0}
        self.send("Input.dispatchKeyEvent", type="keyDown", **facts, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **facts)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def middle(self, element):
        """Of an element (an expression), scrolled into view: (x, y) in the window, once it stays there: what comes into view
        above it may be laid out then."""
        return self.js(f"""(async () => {{ const e = {element}; let before, at;
            for (let i = 0; i < 50 && String(before) !== String(at) || !at; i++) {{
                before = at;
                e.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                const b = e.getBoundingClientRect();
                at = [b.left + b.width / 2, b.top + b.height / 2];
            }}
            return at; }})()""")

    def point_at(self, element):
        x, y = self.middle(element)
        self.move(x, y)

    def move(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, element):
        x, y = self.middle(element)
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
