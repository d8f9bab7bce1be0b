"""How long an honest request takes while other clients misbehave, and how much memory the server needs.

    python benches/hostile_clients.py [PROGRAM] [--only view,env,models] [--seconds 6]

Starts `aske view`, `aske serve env` and `aske serve models` with nano models in turn. Of each, honest requests are timed
alone, then with each kind of hostile client, in the same run; the table has the medians, their ratio, and the most memory
that the server held. Hostile clients are a process of their own, which takes processor time from the server as well.
"""

import argparse
import asyncio
import http.client
import json
import os
import resource
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

MODEL = "nano-1m"
ASKED = [{"role": "user", "content": "What is 12 + 7?"}]
TARGET = 3.0
LARGEST = 4 << 20


# ---------------------------------------------------------------- hostile clients

def request(method, path, port, body=b"", more=""):
    kind = "Content-Type: application/json\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{kind}Content-Length: {len(body)}\r\n{more}\r\n".encode() + body


async def connect(port, small=False):
    sock = socket.socket()
    if small:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    return sock


async def forever(one, count):
    """`count` clients that reconnect whenever they are disconnected."""

    async def again():
        while True:
            try:
                await one()
            except OSError:
                await asyncio.sleep(0.05)

    await asyncio.gather(*(again() for _ in range(count)))


async def attack(kind, port, paths):
    loop = asyncio.get_running_loop()
    post, page = paths["post"], paths["page"]
    large = json.dumps(paths["body"] | {paths["field"]: "x" * (LARGEST - 4096)}).encode()

    async def slow_headers():
        sock = await connect(port)
        with sock:
            for byte in request("GET", "/healthz", port, more="X-Slow: " + "x" * 2000 + "\r\n"):
                await loop.sock_sendall(sock, bytes([byte]))
                await asyncio.sleep(0.2)

    async def slow_bodies():
        sock = await connect(port)
        with sock:
            head = request("POST", post, port).replace(b"Content-Length: 0", b"Content-Type: application/json\r\nContent-Length: %d" % LARGEST)
            await loop.sock_sendall(sock, head)
            await asyncio.wait_for(loop.sock_sendall(sock, b" " * (LARGEST - 100)), 30)
            for _ in range(90):
                await asyncio.sleep(0.3)
                await loop.sock_sendall(sock, b" ")

    async def idle():
        sock = await connect(port)
        with sock:
            if not await loop.sock_recv(sock, 1):
                raise OSError("closed")

    async def flood():
        (await connect(port)).close()

    async def huge_bodies():
        sock = await connect(port)
        with sock:
            while True:
                await loop.sock_sendall(sock, request("POST", post, port, large))
                if not await loop.sock_recv(sock, 65536):
                    raise OSError("closed")

    def asks(**more):
        body = json.dumps({"model": MODEL, "messages": ASKED, "ignore_eos": True, "max_tokens": 1400} | more).encode()

        async def one():
            sock = await connect(port)
            with sock:
                await loop.sock_sendall(sock, request("POST", post, port, body))
                if not await loop.sock_recv(sock, 65536):
                    raise OSError("closed")

        return one

    async def pages():
        sock = await connect(port)
        with sock:
            await loop.sock_sendall(sock, request("GET", page, port, more="Connection: close\r\n"))
            while await loop.sock_recv(sock, 1 << 20):
                pass

    async def half_closed():
        sock = await connect(port)
        with sock:
            await loop.sock_sendall(sock, request("GET", page, port))
            sock.shutdown(socket.SHUT_WR)
            await asyncio.sleep(1)

    async def never_reading():
        sock = await connect(port, small=True)
        with sock:
            while True:
                await asyncio.wait_for(loop.sock_sendall(sock, request("GET", page, port)), 30)
                await asyncio.sleep(0.2)

    words = " ".join(["12 + 7"] * 230)
    kinds = {
        "slow headers": (slow_headers, 500),
        "slow bodies": (slow_bodies, 200),
        "idle connections": (idle, 1000),
        "connection flood": (flood, 20),
        "huge bodies": (huge_bodies, 8),
        "n = 128": (asks(n=128), 4),
        "longest prompts": (asks(max_tokens=1, messages=[{"role": "user", "content": words}]), 8),
        "giant prompts": (asks(messages=[{"role": "user", "content": "12 + 7 " * 500_000}]), 8),
        "giant pages": (pages, 100),
        "half-closed": (half_closed, 200),
        "never reading": (never_reading, 100),
    }
    await forever(*kinds[kind])


# ---------------------------------------------------------------- servers

class Server:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *arguments, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.process.stdout.readline().strip()
        self.port = urllib.parse.urlsplit(address).port

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            text = reply.read()
            if reply.status >= 300:
                raise RuntimeError(f"{reply.status} {text[:200]}")
            return json.loads(text or b"null")
        finally:
            connection.close()

    def reset_memory(self):
        try:
            with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
                file.write("5")
        except OSError:
            pass

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))

    def end(self):
        self.process.terminate()
        self.process.wait(30)


class Models(Server):
    kinds = ["slow headers", "slow bodies", "idle connections", "connection flood", "huge bodies", "n = 128", "longest prompts",
             "giant prompts", "half-closed", "never reading"]
    paths = {"post": "/v1/chat/completions", "page": "/v1/models", "body": {"model": MODEL, "messages": ASKED, "max_tokens": 1}, "field": "user"}

    def __init__(self, program, folder):
        super().__init__(program, "serve", "models", MODEL)

    def honest(self):
        body = {"model": MODEL, "messages": ASKED, "max_tokens": 100, "ignore_eos": True, "temperature": 0}
        self.call("POST", "/v1/chat/completions", body)


class Env(Server):
    kinds = ["slow headers", "slow bodies", "idle connections", "connection flood", "huge bodies", "half-closed", "never reading"]
    paths = {"post": "/v1/diversity", "page": "/openapi.json", "body": {"step": 1}, "field": "key"}

    def __init__(self, program, folder):
        super().__init__(program, "serve", "env", "--run", os.path.join(folder, "env"), "--solvers", "nano-250k,nano-1m")

    def honest(self):
        session = self.call("POST", "/v1/sessions", {"pair": "nano-250k:nano-1m"})["session"]
        said = "#Reasoning#\nr\n#Draft#\nd\n#Question#\nWhat is 2 + 3?"
        self.call("POST", f"/v1/sessions/{session}/step", {"turn": 1, "content": said, "finish_reason": "stop"})
        self.call("DELETE", f"/v1/sessions/{session}")


class View(Server):
    kinds = ["slow headers", "slow bodies", "idle connections", "connection flood", "huge bodies", "giant pages", "half-closed", "never reading"]
    paths = {"post": "/api/runs", "page": None, "body": {}, "field": "x"}

    def __init__(self, program, folder):
        run = os.path.join(folder, "run")
        done = subprocess.run([program, "bench", "--config", "nano", "--asker", "staircase", "--pairs", "nano-15k:nano-40k", "--samples", "60", "--run", run], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        # One session with 48 MB of replies.
        with sqlite3.connect(os.path.join(run, "calls.sqlite")) as store:
            number, giant = store.execute("SELECT number, record FROM records WHERE record LIKE '%:%' ORDER BY number LIMIT 1").fetchone()
            replies = store.execute("SELECT count(*) FROM calls WHERE number = ?", [number]).fetchone()[0]
            text = "so $x^2 = 4$ and then\n" * (48_000_000 // replies // 22)
            store.execute("UPDATE calls SET content = ? WHERE number = ?", [text, number])
        self.paths = self.paths | {"page": "/api/session?name=" + urllib.parse.quote(giant, safe="")}
        super().__init__(program, "view", run)
        rows = self.call("GET", "/api/sessions?limit=50")["rows"]
        self.name = next(row["name"] for row in rows if row["name"] != giant)

    def honest(self):
        self.call("GET", "/api/sessions?limit=100")
        self.call("GET", "/api/session?name=" + urllib.parse.quote(self.name, safe=""))


# ---------------------------------------------------------------- the table

def timed(server, count, most):
    """Seconds of honest requests; a failed one counts until a retry succeeds."""
    times, until = [], time.monotonic() + most
    while len(times) < count or (len(times) < 3 * count and time.monotonic() < until):
        begun = time.monotonic()
        while True:
            try:
                server.honest()
                break
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                if time.monotonic() - begun > 60:
                    return times + [float("inf")]
                time.sleep(0.02)
        times.append(time.monotonic() - begun)
        if time.monotonic() > until and len(times) >= 3:
            break
    return times


def measure(server, kind, seconds):
    alone = timed(server, 5, 2)
    server.reset_memory()
    hostile = subprocess.Popen(
        [sys.executable, __file__, "--attack", kind, "--port", str(server.port), "--paths", json.dumps(server.paths)],
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(2)
        beside = timed(server, 7, seconds)
    finally:
        hostile.kill()
        hostile.wait()
    memory = server.memory()
    time.sleep(1)
    return statistics.median(alone), statistics.median(beside), memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="target/release/aske")
    parser.add_argument("--only", default="view,env,models")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--attack")
    parser.add_argument("--port", type=int)
    parser.add_argument("--paths", type=json.loads)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if options.attack:
        asyncio.run(attack(options.attack, options.port, options.paths))
        return
    print("| server | hostile client | alone | beside it | ratio | memory |")
    print("|---|---|---|---|---|---|")
    worst = 0
    for name, kind in {"view": View, "env": Env, "models": Models}.items():
        if name not in options.only.split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            server = kind(options.program, folder)
            try:
                for _ in range(3):
                    server.honest()
                for hostile in kind.kinds:
                    if options.kinds and hostile not in options.kinds.split(","):
                        continue
                    alone, beside, memory = measure(server, hostile, options.seconds)
                    ratio = beside / alone
                    worst = max(worst, ratio)
                    print(f"| {name} | {hostile} | {alone * 1000:.1f} ms | {beside * 1000:.1f} ms | {ratio:.1f} | {memory:.0f} MB |", flush=True)
            finally:
                server.end()
    print(f"\nworst ratio {worst:.1f}; target {TARGET:.0f}", flush=True)


if __name__ == "__main__":
    main()
