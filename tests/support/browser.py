"""Drives a headless Chromium through its debugging pipe: file descriptors 3 and 4, messages ended
by a zero. Needs Python's own modules only.
SPDX-License-Identifier: BSD-2-Clause
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# Asks for a key picture on the WebRTC connection `peer`, as a browser that lost too much does
# (PLI). Only a worker may ask; it passes all frames on.
ASK_FOR_KEY_PICTURE = """new Promise((done, failed) => {
    const text = `onrtctransform = async event => {
        const t = event.transformer;
        t.readable.pipeTo(t.writable);
        postMessage(await t.sendKeyFrameRequest().then(() => "", String));
    }`;
    const worker = new Worker(URL.createObjectURL(new Blob([text])));
    worker.onmessage = event => event.data ? failed(event.data) : done();
    peer.getReceivers()[0].transform = new RTCRtpScriptTransform(worker);
})"""


def find_chromium():
    for name in (os.environ.get("MOTUS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One page; `more` are further options for the program. Errors of the page's script and console
    messages of level error are collected in `errors`."""

    def __init__(self, program, *more):
        self.profile = tempfile.mkdtemp(prefix="motus-browser-")
        self.errors, self.requests, self.number, self.buffer, self.session = [], [], 0, b"", None
        (child_in, self.out), (self.inp, child_out) = os.pipe(), os.pipe()
        # Moved away from 3 and 4 first: either may be the other's place.
        child_in, child_out = self._high(child_in), self._high(child_out)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--disable-extensions", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-component-update",
                   "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
                   f"--user-data-dir={self.profile}", *more, "about:blank"]

        def wire():
            os.dup2(child_in, 3)
            os.dup2(child_out, 4)

        self.process = subprocess.Popen([program, *options], preexec_fn=wire, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(child_in)
        os.close(child_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @staticmethod
    def _high(fd):
        import fcntl
        high = fcntl.fcntl(fd, fcntl.F_DUPFD, 10)
        os.close(fd)
        os.set_inheritable(high, True)
        return high

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- Messages --------------------------------------------------------------------------------

    def _message(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.inp, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        kind, p = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.errors.append(d.get("exception", {}).get("description") or d["text"])
        elif kind == "Runtime.consoleAPICalled" and p["type"] in ("error", "assert", "warning"):
            self.errors.append(" ".join(str(a.get("value", a.get("description")))
                                        for a in p["args"]))
        elif kind == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.errors.append(p["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"][:100])

    def call(self, method, timeout=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        until = time.monotonic() + timeout
        while True:
            answer = self._message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    # ---- What a test does ------------------------------------------------------------------------

    def run(self, script):
        """The value of a script's last expression; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            d = result["exceptionDetails"]
            raise AssertionError(d.get("exception", {}).get("description") or d["text"])
        return result["result"].get("value")

    def wait_for(self, condition, seconds=30):
        until = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > until:
                raise AssertionError(f"waited for {condition}")
            time.sleep(0.05)

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait_for("document.documentElement?.dataset.ready === 'yes'")

    def mouse(self, x, y, click=False):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key, code=0, text=None):
        extra = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code,
                  **extra)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
