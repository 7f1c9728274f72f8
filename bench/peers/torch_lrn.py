"""torch_lrn.py - LRN across channels, since PyTorch's own takes several times as long: it averages in five
dimensions.
"""
import torch
from torch import nn


class CrossChannelNorm(torch.autograd.Function):
    """x * (k + alpha / n * sum of the squares of n neighbours) ^ -0.75, and its gradient."""

    @staticmethod
    def forward(ctx, x, size, alpha, k):
        scale = neighbours(x * x, size).mul_(alpha / size).add_(k)
        power = scale.rsqrt()
        power.mul_(power.sqrt())
        ctx.save_for_backward(x, scale, power)
        ctx.factor, ctx.size = -2 * 0.75 * alpha / size, size
        return x * power

    @staticmethod
    def backward(ctx, gradient):
        x, scale, power = ctx.saved_tensors
        around = neighbours((gradient * x).mul_(power).div_(scale), ctx.size)
        return around.mul_(x).mul_(ctx.factor).addcmul_(gradient, power), None, None, None


def neighbours(x, size):
    """The sum over `size` channels around each."""
    result = x.clone(memory_format=torch.preserve_format)
    for away in range(1, size // 2 + 1):
        result[:, away:] += x[:, :-away]
        result[:, :-away] += x[:, away:]
    return result


class Norm(nn.Module):
    def __init__(self, size, alpha, k):
        super().__init__()
        self.size, self.alpha, self.k = size, alpha, k

    def forward(self, x):
        return CrossChannelNorm.apply(x, self.size, self.alpha, self.k)
