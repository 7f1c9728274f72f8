"""description.py - a model as the peers need it: sizes of its parameters, times of its layers.

Reads models/descriptions/NAME.txt, whose form is in poseidon-model(5). Time is shared among layers by
their multiply-adds, one third for forward and two thirds for backward, as Poseidon's profiles do it:

    forward     conv1 | conv2 | fc3
    backward                       fc3 | conv2 | conv1
    gradients                         ^fc3    ^conv2  ^conv1     ready when backward of their layer ends
"""
import math
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(ROOT, "models", "descriptions")

WORD = re.compile(r'"(?:\\.|[^"\\])*"|#.*|\S+')

# PyTorch's rule: a bucket is closed when it has this many bytes, the first one earlier.
FIRST_BUCKET, BUCKET = 1 << 20, 25 << 20


class Layer:
    def __init__(self, name, multiply_adds, sizes):
        self.name, self.multiply_adds = name, multiply_adds
        self.sizes = sizes  # elements of each parameter
        self.forward = self.backward = 0.0  # seconds


class Model:
    def __init__(self, name, path):
        self.name, self.path, self.layers = name, path, []

    def take(self, seconds):
        """Lets an iteration's computing last so long."""
        total = sum(layer.multiply_adds for layer in self.layers)
        for layer in self.layers:
            share = seconds * layer.multiply_adds / total
            layer.forward, layer.backward = share / 3, share * 2 / 3

    def elements(self):
        return sum(sum(layer.sizes) for layer in self.layers)

    def buckets(self):
        """PyTorch's buckets in the order of backward: (elements, seconds until they are ready)."""
        now = sum(layer.forward for layer in self.layers)
        buckets, elements, limit = [], 0, FIRST_BUCKET
        for layer in reversed(self.layers):
            now += layer.backward
            for size in reversed(layer.sizes):
                elements += size
                if elements * 4 >= limit:
                    buckets.append((elements, now))
                    elements, limit = 0, BUCKET
        return buckets + ([(elements, now)] if elements else [])


def product(text):
    return math.prod(int(number) for number in text.split("x"))


def extras(outputs, words):
    """What "bias" or "norm" adds behind a layer's weights."""
    return [outputs] * {"": 0, "bias": 1, "norm": 2}["".join(words)]


def conv(name, outputs, inputs, kernel, size, *rest):
    weights = int(outputs) * int(inputs) * product(kernel)
    return Layer(name, weights * product(size), [weights] + extras(int(outputs), rest))


def fc(name, outputs, inputs, *rest):
    weights = int(outputs) * int(inputs)
    return Layer(name, weights, [weights] + extras(int(outputs), rest))


def layer(name, multiply_adds):
    return Layer(name, float(multiply_adds), [])


def read(model):
    """Reads the description of a name that comes with Poseidon, or a file."""
    kinds = {"conv": conv, "fc": fc, "layer": layer}
    path = model if "/" in model else os.path.join(FOLDER, model + ".txt")
    result = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = [word.strip('"') for word in WORD.findall(line) if word[0] != "#"]
            if not words:
                continue
            if words[0] == "model":
                result = Model(words[1], path)
            elif words[0] == "param":
                result.layers[-1].sizes.append(product(words[2]))
            else:
                result.layers.append(kinds[words[0]](*words[1:]))
    return result
