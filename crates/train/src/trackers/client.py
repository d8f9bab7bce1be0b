"""Sends the metrics of one training to one experiment tracker. Started by `aske train`.

    python -c SCRIPT check TRACKER          exits with 3 if the package is missing
    python -c SCRIPT run TRACKER STATE      reads lines of JSON: the run, its steps, and the end

STATE is a file of JSON lines that stores the tracker's run and what it has been given, so that a training that is continued
continues the same run and sends nothing twice. stdout answers in JSON lines; everything else goes to stderr.
"""

import json
import os
import signal
import sys
import uuid

# The current folder is no place for packages: W&B stores its runs in a folder `wandb`.
sys.path[:] = [path for path in sys.path if path]


class Wandb:
    @staticmethod
    def check():
        import wandb

        mode = wandb.setup().settings.mode
        try:
            logged_in = mode != "online" or wandb.login(prompt=False, verify=False)
        except TypeError:  # Earlier versions can only ask for a key.
            logged_in = True
        if not logged_in:
            sys.exit("no API key; set WANDB_API_KEY, run `wandb login`, or set WANDB_MODE=offline")

    def __init__(self, start, run):
        import wandb

        project = start["project"] or os.environ.get("WANDB_PROJECT") or "aske"
        self.id = run or uuid.uuid4().hex[:8]
        self.run = wandb.init(
            project=project,
            id=self.id,
            name=start["name"],
            group=start["group"],
            config=start["config"],
            resume="allow",
            settings=wandb.Settings(console="off"),
        )
        self.run.config.update(start["config"], allow_val_change=True)
        self.where = self.run.url or os.path.dirname(self.run.dir)

    def log(self, step, time, metrics):
        self.run.log({**metrics, "_timestamp": time}, step=step, commit=True)

    def summarize(self, step, values):
        self.run.summary.update(values)

    def finish(self, status):
        self.run.finish(exit_code=0 if status == "finished" else 1)


class Mlflow:
    # Longer values and larger batches are rejected by servers of some versions.
    VALUE_LENGTH = 500
    BATCH = 100

    @staticmethod
    def check():
        import mlflow.tracking

        mlflow.tracking.MlflowClient()

    def __init__(self, start, run):
        import mlflow
        from mlflow.entities import Param
        from mlflow.tracking import MlflowClient

        self.client = MlflowClient()
        self.id = run
        if run is None:
            project = start["project"] or os.environ.get("MLFLOW_EXPERIMENT_NAME") or "aske"
            experiment = self.client.get_experiment_by_name(project)
            experiment = experiment.experiment_id if experiment else self.client.create_experiment(project)
            tags = {"group": start["group"]}
            self.id = self.client.create_run(experiment, run_name=start["name"], tags=tags).info.run_id
            name = lambda key: "".join(c if c.isalnum() or c in "_-. /" else "_" for c in key)
            text = lambda value: (value if isinstance(value, str) else json.dumps(value))[: self.VALUE_LENGTH]
            params = [Param(name(key), text(value)) for key, value in start["config"].items()]
            for first in range(0, len(params), self.BATCH):
                self.client.log_batch(self.id, params=params[first : first + self.BATCH])
        else:
            self.client.update_run(self.id, status="RUNNING")
        self.where = f"run {start['name']} at {mlflow.get_tracking_uri()}"

    def log(self, step, time, metrics):
        from mlflow.entities import Metric

        time = int(1000 * time)
        self.client.log_batch(self.id, metrics=[Metric(key, value, time, step) for key, value in metrics.items()])

    def summarize(self, step, values):
        import time

        self.log(step, time.time(), values)

    def finish(self, status):
        statuses = {"finished": "FINISHED", "interrupted": "KILLED", "failed": "FAILED"}
        self.client.set_terminated(self.id, status=statuses[status])


class Trackio:
    @staticmethod
    def check():
        import trackio

    def __init__(self, start, run):
        import trackio

        project = start["project"] or os.environ.get("TRACKIO_PROJECT") or "aske"
        # A run is continued by its name, so names are made unique.
        self.id = run or f"{start['name']}-{uuid.uuid4().hex[:4]}"
        self.run = trackio.init(
            project=project,
            name=self.id,
            group=start["group"],
            config=start["config"],
            resume="allow",
            embed=False,
        )
        self.where = f"run {self.id} of project {project}"

    def log(self, step, time, metrics):
        self.run.log(metrics, step=step)

    def summarize(self, step, values):
        self.run.log(values, step=step)

    def finish(self, status):
        self.run.finish()


TRACKERS = {"wandb": Wandb, "mlflow": Mlflow, "trackio": Trackio}


class State:
    """What the tracker has been given."""

    def __init__(self, path):
        self.run, self.step, self.summary = None, 0, {}
        self.file = open(path, "a+", encoding="utf-8")
        try:
            import fcntl

            # Waits for the process of a killed training, which may still be sending.
            fcntl.flock(self.file, fcntl.LOCK_EX)
        except ImportError:
            pass
        self.file.seek(0)
        for line in self.file:
            try:
                self.__dict__.update(json.loads(line))
            except ValueError:
                pass  # Torn when a process was killed.
        self.file.write("\n")

    def store(self, **values):
        self.__dict__.update(values)
        self.file.write(json.dumps(values) + "\n")
        self.file.flush()


class Sender:
    """Opens the tracker's run when there is something to send, and sends again what has failed."""

    def __init__(self, kind, start, state, tell):
        self.kind, self.start, self.state, self.tell = kind, start, state, tell
        self.tracker, self.unsent = None, []

    def open(self):
        if self.tracker is None:
            tracker = self.kind(self.start, self.state.run)
            self.state.store(run=tracker.id)
            self.tracker = tracker
            self.tell(run=tracker.where)
        return self.tracker

    def send(self):
        while self.unsent:
            step, time, metrics = self.unsent[0]
            if step > self.state.step:
                self.open().log(step, time, metrics)
                self.state.store(step=step)
            self.unsent.pop(0)
            self.tell(step=step)

    def attempt(self, action):
        """Whether it succeeded; tells if not."""
        try:
            action()
            return True
        except Exception as error:
            self.tell(failed=f"{type(error).__name__}: {error}")
            return False

    def summarize(self, values):
        if values and (self.tracker or values != self.state.summary):
            self.open().summarize(self.state.step, values)
            self.state.store(summary=values)

    def run(self, lines):
        if self.state.step < self.start["steps"]:
            self.attempt(self.open)
        end = {"status": "failed", "summary": {}}
        for line in lines:
            message = json.loads(line)
            if "status" in message:
                end = message
                break
            self.unsent.append((message["step"], message["time"], message["metrics"]))
            self.attempt(self.send)
        sent = self.attempt(self.send) and self.attempt(lambda: self.summarize(end["summary"]))
        finished = self.tracker is None or self.attempt(lambda: self.tracker.finish(end["status"]))
        return sent and finished


def main(command, name, path=None):
    kind = TRACKERS[name]
    if command == "check":
        try:
            kind.check()
        except ModuleNotFoundError as error:
            print(error, file=sys.stderr)
            return 3 if error.name == name else 1
        return 0
    # The training says when to end, or ends, and its lines end with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr

    def tell(**answer):
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except OSError:
            pass  # The training was killed; what it has sent is still delivered.

    sender = Sender(kind, json.loads(sys.stdin.readline()), State(path), tell)
    return 0 if sender.run(sys.stdin) else 1


sys.exit(main(*sys.argv[1:]))
