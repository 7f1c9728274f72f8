"""torch_single.py NET LAYOUT BATCH THREADS SECONDS - trains a net with PyTorch, for bench/engine.c.

NET is a net of models/, LAYOUT is contiguous or channels_last. Prints the version, a line after the first
iteration, then images a second over SECONDS and the last loss. Ends with 77 where there is no PyTorch.
Layers, rule, rate, momentum, weight decay and clipping are those of models/; one batch of noise lies in
memory.
"""
import os
import sys
import time

sys.dont_write_bytecode = True

try:
    import torch
except ImportError:
    sys.exit(77)

import prototxt
import torch_net

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models")
SHAPES = {"lenet": (1, 28, 28), "cifar10-quick": (3, 32, 32)}  # others say it in crop_size


def rule_of(solver, parameters):
    """The optimizer that a solver's file asks for."""
    common = {"lr": prototxt.get(solver, "base_lr", 0.0),
              "weight_decay": prototxt.get(solver, "weight_decay", 0.0)}
    if prototxt.get(solver, "type", "SGD") == "RMSProp":
        return torch.optim.RMSprop(parameters, alpha=prototxt.get(solver, "rms_decay", 0.99),
                                   eps=prototxt.get(solver, "delta", 1e-8), **common)
    # Since 2.4 there is an update in one pass over the parameters.
    if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4):
        common["fused"] = True
    return torch.optim.SGD(parameters, momentum=prototxt.get(solver, "momentum", 0.0), **common)


class Training:
    """A net with its solver and its batch."""

    def __init__(self, name, layout, batch):
        source = prototxt.Net(os.path.join(MODELS, name, "train_val.prototxt"))
        shape = SHAPES.get(name, (3, source.side, source.side))
        with open(os.path.join(MODELS, name, "solver.prototxt"), encoding="utf-8") as file:
            solver = prototxt.parse(file.read())
        self.net = torch_net.build(source, shape)
        self.images = torch.randn(batch, *shape)
        self.labels = torch.randint(0, self.net.classes, (batch,))
        if layout == "channels_last":
            self.net = self.net.to(memory_format=torch.channels_last)
            self.images = self.images.to(memory_format=torch.channels_last)
        self.rule = rule_of(solver, self.net.parameters())
        self.most = prototxt.get(solver, "clip_gradients", 0.0)  # norm of all gradients; 0: any

    def iterate(self):
        self.rule.zero_grad(set_to_none=True)
        loss = self.net(self.images, self.labels)
        loss.backward()
        if self.most > 0:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.most)
        self.rule.step()
        return loss


def main(name, layout, batch, threads, seconds):
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    training = Training(name, layout, int(batch))
    print("program PyTorch", torch.__version__)
    training.iterate()
    print("first", flush=True)

    start = time.perf_counter()
    while time.perf_counter() - start < float(seconds) / 4:  # warms up
        training.iterate()
    start, iterations = time.perf_counter(), 0
    while time.perf_counter() - start < float(seconds):
        loss = training.iterate()
        iterations += 1
    print("speed", iterations * int(batch) / (time.perf_counter() - start))
    print("loss", loss.item(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
