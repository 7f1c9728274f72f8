"""rank.py - what the ranks of all peers that speak Python share: time, load and the report.

A rank is a process in a network namespace of its own. Of a run's iterations the first three are not
counted: DDP makes its buckets in the first and rearranges them in the second.

In training an iteration begins when the one before has ended, rank 0's time counts, and the sum of the
third is checked. Where gradients are only summed each sum is measured as "poseidon bench sync" does it
(src/cli/chorus.h): all fill their gradients and wait for each other, the time is that from the first rank
that begins to the last that ends, and every sum is checked. Rank 0 prints one line of JSON when the run ends:

    {"program": "PyTorch 2.1", "seconds": [2.05, 2.06], "elapsed": 4.11, "busy": 3.1, "own": 1.4,
     "right": true}

In the elapsed time the machine's processors have worked for "busy" seconds, "own" of them for the ranks'
processes; what the kernel does with packets is often counted for nobody.
"""
import json
import os
import time

WARM = 3  # iterations that are not counted
CHECKED = 2  # the one of them whose sum is looked at in training


class Clock:
    """A device's time line: a layer ends at a fixed time after the iteration's start.

    A host that is late does not stretch it, and sleeping a little too long does not add up."""

    def start(self):
        self.now = time.monotonic()

    def run(self, seconds):
        self.now += seconds
        left = self.now - time.monotonic()
        if seconds and left > 0:
            time.sleep(left)


def busy():
    """Seconds that the processors of the machine have worked, the kernel's network included."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK")


class Measurement:
    """Runs iterations: step runs one, prepare fills the gradients for one that check looks at."""

    def __init__(self, step, barrier, prepare, check):
        self.step, self.barrier, self.prepare, self.check = step, barrier, prepare, check
        self.begins, self.ends, self.right = [], [], True  # of what is counted; on the machine's clock
        self.elapsed = self.busy = self.own = 0.0

    def run(self, iterations, is_training):
        for i in range(WARM + iterations):
            (self.train if is_training else self.sum)(i)
        if is_training:
            self.count()

    def train(self, i):
        if i == CHECKED:
            self.prepare()
        if i <= WARM:
            self.barrier()
        if i == WARM:
            self.note()
        self.iterate(i)
        if i == CHECKED:
            self.right = self.check()

    def sum(self, i):
        self.prepare()
        self.barrier()
        self.note()
        self.barrier()
        self.iterate(i)
        self.barrier()
        if i >= WARM:
            self.count()
        self.right &= self.check()

    def iterate(self, i):
        begin = time.monotonic()
        self.step()
        if i >= WARM:
            self.begins.append(begin)
            self.ends.append(time.monotonic())

    def note(self):
        self.before = time.monotonic(), busy(), time.process_time()

    def count(self):
        """Adds what was done since the note."""
        self.elapsed += time.monotonic() - self.before[0]
        self.busy += busy() - self.before[1]
        self.own += time.process_time() - self.before[2]

    def report(self, program, begins, ends, own, right):
        """The latter four are those of all ranks: the first begins, the last ends."""
        seconds = [end - begin for begin, end in zip(begins, ends)]
        print(json.dumps({"program": program, "seconds": seconds, "elapsed": self.elapsed,
                          "busy": self.busy, "own": own, "right": bool(right)}), flush=True)
