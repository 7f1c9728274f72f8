"""rank.py - what the ranks of all peers that speak Python share: time, load and the report.

A rank is a process in a network namespace of its own. Of a run's iterations the first three are not
counted: DDP makes its buckets in the first and rearranges them in the second, and the sum is checked in
the third. In training an iteration begins when the one before has ended, and rank 0's time counts; where
gradients are only summed, a barrier stands before each, and the slowest rank's time counts. Rank 0 prints
one line of JSON when the run ends:

    {"program": "PyTorch 2.1", "seconds": [2.05, 2.06], "elapsed": 4.11, "busy": 3.1, "own": 1.4,
     "right": true}

In the elapsed time the machine's processors have worked for "busy" seconds, "own" of them for the ranks'
processes; what the kernel does with packets is often counted for nobody.
"""
import json
import os
import time

WARM = 3  # iterations that are not counted
CHECKED = 2  # the one of them whose sum is looked at


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
    """Runs iterations: step runs one, prepare fills the gradients for the one that check looks at."""

    def __init__(self, step, barrier, prepare, check):
        self.step, self.barrier, self.prepare, self.check = step, barrier, prepare, check

    def run(self, iterations, barriers):
        self.seconds = [self.iterate(i, barriers or i <= WARM) for i in range(WARM + iterations)][WARM:]
        self.elapsed = time.monotonic() - self.began
        self.busy = busy() - self.load
        self.own = time.process_time() - self.own

    def iterate(self, i, barrier):
        if i == CHECKED:
            self.prepare()
        if barrier:
            self.barrier()
        if i == WARM:
            self.load, self.own, self.began = busy(), time.process_time(), time.monotonic()
        start = time.monotonic()
        self.step()
        took = time.monotonic() - start
        if i == CHECKED:
            self.right = self.check()
        return took

    def report(self, program, seconds, own, right):
        """The latter three are those of all ranks."""
        print(json.dumps({"program": program, "seconds": seconds, "elapsed": self.elapsed,
                          "busy": self.busy, "own": own, "right": bool(right)}), flush=True)
