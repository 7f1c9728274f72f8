"""hvd_launch.py ADDRESS NAMESPACE=ADDRESS,... ARGUMENT... - starts hvd_rank.py in these namespaces.

Horovod's own launcher speaks ssh, and knows nothing of namespaces. This one runs Horovod's rendezvous
server, which the ranks reach at the first ADDRESS, and gives the ranks the variables that its own would
give. A namespace's name is its host name, too; Horovod has to find an address for it, so each rank sees
an /etc/hosts of ours. It ends when rank 0 does, or a rank fails.
"""
import os
import subprocess
import sys
import tempfile
import time

from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
from horovod.runner.http.http_server import RendezvousServer

HERE = os.path.dirname(os.path.abspath(__file__))

# A cycle of 1 ms and a fusion buffer of 32 MB, unless the environment says otherwise.
TUNED = {"HOROVOD_CYCLE_TIME": "1", "HOROVOD_FUSION_THRESHOLD": str(32 << 20)}


def variables(place, address, port):
    names = {"HOSTNAME": place.hostname, "RANK": place.rank, "SIZE": place.size,
             "LOCAL_RANK": place.local_rank, "LOCAL_SIZE": place.local_size,
             "CROSS_RANK": place.cross_rank, "CROSS_SIZE": place.cross_size,
             "GLOO_RENDEZVOUS_ADDR": address, "GLOO_RENDEZVOUS_PORT": port,
             "CONTROLLER": "gloo", "CPU_OPERATIONS": "gloo", "GLOO_IFACE": "eth0",
             "GLOO_TIMEOUT_SECONDS": 600}
    return {**TUNED, **os.environ, **{"HOROVOD_" + name: str(value) for name, value in names.items()}}


def start(place, hosts, arguments, environment):
    inside = 'hostname "$1"; mount --bind "$2" /etc/hosts; shift 2; exec "$@"'
    return subprocess.Popen(
        ["ip", "netns", "exec", place.hostname, "unshare", "--uts", "--mount", "sh", "-e", "-c", inside,
         "_", place.hostname, hosts, sys.executable, os.path.join(HERE, "hvd_rank.py")] + arguments,
        env=environment)


def wait(ranks):
    """Answers with the status of the first, or of one that fails before; then the others are ended."""
    while ranks[0].poll() is None and not any(rank.poll() for rank in ranks):
        time.sleep(0.1)
    status = next((rank.returncode for rank in ranks if rank.returncode), 0)
    for rank in ranks:
        rank.kill()
        rank.wait()
    return status


def main(address, nodes, arguments):
    names = ",".join(f"{name}:1" for name in nodes)
    places = get_host_assignments(parse_hosts(names), len(nodes), len(nodes))
    server = RendezvousServer(0)
    port = server.start()
    server.init(places)
    with tempfile.NamedTemporaryFile("w") as hosts:
        for name, its_address in dict(nodes, localhost="127.0.0.1").items():
            print(its_address, name, file=hosts, flush=True)
        status = wait([start(place, hosts.name, arguments, variables(place, address, port))
                       for place in places])
    os._exit(1 if status else 0)  # the server's threads do not end


if __name__ == "__main__":
    main(sys.argv[1], dict(node.split("=") for node in sys.argv[2].split(",")), sys.argv[3:])
