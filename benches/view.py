"""How long the viewer takes to its first page, and how much memory, for a run of 20,000 sessions.

    cargo build --release
    cargo build --release -p aske-evidence --example synthetic
    python3 benches/view.py [--program PATH] [--synthetic PATH] [--sessions 20000] [--rounds 7]

The time goes from the start of the process until the page, the runs and the first 100 sessions have come back; it
includes reading the run. Then the same for a search, a filtered list, one session, and the evidence. Needs Python alone.
"""

import argparse
import http.client
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    reply = connection.getresponse()
    body = reply.read()
    assert reply.status == 200, (path, reply.status, body[:200])
    return body


def timed(work):
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def peak(process):
    """Peak resident memory in MB."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return float("nan")


def first_page(program, run):
    """Starts the viewer; returns the process, its port, and the milliseconds to the first page."""
    start = time.perf_counter()
    process = subprocess.Popen([program, "view", run, "--port", "0"], stdout=subprocess.PIPE, text=True)
    address = ""
    while "http://" not in address:
        address = process.stdout.readline()
        assert address, "the viewer ended"
    port = urllib.parse.urlparse(address[address.index("http://"):].split()[0]).port
    for path in ["/", "/style.css", "/app.js", "/api/runs", "/api/sessions?run=0&limit=100"]:
        get(port, path)
    return process, port, 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=RELEASE / "aske")
    parser.add_argument("--synthetic", default=RELEASE / "examples" / "synthetic")
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        subprocess.run([options.synthetic, run, "--sessions", str(options.sessions)], check=True)
        size = os.path.getsize(os.path.join(run, "records.jsonl"))
        print(f"{options.sessions:,} sessions, {size / 1e6:.0f} MB; median of {options.rounds} rounds (least to most)")
        rows = {}
        for _ in range(options.rounds):
            process, port, first = first_page(options.program, run)
            note = lambda name, value: rows.setdefault(name, []).append(value)
            note("first page, ms", first)
            note("peak memory then, MB", peak(process))
            note("search, ms", timed(lambda: get(port, "/api/sessions?q=determinant")))
            note("filtered list, ms", timed(lambda: get(port, "/api/sessions?outcome=too_hard&sort=pair&offset=500")))
            note("one session, ms", timed(lambda: get(port, "/api/session?name=deepseek-r1-1.5b:qwen3-1.7b/0")))
            note("evidence, ms", timed(lambda: get(port, "/api/evidence")))
            note("evidence again, ms", timed(lambda: get(port, "/api/evidence")))
            note("peak memory in the end, MB", peak(process))
            process.terminate()
            process.wait()
        for name, values in rows.items():
            print(f"  {name:28} {statistics.median(values):8.1f}  ({min(values):.1f} to {max(values):.1f})")


if __name__ == "__main__":
    main()
