"""systems.py - Poseidon and its peers: whether they are installed, and one run of each.

Every system gets the same network, gradients and time line. The peers are as fast as we could make them:
Open MPI sums in a ring and sends its messages without puts (with its own choices it needs about twice
the time), Horovod's cycle and buffer are tuned, and DDP has a lean form.
"""
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import description

HERE = description.HERE
BUILD = os.path.join(description.ROOT, "build")
PORT = 29500


class Failed(Exception):
    """A run has no result; the text says why."""


class Cell:
    """What all systems run: a model on some nodes and links, for a number of iterations."""

    def __init__(self, what, model, nodes, bits, seconds, dilate, iterations):
        self.what, self.model, self.nodes = what, model, nodes
        self.bits = bits / dilate  # a second, of each link and way
        self.seconds = seconds * dilate  # that an iteration computes; 0: gradients are only summed
        self.dilate, self.iterations = dilate, iterations
        model.take(self.seconds)


class Run:
    """What a system did in a cell. All seconds are dilated."""

    def __init__(self, program, iterations, right):
        self.program, self.iterations = program, iterations
        self.right = right  # whether its sums are; None: they were not looked at
        self.median = self.least = self.most = 0.0  # seconds of an iteration
        self.bound = self.simulated = None  # the same, where the system can say them
        self.cores = 0.0  # busy on the mean
        self.work = self.own = 0.0  # CPU seconds an iteration: of the machine, of all ranks together


# Milliseconds that a device computes in an iteration, with the batch of the description.
COMPUTE = {"alexnet": 250, "vgg19": 600, "vgg19-22k": 650, "inception-v3": 350, "resnet152": 900}


def compute_seconds(model, given):
    if given is None and model.name not in COMPUTE:
        raise SystemExit(f"compare: how long does {model.name} compute? Say so with --compute")
    return (given or COMPUTE[model.name]) / 1000


def in_namespace(name, command):
    return ["ip", "netns", "exec", name] + command


def last_line(file):
    file.seek(0)
    lines = [line.strip() for line in file.read().splitlines() if line.strip()]
    return lines[-1] if lines else "a process ended without a word"


def run_together(commands, timeout):
    """Runs commands (words, environment) until the first has ended well; answers with what it prints.

    When one fails, or the time is over, all are ended."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        children = [subprocess.Popen(words, env=dict(os.environ, **extra), stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL if i else out, stderr=err,
                                     start_new_session=True)
                    for i, (words, extra) in enumerate(commands)]
        try:
            end = time.monotonic() + timeout
            while children[0].poll() is None:
                if any(child.poll() for child in children):
                    raise Failed(last_line(err))
                if time.monotonic() > end:
                    raise Failed(f"it took more than {timeout:.0f} s")
                time.sleep(0.1)
            if children[0].returncode:
                raise Failed(last_line(err))
            out.seek(0)
            return out.read()
        finally:
            for child in children:
                child.kill()
                child.wait()


def report_of(text):
    """The run that rank 0 of a peer reports (rank.py)."""
    line = next((line for line in text.splitlines() if line.startswith("{")), None)
    if not line:
        raise Failed("it printed no result")
    report = json.loads(line)
    seconds = report["seconds"]
    run = Run(report["program"], len(seconds), report["right"])
    run.median, run.least, run.most = statistics.median(seconds), min(seconds), max(seconds)
    run.cores = report["busy"] / report["elapsed"]
    run.work, run.own = report["busy"] / run.iterations, report["own"] / run.iterations
    return run


def succeeds(words):
    return bool(shutil.which(words[0])) and subprocess.run(
        words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def python_with(module, candidates):
    """The first of these Pythons that has the module; None: no one has."""
    return next((python for python in candidates
                 if python and succeeds([python, "-c", "import " + module])), None)


class Poseidon:
    """poseidon bench, which makes a network of the same shape for itself, and checks every sum; in training
    it updates nothing, so that there is nothing to check."""

    polls = False

    def __init__(self, name, encrypt="off", window="0"):
        self.name, self.encrypt, self.window = name, encrypt, window

    def missing(self):
        self.program = os.environ.get("POSEIDON", os.path.join(BUILD, "gcc", "poseidon"))
        works = succeeds([self.program, "help", "bench"])
        return None if works else f"{self.program} is not there, or has no command bench: make"

    def memory(self, model):
        """Bytes of a node: gradients, values, history."""
        return model.elements() * 12

    def run(self, _, cell, timeout):
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "table.csv")
            words = [self.program, "bench", cell.what, "--model", cell.model.path,
                     "--nodes", str(cell.nodes), "--encrypt", self.encrypt, "--window", self.window,
                     "--iterations", str(cell.iterations), "--csv", table]
            if cell.what == "sync":
                words += ["--bandwidth", f"{cell.bits / 1e6:.6f}Mbit"]
            else:
                words += ["--bandwidth", f"{cell.bits * cell.dilate / 1e6:.6f}Mbit",
                          "--compute", f"{cell.seconds / cell.dilate * 1e6:.0f}us",
                          "--dilate", str(cell.dilate)]
            run_together([(words, {})], timeout)
            with open(table, encoding="utf-8", newline="") as rows:
                row = next(csv.DictReader(rows))
            if float(row["gbit_per_s"]) == 0:
                raise Failed("it could not make network namespaces")
            return self.run_of(row, cell)

    def run_of(self, row, cell):
        """Its milliseconds are not dilated where it is told of a dilation; ours always are. Its CPU
        seconds are per gigabyte: of gradients, or in training of what all nodes send."""
        version = subprocess.run([self.program, "version"], check=True, capture_output=True, text=True)
        is_sync = cell.what == "sync"
        run = Run(version.stdout.splitlines()[0], cell.iterations, True if is_sync else None)
        scale = 1e-3 * (1 if is_sync else cell.dilate)
        run.median = float(row["time_ms" if is_sync else "iteration_ms"]) * scale
        run.least, run.most = float(row["least_ms"]) * scale, float(row["most_ms"]) * scale
        run.cores = float(row["cores"])
        if not is_sync:
            run.bound = float(row["bound_ms"]) * scale
            run.simulated = float(row["simulated_ms"]) * scale
        gigabytes = cell.nodes * float(row["bytes" if is_sync else "sent_bytes"]) / 1e9
        run.work = float(row["cpu_s_per_gb"]) * gigabytes
        run.own = float(row["own_cpu_s_per_gb"]) * gigabytes
        return run


class Ddp:
    """PyTorch's DistributedDataParallel; the variable PYTHON names the Python that has it."""

    polls = False  # whether it keeps processors busy by waiting

    def __init__(self, kind):
        self.kind = kind
        self.name = "ddp" if kind == "lean" else "ddp-stock"

    def missing(self):
        named = os.environ.get("PYTHON")
        self.python = python_with("torch", [named] if named else ["python3", "/usr/bin/python3"])
        return None if self.python else "there is no PyTorch: bench/peers/install"

    def memory(self, model):
        """Bytes of a node: gradients; for stock also buckets, values and history."""
        return model.elements() * (4 if self.kind == "lean" else 16)

    def run(self, network, cell, timeout):
        words = [self.python, os.path.join(HERE, "ddp.py"), self.kind,
                 cell.model.path, repr(cell.seconds), str(cell.iterations)]
        common = {"WORLD_SIZE": str(cell.nodes), "MASTER_ADDR": network.addresses[0],
                  "MASTER_PORT": str(PORT), "GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": "1"}
        return report_of(run_together(
            [(in_namespace(network.names[rank], words), dict(common, RANK=str(rank)))
             for rank in range(cell.nodes)], timeout))


class Horovod:
    polls = True  # it asks for a sum again and again, and yields in between
    name = "horovod"

    def missing(self):
        candidates = [os.environ.get("PYTHON"), os.path.join(BUILD, "horovod", "bin", "python")]
        self.python = python_with("horovod.torch", candidates)
        return None if self.python else "there is no Horovod: bench/peers/install horovod"

    def memory(self, model):
        return model.elements() * 4 + (32 << 20)

    def run(self, network, cell, timeout):
        nodes = [f"{name}={address}" for name, address in zip(network.names, network.addresses)]
        words = [self.python, os.path.join(HERE, "hvd_launch.py"), network.switch_address,
                 ",".join(nodes[:cell.nodes]), cell.model.path,
                 repr(cell.seconds), str(cell.iterations)]
        return report_of(run_together(
            [(in_namespace(network.switch, words), {"OMP_NUM_THREADS": "1"})], timeout))


class OpenMpi:
    polls = True
    name = "openmpi"
    program = os.path.join(BUILD, "peers", "mpi")

    # A ring, chosen by number; send and receive only, without puts; TCP on our network alone.
    options = {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_allreduce_algorithm": "4",
               "btl_tcp_flags": "0x1", "btl": "tcp,self", "pml": "ob1",
               "btl_tcp_if_include": "10.77.0.0/24", "oob_tcp_if_include": "10.77.0.0/24",
               "plm_rsh_agent": os.path.join(HERE, "mpi-agent"), "plm_rsh_no_tree_spawn": "1",
               "mpi_yield_when_idle": "1", "hwloc_base_binding_policy": "none",
               "orte_base_help_aggregate": "0"}

    def missing(self):
        if not shutil.which("mpirun") or not shutil.which("mpicc"):
            return "there is no Open MPI: bench/peers/install"
        os.makedirs(os.path.dirname(self.program), exist_ok=True)
        subprocess.run(["mpicc", "-std=c17", "-D_GNU_SOURCE", "-O2", "-o", self.program,
                        os.path.join(HERE, "mpi.c")], check=True)
        return None

    def memory(self, model):
        return model.elements() * 4

    def run(self, network, cell, timeout):
        hosts = ",".join(address + ":1" for address in network.addresses[:cell.nodes])
        words = ["unshare", "--uts", "sh", "-c", 'hostname "$1"; shift; exec "$@"', "_", network.switch,
                 "mpirun", "--allow-run-as-root", "-np", str(cell.nodes), "--host", hosts, "-x", "PATH"]
        for name, value in self.options.items():
            words += ["--mca", name, value]
        words += [self.program, str(cell.iterations), repr(cell.seconds)]
        words += [f"{elements}@{ready!r}" for elements, ready in cell.model.buckets()]
        return report_of(run_together(
            [(in_namespace(network.switch, words), {"PEERS_PREFIX": network.prefix})], timeout))


class Plain:
    """As many bytes through plain TCP, of which nothing is made (plain.py)."""

    polls = False

    def __init__(self, name, kind):
        self.name, self.kind = name, kind

    def missing(self):
        return None

    def memory(self, model):
        return model.elements() * 8

    def run(self, network, cell, timeout):
        words = [sys.executable, os.path.join(HERE, "plain.py"), self.kind,
                 str(4 * cell.model.elements()), str(cell.iterations)]
        addresses = network.addresses[:cell.nodes]
        return report_of(run_together(
            [(in_namespace(network.names[rank], words + [str(rank)] + addresses), {})
             for rank in range(cell.nodes)], timeout))


def goodput(network):
    """Bytes a second of one plain TCP stream between two nodes."""
    script = [sys.executable, os.path.join(HERE, "goodput.py")]
    listen = script + ["listen", network.addresses[1]]
    send = script + ["send", network.addresses[1], "2"]
    listener = subprocess.Popen(in_namespace(network.names[1], listen), stdout=subprocess.PIPE, text=True)
    try:
        listener.stdout.readline()
        subprocess.run(in_namespace(network.names[0], send), check=True)
        return float(listener.stdout.readline())
    finally:
        listener.kill()
        listener.wait()
