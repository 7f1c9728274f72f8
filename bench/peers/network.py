"""network.py - machines joined by a switch, as network namespaces of this one (root only).

        PREFIX-0           PREFIX-1            ...
     eth0 10.77.0.1     eth0 10.77.0.2
          |                  |                       tbf on both ends of each link: up and down
        PREFIX-sw: bridge 10.77.0.254

The shape, the addresses and the limits of the links are those of poseidon-bench(1), which makes such a
network of its own. All devices live in the namespaces, so nothing of the machine's own network changes but
that everybody may take cubic meanwhile, which all systems send with.
The prefix has the process in it: what a killed run has left behind is removed by the next one, but cubic
stays allowed.
"""
import os
import re
import signal
import subprocess
import time

NAME = "psdpeers"
NET = "10.77.0"
QUEUE = "20ms"
CONTROLS = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)


def namespaces(prefix):
    listing = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listing.splitlines() if line.startswith(prefix)]


def processes(name):
    pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
    return [int(pid) for pid in pids.stdout.split()]


def end_processes(name):
    """Ends what runs in a namespace; we have made it, so it is all ours."""
    for _ in range(50):
        pids = processes(name)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.1)


def remove(names):
    for name in names:
        end_processes(name)
    for name in names:
        subprocess.run(["ip", "netns", "del", name], check=False, stdin=subprocess.DEVNULL)


def remove_abandoned():
    """Removes namespaces of runs that are no more."""
    for name in namespaces(NAME):
        owner = re.match(NAME + r"(\d+)-", name)
        if owner and not os.path.exists(f"/proc/{owner[1]}"):
            remove([name])


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Network:
    """Used as "with Network(nodes) as network": it is gone when the block is left, in whatever way."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.prefix = f"{NAME}{os.getpid()}"
        self.switch = self.prefix + "-sw"
        self.switch_address = NET + ".254"
        self.names = [f"{self.prefix}-{i}" for i in range(nodes)]
        self.addresses = [f"{NET}.{i + 1}" for i in range(nodes)]
        self.controls = None  # what everybody might take before

    def __enter__(self):
        try:
            self._allow_cubic()
            self._add_switch()
            for i in range(self.nodes):
                self._add_node(i)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            remove(namespaces(self.prefix + "-"))
        finally:
            if self.controls:
                write(CONTROLS, self.controls)
                self.controls = None

    def _allow_cubic(self):
        """A namespace may only be set to a congestion control that everybody may take."""
        try:
            with open(CONTROLS, encoding="ascii") as file:
                allowed = file.read().split()
            if "cubic" not in allowed:
                write(CONTROLS, " ".join(allowed + ["cubic"]))
                self.controls = " ".join(allowed)
        except OSError:
            pass  # this kernel has no cubic, or not for us: all have what there is

    def _add_switch(self):
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "set", "lo", "up")
        ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        ip("-n", self.switch, "addr", "add", self.switch_address + "/24", "dev", "br0")
        ip("-n", self.switch, "link", "set", "br0", "up")
        # A switch looks into no packets.
        ip("netns", "exec", self.switch, "sh", "-c",
           "f=/proc/sys/net/bridge/bridge-nf-call-iptables; [ ! -e $f ] || echo 0 >$f || :")

    def _add_node(self, i):
        name, port = self.names[i], f"port{i}"
        ip("netns", "add", name)
        # The kernel's own default, whatever this machine has been set to.
        ip("netns", "exec", name, "sh", "-c",
           "echo cubic >/proc/sys/net/ipv4/tcp_congestion_control || :")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("-n", self.switch, "link", "set", port, "master", "br0", "up")
        ip("-n", name, "addr", "add", self.addresses[i] + "/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")

    def shape(self, bits):
        """Gives each link so many bits a second, each way."""
        for i, name in enumerate(self.names):
            for where, device in ((name, "eth0"), (self.switch, f"port{i}")):
                subprocess.run(["tc", "-n", where, "qdisc", "replace", "dev", device, "root", "tbf",
                                "rate", f"{bits:.0f}bit", "burst", f"{burst(bits)}b",
                                "latency", QUEUE], check=True)

    def end_all(self):
        """Ends whatever still runs in the namespaces."""
        for name in self.names + [self.switch]:
            end_processes(name)


def burst(bits):
    """Bytes that a link may send at once: 0.8 ms of its speed, so that timers need not be finer."""
    return max(128000, int(bits / 8 * 0.0008))
