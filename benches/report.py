"""How fast a run's log is read, and how long a report of 1,900 sessions takes.

    cargo build --release && cargo build --release -p aske-evidence --examples
    python3 benches/report.py [--sessions 1900] [--log 20000] [--rounds 5]

Reading the log is compared with Python's json reading the same file in the same run. The report is the whole command
`aske report RUN --html FILE`, from its start to its end. Needs Python alone.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def synthetic(folder, sessions, *options):
    subprocess.run(
        [RELEASE / "examples" / "synthetic", folder, "--sessions", str(sessions), *options],
        check=True, stdout=subprocess.DEVNULL,
    )
    return folder


def python_scan(path):
    start = time.perf_counter()
    with open(path, "rb") as lines:
        for line in lines:
            json.loads(line)
    return path.stat().st_size / 1e6 / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1900)
    parser.add_argument("--log", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        log = synthetic(folder / "log", arguments.log)
        ours = subprocess.run(
            [RELEASE / "examples" / "scan", log, str(arguments.rounds)], check=True, capture_output=True, text=True
        ).stdout.strip()
        peer = python_scan(log / "records.jsonl")
        rate = float(ours.split()[-2])
        print(f"log: {ours}; json in Python {peer:.0f} MB/s; ratio {rate / peer:.1f}")

        run = synthetic(folder / "run", arguments.sessions, "--calls")
        page = folder / "report.html"
        times = []
        for _ in range(arguments.rounds):
            start = time.perf_counter()
            subprocess.run([RELEASE / "aske", "report", run, "--html", page], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        size = page.stat().st_size / 1e6
        print(
            f"report: {arguments.sessions} sessions, median {statistics.median(times):.2f} s "
            f"({min(times):.2f} to {max(times):.2f}), {size:.2f} MB"
        )


if __name__ == "__main__":
    main()
