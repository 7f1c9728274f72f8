"""prototxt.py - a net of models/ with a batch of noise instead of its database.

A file is read into lists of pairs, since names repeat: [("name", "AlexNet"), ("layer", [("name", "data"),
...]), ...]. Words such as MAX stay text.
"""
import re

TOKEN = re.compile(r'#.*|"((?:\\.|[^"\\])*)"|([{}])|([^\s{}:"#]+)\s*:?|:')


def parse(text):
    """The whole of a file, or of what stands between braces."""
    open_lists, name = [[]], None
    for match in TOKEN.finditer(text):
        string, brace, word = match.groups()
        if brace == "{":
            inner = []
            open_lists[-1].append((name, inner))
            open_lists.append(inner)
            name = None
        elif brace == "}":
            open_lists.pop()
        elif string is not None or (word and name):
            open_lists[-1].append((name, word if string is None else string))
            name = None
        elif word:
            name = word
    return open_lists[0]


def get(message, path, default=None):
    """The first value at a path such as convolution_param.group; numbers are numbers."""
    for part in path.split("."):
        message = next((value for name, value in message or [] if name == part), None)
    if message is None:
        return default
    if default is not None and not isinstance(message, list):
        return type(default)(message)
    return message


def every(message, name):
    """All values of this name, in their order."""
    return [value for other, value in message if other == name]


def layers_of(text):
    """(text, message) of each layer."""
    result, depth = [], 0
    for match in re.finditer(r"^layer \{|#.*|[{}]", text, re.M):
        if match[0] == "layer {":
            start, depth = match.start(), 1
        elif match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
            if depth == 0:
                one = text[start:match.end()]
                result.append((one, parse(one)[0][1]))
    return result


NOISE = """layer {{
  name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param {{
    shape {{ dim: {batch} dim: 3 dim: {side} dim: {side} }}
    shape {{ dim: {batch} }}
    data_filler {{ type: "uniform" min: -1 max: 1 }}
    data_filler {{ type: "constant" value: 1 }}
  }}
}}
"""


class Net:
    """What a net trains: its layers behind the data, and the side of the images that it sees."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            phases = layers_of(file.read())
        data = next(message for _, message in phases if get(message, "type") == "Data")
        self.side = get(data, "transform_param.crop_size", 0)
        trained = [(text, message) for text, message in phases if get(message, "type") != "Data"
                   and get(message, "include.phase") != "TEST"]
        self.text = "\n".join(text for text, _ in trained)
        self.layers = [message for _, message in trained]

    def with_noise(self, batch):
        """The prototxt of the net with images of noise, drawn anew for each iteration."""
        return NOISE.format(batch=batch, side=self.side) + self.text
