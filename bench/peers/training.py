"""training.py - runs of real training, one process in each of two namespaces, and what they cost.

    iteration   0   1   2   3   4   5   6   7   8          window 4
    line        *               *               *          rank 0 prints it
                |- not counted -|--- counted ---|          then both processes are ended

Whenever rank 0 prints its line we look at the clock and at the processor time that each thread of both
processes has had (/proc). So a window's processor seconds are known by the names of threads.
"""
import collections
import math
import os
import re
import secrets
import statistics
import subprocess
import tempfile
import threading
import time

import rank
import systems

LINE = re.compile(r"Iteration (\d+)[ ,].*loss = (\S+)")
COMPUTING = ["main", "psd-pool", "psd-feed", "pt_autograd_0"]  # threads; all others communicate
COORDINATOR_PORT = 7070
RANKS = 2

SOLVER = """net: "{net}"
base_lr: 0.0001
momentum: 0.9
weight_decay: 0.0005
lr_policy: "fixed"
display: {window}
max_iter: 1000000
snapshot_after_train: false
solver_mode: CPU
"""


class Cell:
    """What all systems train; windows are counted, but for the first."""

    def __init__(self, model, path, net, batch, window, windows):
        self.model, self.path, self.net, self.batch = model, path, net, batch
        self.window, self.last = window, window * (windows + 1)  # iterations, from 0 on


class Mark:
    """The clock and the processors, when a line was printed."""

    def __init__(self, iteration, pids):
        self.iteration, self.when, self.busy = iteration, time.monotonic(), rank.busy()
        self.threads = collections.Counter()
        for pid in pids:
            self.threads.update(processor_seconds(pid))


class Window:
    """What happened between two marks, in seconds an iteration."""

    def __init__(self, before, after):
        count = after.iteration - before.iteration
        self.seconds = (after.when - before.when) / count
        self.threads = {name: (after.threads[name] - before.threads[name]) / count
                        for name in after.threads}
        self.computing = sum(self.threads.get(name, 0) for name in COMPUTING)
        self.own = sum(self.threads.values())
        self.others = (after.busy - before.busy) / count - self.own


def processor_seconds(pid):
    """By the names of a process's threads; its first is main, however it is called."""
    result = collections.Counter()
    folder = f"/proc/{pid}/task"
    try:
        for task in os.listdir(folder):
            with open(f"{folder}/{task}/comm", encoding="utf-8") as name, \
                    open(f"{folder}/{task}/schedstat", encoding="ascii") as spent:
                known = "main" if int(task) == pid else name.read().strip()
                result[known] += int(spent.read().split()[0]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        pass  # it has ended
    return result


class Run:
    """The windows of one run, and the program as it calls itself."""

    def __init__(self, program, marks):
        self.program = program
        self.windows = [Window(*pair) for pair in zip(marks[1:], marks[2:])]

    def mean(self, name):
        return statistics.mean(getattr(window, name) for window in self.windows)


def watch(children, lines, last):
    """Reads what rank 0 prints until it tells of the last iteration."""
    marks, program, said = [], "", "it printed nothing"
    for line in lines:
        found = LINE.search(line)
        said = line.strip() or said
        if line.startswith("program: "):
            program = line.split(": ", 1)[1].strip()
        if found:
            if not math.isfinite(float(found[2])):
                raise systems.Failed(f"the loss is {found[2]}")
            if any(child.poll() is not None for child in children[1:]):
                raise systems.Failed("rank 1 has ended before rank 0")
            marks.append(Mark(int(found[1]), [child.pid for child in children]))
            if marks[-1].iteration == last:
                return Run(program, marks)
    raise systems.Failed(said)


def run_pair(commands, last, timeout):
    """Runs one command (words, environment) for each rank, until rank 0 tells of the last iteration."""
    children = []

    def kill():
        for child in children:
            child.kill()

    late = threading.Timer(timeout, kill)
    try:
        for i, (words, extra) in enumerate(commands):
            children.append(subprocess.Popen(
                words, env=dict(os.environ, **extra), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if i else subprocess.PIPE,
                stderr=subprocess.DEVNULL if i else subprocess.STDOUT, text=True,
                start_new_session=True))
        late.start()
        return watch(children, children[0].stdout, last)
    finally:
        late.cancel()
        kill()
        for child in children:
            child.wait()


# --- the systems ------------------------------------------------------------------------------------


class Poseidon(systems.Poseidon):
    """poseidon train, invited as "poseidon run" invites its processes; alone: two jobs of one process."""

    def __init__(self, name):
        super().__init__(name, "off")
        self.together = name == "poseidon"

    def write(self, folder, cell):
        net, solver = os.path.join(folder, "net.prototxt"), os.path.join(folder, "solver.prototxt")
        with open(net, "w", encoding="utf-8") as file:
            file.write(cell.net.with_noise(cell.batch))
        with open(solver, "w", encoding="utf-8") as file:
            file.write(SOLVER.format(net=net, window=cell.window))
        with open(os.path.join(folder, "key"), "xb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(secrets.token_bytes(32))
        return [self.program, "train", "--solver", solver, "--worker-threads", "1",
                "--net-encrypt", "off", "--log-level", "info"]

    def invitation(self, network, folder, number):
        if not self.together:
            return {}
        return {"POSEIDON_COORDINATOR": f"tcp://{network.addresses[0]}:{COORDINATOR_PORT}",
                "POSEIDON_RANK": str(number), "POSEIDON_RANKS": str(RANKS), "POSEIDON_JOB": "1",
                "POSEIDON_KEY": "file:" + os.path.join(folder, "key")}

    def run(self, network, cell, timeout):
        with tempfile.TemporaryDirectory() as folder:
            words = self.write(folder, cell)
            run = run_pair([(systems.in_namespace(network.names[number], words),
                             self.invitation(network, folder, number)) for number in range(RANKS)],
                           cell.last, timeout)
        version = subprocess.run([self.program, "version"], check=True, capture_output=True, text=True)
        run.program = version.stdout.splitlines()[0]
        return run


class Ddp(systems.Ddp):
    """PyTorch with DistributedDataParallel, or without."""

    kinds = {"ddp": "lean", "ddp-stock": "stock", "pytorch-alone": "alone"}

    def __init__(self, name):
        super().__init__(self.kinds[name])
        self.name, self.together = name, name != "pytorch-alone"

    def run(self, network, cell, timeout):
        words = [self.python, os.path.join(systems.HERE, "ddp_train.py"), self.kind, cell.path,
                 str(cell.batch), str(cell.window)]
        common = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": network.addresses[0],
                  "MASTER_PORT": str(systems.PORT), "GLOO_SOCKET_IFNAME": "eth0",
                  "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return run_pair([(systems.in_namespace(network.names[number], words),
                          dict(common, RANK=str(number))) for number in range(RANKS)],
                        cell.last, timeout)
