"""hvd_rank.py MODEL SECONDS ITERATIONS - a rank of Horovod on Gloo, started by hvd_launch.py.

SECONDS is how long an iteration computes; with 0 only the gradients are summed, in PyTorch's buckets.
Otherwise Horovod's DistributedOptimizer sums each gradient in its place as backward makes it. The sum is
not divided, and no update is made.
"""
import sys

import horovod
import horovod.torch as hvd
import torch

import description
import emulated
import rank


def sums_alone(model):
    buckets = [torch.zeros(elements) for elements, _ in model.buckets()]

    def step():
        handles = [hvd.allreduce_async_(bucket, name=f"bucket{i}", op=hvd.Sum)
                   for i, bucket in enumerate(buckets)]
        for handle in handles:
            hvd.synchronize(handle)

    return step, buckets


def training(model):
    net = emulated.Net(model)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    solver = hvd.DistributedOptimizer(torch.optim.SGD(net.parameters(), lr=0.01),
                                      named_parameters=net.named_parameters(), op=hvd.Sum)

    def step():
        emulated.iterate(net)
        solver.synchronize()

    return step, [p.grad for p in net.parameters()]


def main(name, seconds, iterations):
    hvd.init()
    torch.set_num_threads(1)
    model = description.read(name)
    model.take(seconds)
    step, gradients = training(model) if seconds else sums_alone(model)

    def barrier():
        hvd.allreduce(torch.zeros(1), name="barrier")

    def check():
        right = emulated.all_are(gradients, hvd.size() * (hvd.size() + 1) / 2)
        emulated.fill(gradients, 0)  # sums of sums would leave the range of floats
        return right

    run = rank.Measurement(step, barrier, lambda: emulated.fill(gradients, hvd.rank() + 1), check)
    run.run(iterations, is_training=seconds > 0)
    begins, ends, own, right = [torch.tensor(numbers, dtype=torch.float64) for numbers in
                                (run.begins, run.ends, [run.own], [run.right])]
    own = hvd.allreduce(own, name="own", op=hvd.Sum)
    right = hvd.allreduce(right, name="right", op=hvd.Min)
    if not seconds:
        begins = hvd.allreduce(begins, name="begins", op=hvd.Min)
        ends = hvd.allreduce(ends, name="ends", op=hvd.Max)
    if hvd.rank() == 0:
        run.report(f"Horovod {horovod.__version__}", begins.tolist(), ends.tolist(), own.item(),
                   right.item())
    barrier()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
