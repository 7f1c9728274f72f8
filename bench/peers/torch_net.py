"""torch_net.py - a net of models/ as PyTorch has it, written as one who knows PyTorch would.

    prototxt                       PyTorch
    Convolution                    nn.Conv2d
    BatchNorm, Scale               one nn.BatchNorm2d
    ReLU, where it is in place     nn.ReLU(inplace=True)
    Pooling                        nn.MaxPool2d, nn.AvgPool2d; nn.AdaptiveAvgPool2d where it sees all
    Eltwise                        +=, where nobody else needs what is added to
    SoftmaxWithLoss                cross_entropy; the net gives the weighted sum of its losses

Layers run in the order of the file. What no later layer reads is forgotten, so that memory is as little
as autograd needs.
"""
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import skip_init

from prototxt import every, get
from torch_lrn import Norm

IGNORED = ["Accuracy", "Scale"]  # BatchNorm scales already


class Concat(nn.Module):
    def forward(self, *tensors):
        return torch.cat(tensors, 1)


class Sum(nn.Module):
    """Adds to the tensor of this index, or to none."""

    def __init__(self, target):
        super().__init__()
        self.target = target

    def forward(self, *tensors):
        if self.target is None:
            return sum(tensors[1:], tensors[0])
        rest = list(tensors)
        result = rest.pop(self.target)
        for tensor in rest:
            result += tensor
        return result


class Loss(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, scores, labels):
        loss = cross_entropy(scores, labels)
        return loss if self.weight == 1 else self.weight * loss


class Graph(nn.Module):
    """Steps are (module, bottoms, top, blobs that nobody reads later); gives the loss."""

    def __init__(self, steps, losses, classes):
        super().__init__()
        self.inner = nn.ModuleList(step[0] for step in steps)
        self.steps, self.losses, self.classes = steps, losses, classes

    def forward(self, images, labels):
        blobs = {"data": images, "label": labels}
        del images
        for module, bottoms, top, dead in self.steps:
            blobs[top] = module(*[blobs[name] for name in bottoms])
            for name in dead:
                del blobs[name]
        return sum(blobs[name] for name in self.losses)


# --- layers: each function gives the module, and the shape of what it makes of `shape` --------------


def fill(module, layer, kind):
    """Starts from the values that the prototxt asks for."""
    filler = get(layer, kind + ".weight_filler")
    if get(filler, "type") == "gaussian":
        nn.init.normal_(module.weight, std=get(filler, "std", 1.0))
    elif get(filler, "type") == "msra":
        nn.init.kaiming_normal_(module.weight)
    else:
        nn.init.kaiming_uniform_(module.weight, nonlinearity="linear")  # xavier, as Caffe has it
    if module.bias is not None:
        nn.init.constant_(module.bias, get(layer, kind + ".bias_filler.value", 0.0))
    return module


def both(layer, kind, name, default):
    """Of height and width: kernel_h and kernel_w, or kernel_size for both."""
    same = get(layer, f"{kind}.{name}_size" if name == "kernel" else f"{kind}.{name}", default)
    return tuple(get(layer, f"{kind}.{name}_{side}", same) for side in "hw")


def window(layer, kind):
    return both(layer, kind, "kernel", 1), both(layer, kind, "stride", 1), both(layer, kind, "pad", 0)


def convolution(layer, shape):
    kind = "convolution_param"
    kernel, stride, pad = window(layer, kind)
    outputs = get(layer, kind + ".num_output", 0)
    module = skip_init(nn.Conv2d, shape[0], outputs, kernel, stride, pad,
                       groups=get(layer, kind + ".group", 1),
                       bias=get(layer, kind + ".bias_term", "true") == "true")
    sides = [(n + 2 * p - k) // s + 1 for n, k, s, p in zip(shape[1:], kernel, stride, pad)]
    return fill(module, layer, kind), (outputs, *sides)


def side_of_pool(n, kernel, stride, pad):
    """Rounded up, but no window begins behind the image."""
    side = -(-(n + 2 * pad - kernel) // stride) + 1
    return side - 1 if pad and (side - 1) * stride >= n + pad else side


def pooling(layer, shape):
    kernel, stride, pad = window(layer, "pooling_param")
    largest = get(layer, "pooling_param.pool", "MAX") == "MAX"
    whole = kernel == shape[1:] and pad == (0, 0)
    if whole or get(layer, "pooling_param.global_pooling") == "true":
        return (nn.AdaptiveMaxPool2d if largest else nn.AdaptiveAvgPool2d)(1), (shape[0], 1, 1)
    sides = [side_of_pool(*numbers) for numbers in zip(shape[1:], kernel, stride, pad)]
    module = (nn.MaxPool2d if largest else nn.AvgPool2d)(kernel, stride, pad, ceil_mode=True)
    return module, (shape[0], *sides)


def inner_product(layer, shape):
    outputs, inputs = get(layer, "inner_product_param.num_output", 0), torch.Size(shape).numel()
    module = skip_init(nn.Linear, inputs, outputs,
                       bias=get(layer, "inner_product_param.bias_term", "true") == "true")
    fill(module, layer, "inner_product_param")
    return nn.Sequential(nn.Flatten(), module) if len(shape) > 1 else module, (outputs,)


def batch_norm(layer, shape):
    eps = get(layer, "batch_norm_param.eps", 1e-5)
    keep = get(layer, "batch_norm_param.moving_average_fraction", 0.999)
    return nn.BatchNorm2d(shape[0], eps, 1 - keep), shape


def norm(layer, shape):
    return Norm(get(layer, "lrn_param.local_size", 5), get(layer, "lrn_param.alpha", 1.0),
                get(layer, "lrn_param.k", 1.0)), shape


def dropout(layer, shape):
    return nn.Dropout(get(layer, "dropout_param.dropout_ratio", 0.5)), shape


def relu(layer, shape):
    return nn.ReLU(inplace=get(layer, "bottom") == get(layer, "top")), shape


def concat(_, *shapes):
    return Concat(), (sum(shape[0] for shape in shapes), *shapes[0][1:])


def loss_of(layer, shape, _):
    return Loss(get(layer, "loss_weight", 1.0)), ()


KINDS = {"Convolution": convolution, "Pooling": pooling, "InnerProduct": inner_product, "LRN": norm,
         "BatchNorm": batch_norm, "Dropout": dropout, "ReLU": relu, "Concat": concat,
         "SoftmaxWithLoss": loss_of}


# --- the net ----------------------------------------------------------------------------------------


def add_where(layers, index):
    """The bottom of this Eltwise layer that nobody else needs: autograd keeps no result of BatchNorm."""
    for i, name in enumerate(every(layers[index], "bottom")):
        makers = [get(layer, "type") for layer in layers[:index] if get(layer, "top") == name]
        readers = [layer for layer in layers
                   if name in every(layer, "bottom") and get(layer, "top") != name]
        if makers[-1:] == ["BatchNorm"] and len(readers) == 1:
            return i
    return None


def module_of(layers, index, shapes):
    if get(layers[index], "type") == "Eltwise":
        return Sum(add_where(layers, index)), shapes[0]
    return KINDS[get(layers[index], "type")](layers[index], *shapes)


def build(net, shape):
    """The net in training, for images of this shape (channels, height, width)."""
    layers = [layer for layer in net.layers if get(layer, "type") not in IGNORED]
    shapes, steps, losses, classes = {"data": shape, "label": ()}, [], [], 0
    for i, layer in enumerate(layers):
        bottoms, top = every(layer, "bottom"), get(layer, "top")
        module, shapes[top] = module_of(layers, i, [shapes[name] for name in bottoms])
        later = {name for other in layers[i + 1:] for name in every(other, "bottom")}
        steps.append((module, bottoms, top, [name for name in set(bottoms) if name not in later]))
        if get(layer, "type") == "SoftmaxWithLoss":
            losses.append(top)
            classes = shapes[bottoms[0]][0]
    return Graph(steps, losses, classes).train()
