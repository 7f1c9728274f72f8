"""emulated.py - a net whose layers sleep, but whose gradients are real buffers.

A layer's function does nothing but wait for its end on the device's time line. Its backward returns no
gradient: that lies in memory already, where the device would have put it, so that no time of the host
is spent on what a device does.
"""
import torch

import rank

clock = rank.Clock()


class Sleep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, layer, *parameters):
        clock.run(layer.forward)
        ctx.layer, ctx.parameters = layer, len(parameters)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        clock.run(ctx.layer.backward)
        return (gradient, None) + (None,) * ctx.parameters


class Layer(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.values = torch.nn.ParameterList(
            [torch.nn.Parameter(torch.empty(size)) for size in layer.sizes])

    def forward(self, x):
        return Sleep.apply(x, self.layer, *self.values)


class Net(torch.nn.Sequential):
    def __init__(self, model):
        super().__init__(*[Layer(layer) for layer in model.layers])


def iterate(net):
    """One forward and backward, whose time line begins now."""
    clock.start()
    net(torch.ones(1, requires_grad=True)).sum().backward()


def fill(gradients, number):
    for gradient in gradients:
        gradient.fill_(number)


def all_are(gradients, number):
    return all(bool((gradient == number).all()) for gradient in gradients)
