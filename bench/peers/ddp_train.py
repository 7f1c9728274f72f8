"""ddp_train.py lean|stock|alone NET BATCH WINDOW - a rank that trains with PyTorch until it is ended.

NET is a train_val.prototxt of models/; the batch is noise that lies in memory. SGD has momentum and weight
decay. After iteration 0 and every WINDOW more a line "Iteration N, loss = L" is printed, as Poseidon's are.

stock   is DistributedDataParallel as it comes
lean    has its gradients in the buckets, so that they are not copied back
alone   has nobody to talk to, and no DistributedDataParallel

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are PyTorch's own variables, GLOO_SOCKET_IFNAME names the
interface.
"""
import datetime
import itertools
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

import prototxt
import torch_net


def blas():
    """The library behind matrix products, where it is a file of its own."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {os.path.basename(line.split()[-1]) for line in maps if "blas" in line}
    return next((name for name in sorted(files, reverse=True)), "its own BLAS")


def join(kind, net):
    if kind == "alone":
        return net
    dist.init_process_group("gloo", timeout=datetime.timedelta(hours=1))
    return DDP(net, gradient_as_bucket_view=kind == "lean")


def main(kind, path, batch, window):
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ.get("RANK", "0")))
    source = prototxt.Net(path)
    shape = (3, source.side, source.side)
    net = join(kind, torch_net.build(source, shape))
    images, labels = torch.rand(batch, *shape) * 2 - 1, torch.ones(batch).long()
    # Since 2.4 there is an update in one pass over the parameters.
    one_pass = {"fused": True} if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4) else {}
    solver = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9, weight_decay=5e-4, **one_pass)
    print(f"program: PyTorch {torch.__version__}, {blas()}", flush=True)
    for i in itertools.count():
        solver.zero_grad(set_to_none=True)
        loss = net(images, labels)
        loss.backward()
        solver.step()
        if i % window == 0:
            print(f"Iteration {i}, loss = {loss.item()}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
