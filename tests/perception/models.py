"""Small ONNX models of the forms of the YOLO family, for tests: who is a rectangle of one colour, 24 px wide and 48 px high.

A candidate is a window on a lattice of 4 px, and its score for a class is 5 m - 4, at least 0, where m is the mean of that class'
channel in the window: red for the first class, green for the second, blue for the third. So a red rectangle of the window's size
has score 1 in the cell at its middle, 0.58 in those above and below, and less than 0.2 in all others.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save_model

WIDTH, HEIGHT, CELL = 24, 48, 4
NAMES = "{0: 'person', 1: 'car', 2: 'dog'}"


def constant(name, values, kind=np.float32):
    return numpy_helper.from_array(np.asarray(values, kind), name)


def write_model(path, form="v8", rows=96, columns=160, names=NAMES, half=False, objectness=1.0, open_sizes=False, **metadata):
    """Write a model whose output has the form ``v5``, ``v8`` or ``corners``, and return its path."""
    kind, number = (np.float16, TensorProto.FLOAT16) if half else (np.float32, TensorProto.FLOAT)
    x, y = np.meshgrid(np.arange(CELL / 2, columns, CELL), np.arange(CELL / 2, rows, CELL))
    count = x.size
    boxes = np.stack([x.ravel(), y.ravel(), np.full(count, WIDTH), np.full(count, HEIGHT)])
    pads = [(HEIGHT - CELL) // 2, (WIDTH - CELL) // 2] * 2
    pool = {"kernel_shape": [HEIGHT, WIDTH], "strides": [CELL, CELL], "pads": pads, "count_include_pad": 1}
    nodes = [helper.make_node("AveragePool", ["images"], ["means"], **pool)]
    nodes += [
        helper.make_node("Reshape", ["means", "flat"], ["flat_means"]),
        helper.make_node("Mul", ["flat_means", "five"], ["steep"]),
        helper.make_node("Sub", ["steep", "four"], ["signed"]),
        helper.make_node("Relu", ["signed"], ["scores"]),
    ]
    constants = [constant("flat", [1, 3, count], np.int64), constant("five", 5.0, kind), constant("four", 4.0, kind)]
    if form == "corners":
        half_size = np.array([[WIDTH / 2], [HEIGHT / 2]])
        ends = np.concatenate((boxes[:2] - half_size, boxes[:2] + half_size))
        nodes += [
            helper.make_node("ReduceMax", ["scores"], ["best"], axes=[1], keepdims=1),
            helper.make_node("ArgMax", ["scores"], ["which"], axis=1, keepdims=1),
            helper.make_node("Cast", ["which"], ["label"], to=number),
        ]
        parts, constants = ["boxes", "best", "label"], [*constants, constant("boxes", ends[None], kind)]
    elif form == "v5":
        parts = ["boxes", "objectness", "scores"]
        constants += [constant("boxes", boxes[None], kind), constant("objectness", np.full((1, 1, count), objectness), kind)]
    else:
        parts, constants = ["boxes", "scores"], [*constants, constant("boxes", boxes[None], kind)]
    last = "output0" if form == "v8" else "columns"
    nodes += [helper.make_node("Concat", parts, [last], axis=1)]
    if form != "v8":
        nodes += [helper.make_node("Transpose", [last], ["output0"], perm=[0, 2, 1])]
    size = ["height", "width"] if open_sizes else [rows, columns]
    given = helper.make_tensor_value_info("images", number, [1, 3, *size])
    told = helper.make_tensor_value_info("output0", number, [1, None, None])
    graph = helper.make_graph(nodes, "windows", [given], [told], constants)
    return write(path, graph, metadata if names is None else {"names": names} | metadata)


def write(path, graph, metadata=()):
    """Write a graph as a model, and return its path."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, dict(metadata))
    checker.check_model(model)
    save_model(model, path)
    return path


def write_identity(path, shape, kind=TensorProto.FLOAT, inputs=1, output=None):
    """Write a model that returns its first input, or a constant of a shape, and return its path."""
    given = [helper.make_tensor_value_info(f"input{k}", kind, shape) for k in range(inputs)]
    source = helper.make_node("Identity", ["input0"], ["output"])
    constants = []
    if output is not None:
        source = helper.make_node("Identity", ["zeros"], ["output"])
        constants = [constant("zeros", np.zeros(output))]
    told = helper.make_tensor_value_info("output", TensorProto.FLOAT if output is not None else kind, output or shape)
    return write(path, helper.make_graph([source], "identity", given, [told], constants))


def picture(rows, columns, people=(), cars=(), scale=1.0):
    """A black image (rows, columns, 3) with red and green rectangles of the window's size times a scale about middles (x, y)."""
    image = np.zeros((rows, columns, 3), np.uint8)
    for channel, places in enumerate((people, cars)):
        for x, y in places:
            width, height = scale * WIDTH / 2, scale * HEIGHT / 2
            image[max(round(y - height), 0) : round(y + height), max(round(x - width), 0) : round(x + width), channel] = 255
    return image
