"""torch_single.py NET LAYOUT THREADS SECONDS - trains a net with PyTorch, for bench/engine.c.

NET is lenet or cifar10-quick, LAYOUT is contiguous or channels_last. Prints the version, a line
after the first iteration, then images a second over SECONDS and the last
loss. Ends with 77 where there is no PyTorch. The nets and their solvers are those of models/: the
same layers, batches, rates, momentum and weight decay; one batch of noise lies in memory.
"""
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit(77)


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2, 2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(inplace=True), nn.Linear(500, 10))


def cifar10_quick():
    def pool(kind):
        return kind(3, 2, ceil_mode=True)

    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), pool(nn.MaxPool2d), nn.ReLU(inplace=True),
        nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(inplace=True), pool(nn.AvgPool2d),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True), pool(nn.AvgPool2d),
        nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))


# The net, the shape of its batch, its rate and weight decay.
NETS = {"lenet": (lenet, (64, 1, 28, 28), 0.01, 0.0005),
        "cifar10-quick": (cifar10_quick, (100, 3, 32, 32), 0.001, 0.004)}

name, layout, threads, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
make, shape, rate, decay = NETS[name]
torch.set_num_threads(threads)
torch.manual_seed(1)
net = make().train()
images, labels = torch.randn(shape), torch.randint(0, 10, shape[:1])
if layout == "channels_last":
    net = net.to(memory_format=torch.channels_last)
    images = images.to(memory_format=torch.channels_last)

# Since 2.4 there is an update in one pass over the parameters.
one_pass = {"fused": True} if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4) else {}
solver = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9, weight_decay=decay, **one_pass)
loss_of = nn.CrossEntropyLoss()


def iterate():
    solver.zero_grad(set_to_none=True)
    loss = loss_of(net(images), labels)
    loss.backward()
    solver.step()
    return loss


print("program PyTorch", torch.__version__)
iterate()
print("first", flush=True)

start = time.perf_counter()
while time.perf_counter() - start < seconds / 4:  # warms up
    iterate()
start, iterations = time.perf_counter(), 0
while time.perf_counter() - start < seconds:
    loss = iterate()
    iterations += 1
print("speed", iterations * shape[0] / (time.perf_counter() - start))
print("loss", loss.item(), flush=True)
