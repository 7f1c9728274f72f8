"""ddp.py lean|stock MODEL SECONDS ITERATIONS - a rank of PyTorch's DistributedDataParallel on Gloo.

SECONDS is how long an iteration computes; with 0 only the gradients are summed.

lean    does as little as DDP can: gradients are written into its buckets, the sum is not divided, and
        there is no optimizer. With SECONDS 0 Gloo alone sums DDP's buckets, all of them at once.
stock   is DDP as it comes: gradients are copied into buckets, divided and copied back, and SGD with
        momentum updates the parameters.

compare starts it in a network namespace; RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are PyTorch's own
variables, GLOO_SOCKET_IFNAME names the interface.
"""
import datetime
import inspect
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.parallel import distributed as ddp_module

import description
import emulated
import rank


def without_broadcast():
    """Arguments for DDP that leave out its first broadcast of all parameters, which are never read.

    PyTorch before 2.2 cannot do without; there the broadcast does nothing."""
    if "init_sync" in inspect.signature(DDP.__init__).parameters:
        return {"init_sync": False}
    ddp_module._sync_module_states = lambda **_: None
    return {}


def sum_only(_, bucket):
    """Takes the place of DDP's own hook, which divides first."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


# Each way of running a model answers with a function for one iteration and one for its gradients, which
# lie elsewhere when DDP has rearranged its buckets.


def gloo_alone(model):
    buckets = [torch.zeros(elements) for elements, _ in model.buckets()]

    def step():
        for work in [dist.all_reduce(bucket, async_op=True) for bucket in buckets]:
            work.wait()

    return step, lambda: buckets


def lean(model):
    net = DDP(emulated.Net(model), gradient_as_bucket_view=True, **without_broadcast())
    net.register_comm_hook(None, sum_only)
    return lambda: emulated.iterate(net), lambda: [p.grad for p in net.parameters()]


def stock(model):
    net = emulated.Net(model)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
        torch.nn.init.zeros_(parameter)
    net = DDP(net, **without_broadcast())
    one_pass = {"fused": True} if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4) else {}
    solver = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, **one_pass)

    def step():
        emulated.iterate(net)
        solver.step()

    return step, lambda: [p.grad for p in net.parameters()]


def main(kind, name, seconds, iterations):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(hours=1))
    ranks, mine = dist.get_world_size(), dist.get_rank()
    model = description.read(name)
    model.take(seconds)
    make = stock if kind == "stock" else lean if seconds else gloo_alone
    step, gradients = make(model)
    whole = ranks * (ranks + 1) / 2  # each rank adds its number, from 1 on
    want = whole / ranks if kind == "stock" else whole

    def check():
        right = emulated.all_are(gradients(), want)
        emulated.fill(gradients(), 0)  # sums of sums would leave the range of floats
        return right

    run = rank.Measurement(step, dist.barrier, lambda: emulated.fill(gradients(), mine + 1), check)
    run.run(iterations, is_training=seconds > 0)
    begins, ends, own, right = [torch.tensor(numbers, dtype=torch.float64) for numbers in
                                (run.begins, run.ends, [run.own], [run.right])]
    dist.all_reduce(own)
    dist.all_reduce(right, op=dist.ReduceOp.MIN)
    if not seconds:
        dist.all_reduce(begins, op=dist.ReduceOp.MIN)
        dist.all_reduce(ends, op=dist.ReduceOp.MAX)
    if mine == 0:
        run.report(f"PyTorch {torch.__version__}", begins.tolist(), ends.tolist(), own.item(), right.item())
    else:
        time.sleep(2)  # rank 0 may still read what we have sent
    os._exit(0)  # Gloo's threads do not like to see Python end


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
