"""Detection of people in images with a YOLO model from an ONNX file that the user supplies.

An image is fitted to the model's input as in the YOLO programs: uniform scale, bilinear interpolation, grey borders, RGB values in
0..1. Three output formats are distinguished by their shape (`_rows`):

- YOLOv5, v6 and v7: one row per candidate, with centre, size, objectness and a score per class.
- YOLOv8, v9 and 11: the same values without objectness, transposed.
- Models with built-in non-maximum suppression (YOLOv10, 26, exports with ``nms=True``): one row per box, with corners, confidence
  and class.

Non-maximum suppression is greedy, as in P. F. Felzenszwalb et al., "Object detection with discriminatively trained part-based
models", IEEE Transactions on Pattern Analysis and Machine Intelligence 32(9), 2010, but uses intersection over union.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from agora.core.jit import lean, lean_kernel
from agora.core.scalar import HALF, ONE, ZERO, F
from agora.core.state import Array, Floats, Ints
from agora.errors import InputError, UnknownNameError, reading, similar
from agora.extras import missing
from agora.ranges import Chance, Checked, Natural

__all__ = ["FindsPeople", "ImageDetector"]

_GREY = F(114.0 / 255.0)  # grey of the borders; YOLO models are trained with this value
_FULL = F(1.0 / 255.0)
_PRECISIONS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
_LARGEST = 8192  # maximum side of a model's input, px
_ERRORS_ALONE = 3  # ONNX Runtime's log level for errors only
_STRIDES = ((8, 16, 32), (8, 16, 32, 64))  # strides of the grids of YOLO models, and of the larger models, px


class Boxes(NamedTuple):
    """Bounding boxes of the objects in an image, most confident first.

    Attributes:
        corners: (K, 4) left, top, right and bottom edge, px; the outer corner of the first pixel is (0, 0).
        confidence: (K,) confidence in 0..1.
        label: (K,) index of the class.
    """

    corners: Floats
    confidence: Floats
    label: Ints

    def at(self, which: Array) -> Boxes:
        """Return the boxes with the given indices."""
        return Boxes(self.corners[which], self.confidence[which], self.label[which])


class FindsPeople(Protocol):
    """A detector of people in images."""

    def detect(self, image: Array) -> Boxes:
        """Return the boxes of people in an RGB image (rows, columns, 3) uint8."""
        ...


def checked(image: Array) -> Array:
    """Return an image as a contiguous array.

    Raises:
        InputError: the image is not an array (rows, columns, 3) of uint8.
    """
    image = np.ascontiguousarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise InputError(f"image: expected (rows, columns, 3) of uint8, got {image.shape} of {image.dtype}")
    return image


class Fit(NamedTuple):
    """Placement of an image within a model's input, px."""

    left: int
    top: int
    width: int
    height: int

    @staticmethod
    def of(image: tuple[int, int], room: tuple[int, int]) -> Fit:
        """Return the largest centred placement of an image (rows, columns) in an input (rows, columns) at the same aspect ratio."""
        scale = min(room[0] / image[0], room[1] / image[1])
        height, width = (max(1, min(room[k], round(image[k] * scale))) for k in (0, 1))
        return Fit((room[1] - width) // 2, (room[0] - height) // 2, width, height)


@dataclass(frozen=True)
class ImageDetector(Checked):
    """Detects people in images with a YOLO model.

    Attributes:
        file: ONNX file of a YOLO detection model (not segmentation or pose estimation), exported with the model's own tools.
        classes: classes that count as people: names, if the file names its classes, or indices.
        confidence: minimum confidence, in 0..1.
        overlap: intersection over union above which the less confident of two boxes of the same class is dropped.
        most: maximum number of boxes per image.
        size: side of the model's input, px, if the file does not fix it.
        threads: number of threads that the model may use.
    """

    file: str | Path
    classes: tuple[str | int, ...] = ("person",)
    confidence: Chance = 0.5
    overlap: Chance = 0.45
    most: Natural = 64
    size: Natural = 640
    threads: Natural = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.classes:
            raise ValueError("classes: must contain at least one class")

    def detect(self, image: Array) -> Boxes:
        """Return the boxes of people in an RGB image (rows, columns, 3) uint8.

        Raises:
            InputError: the image has another shape or type; or, at the first call, the file is not a usable model or ONNX Runtime
                is not installed.
        """
        image = checked(image)
        model, shape = self.model, (image.shape[0], image.shape[1])
        fit = Fit.of(shape, model.room)
        given = np.zeros((3, *model.room), np.float32)
        letterbox(image, fit, given, 0, model.room[0])
        seen = candidates(model.run(given), len(model.names) or None, model.room)
        chosen = (seen.confidence >= F(self.confidence)) & np.isin(seen.label, model.chosen)
        seen = suppressed(seen.at(np.flatnonzero(chosen)), self.overlap, self.most)
        return Boxes(_onto_image(seen.corners, fit, shape), seen.confidence, seen.label)

    @cached_property
    def model(self) -> YoloModel:
        """The model, loaded from the file on first use.

        Raises:
            InputError: as for `detect`.
        """
        with reading(self.file, "an ONNX model for detection"):
            return YoloModel(Path(self.file), self.classes, self.size, self.threads)


class YoloModel:
    """A YOLO model that has been checked and run once.

    Attributes:
        room: size (rows, columns) of the model's input, px.
        names: names of the model's classes; () if the file does not name them.
        chosen: indices of the requested classes.
    """

    def __init__(self, file: Path, classes: Sequence[str | int], size: int, threads: int) -> None:
        self._file = file
        self._session = _session(file, threads)
        self._input, self._precision, self.room = self._understand(size)
        self.names = self._read_names()
        shape = self.run(np.zeros((3, *self.room), np.float32)).shape
        try:
            _, count = _rows(shape, len(self.names) or None, self.room)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
        self.chosen = [self._number(label, count) for label in classes]

    def run(self, image: Floats) -> Floats:
        """Return the model's output (1, ?, ?) for an image (3, rows, columns) of the size ``room``; can be called concurrently.

        Raises:
            InputError: the model fails, or none of its outputs has this shape.
        """
        given = {self._input: image[None].astype(self._precision, copy=False)}
        try:
            outputs = self._session.run(None, given)
        except Exception as error:  # noqa: BLE001 ONNX Runtime's have nothing in common
            raise InputError(f"{self._file}: the model failed: {_first_line(error)}") from error
        shapes = [tuple(getattr(output, "shape", ())) for output in outputs]
        for output, shape in zip(outputs, shapes, strict=True):
            if len(shape) == 3 and shape[0] == 1:
                return np.asarray(output, np.float32)
        raise InputError(
            f"{self._file}: expected an output of shape (1, candidates, columns) or (1, rows, candidates), got {shapes}"
        )

    def _understand(self, size: int) -> tuple[str, Any, tuple[int, int]]:
        """Return the name, type and size (rows, columns) of the model's input."""
        inputs = self._session.get_inputs()
        shapes = [(i.shape, i.type) for i in inputs]
        expected = "one input (1, 3, rows, columns) of float32 or float16"
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in _PRECISIONS:
            raise InputError(f"{self._file}: expected {expected}, got {shapes}")
        batch, channels, rows, columns = (n if isinstance(n, int) else 0 for n in inputs[0].shape)  # str or None: dynamic
        if batch not in (0, 1) or channels not in (0, 3):
            hint = "; export it with channels first" if columns == 3 else ""
            raise InputError(f"{self._file}: expected {expected}, got {shapes}{hint}")
        if max(rows, columns) > _LARGEST:
            raise InputError(f"{self._file}: takes images of {rows} x {columns} px; expected at most {_LARGEST} per side")
        return inputs[0].name, _PRECISIONS[inputs[0].type], (rows or size, columns or size)

    def _read_names(self) -> tuple[str, ...]:
        """Return the class names, which YOLO exports store as a Python literal: a list, or a dict keyed by index."""
        told = self._session.get_modelmeta().custom_metadata_map
        if (task := told.get("task", "detect")) != "detect":
            raise InputError(f"{self._file}: expected a model for detection, got one for {task!r}")
        if "names" not in told:
            return ()
        try:
            names = ast.literal_eval(told["names"])
            named = dict(names) if isinstance(names, dict) else dict(enumerate(names))
            return tuple(str({int(k): v for k, v in named.items()}[k]) for k in range(len(named)))
        except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError) as error:
            raise InputError(f"{self._file}: the names of its classes cannot be read: {told['names'][:60]!r}") from error

    def _number(self, label: str | int, count: int | None) -> int:
        """Return the index of a class given by name or index."""
        if isinstance(label, str) and not self.names:
            raise InputError(
                f"{self._file}: does not name its classes, so {label!r} cannot be found; give the numbers of "
                "the classes of people (with the 80 classes of COCO: classes=(0,))"
            )
        if isinstance(label, str):
            if label not in self.names:
                raise UnknownNameError(f"class of {self._file}", label, self.names)
            return self.names.index(label)
        if not 0 <= label < (math.inf if count is None else count):
            raise InputError(f"{self._file}: its classes are 0 to {(count or 1) - 1}, got {label}")
        return label


def _session(file: Path, threads: int) -> Any:
    """Return an ONNX Runtime session for the file."""
    try:
        import onnxruntime
    except ImportError as error:
        raise missing("people in images need", "onnxruntime", "images") from error
    if not file.is_file():
        beside = [entry.name for entry in file.parent.iterdir()] if file.parent.is_dir() else []
        raise InputError(f"{file}: there is no such file{similar(file.name, beside)}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, _ERRORS_ALONE
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 ONNX Runtime's have nothing in common
        raise InputError(f"{file}: not a valid ONNX model: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


def candidates(output: Floats, classes: int | None, room: tuple[int, int]) -> Boxes:
    """Return all boxes in a model's output, regardless of their confidence, in pixels of the model's input.

    Args:
        output: (1, ?, ?) output in one of the three formats.
        classes: number of classes; None if unknown.
        room: size (rows, columns) of the input, px.

    Raises:
        InputError: the shape fits none of the formats, or implies another number of classes.
    """
    form, _ = _rows(output.shape, classes, room)
    rows = output[0] if form != "v8" else output[0].T
    if form == "corners":
        return Boxes(rows[:, :4], rows[:, 4], rows[:, 5].astype(np.int32))
    scores = rows[:, 4:] if form == "v8" else rows[:, 5:]
    label = scores.argmax(1)
    confidence = scores[np.arange(len(scores)), label]
    half = F(0.5) * rows[:, 2:4]
    corners = np.concatenate((rows[:, :2] - half, rows[:, :2] + half), 1)
    return Boxes(corners, confidence if form == "v8" else confidence * rows[:, 4], label.astype(np.int32))


def _rows(shape: Sequence[int], classes: int | None, room: tuple[int, int]) -> tuple[str, int | None]:
    """Return the format of an output (1, a, b), ``v5``, ``v8`` or ``corners``, and its number of classes, None if unknown.

    An output is assumed to have more candidates than values per candidate. Both ``v5`` with a single class and ``corners`` have six
    columns; the number of candidates distinguishes them, because ``v5`` has three candidates for each cell of the grids.
    """
    _, a, b = shape
    grids = [3 * sum(math.ceil(room[0] / s) * math.ceil(room[1] / s) for s in strides) for strides in _STRIDES]
    if b == 6 and (classes not in (None, 1) or a not in grids):
        return "corners", classes
    told = ("v8", a - 4) if a < b else ("v5", b - 5)
    if told[1] < 1 or classes not in (None, told[1]):
        wanted = "" if classes is None else f" for the {classes} classes named in the file"
        kinds = ("(1, candidates, 5 + classes)", "(1, 4 + classes, candidates)", "(1, boxes, 6)")
        raise InputError(f"expected an output of shape {', '.join(kinds[:2])} or {kinds[2]}{wanted}, got {tuple(shape)}")
    return told


def suppressed(boxes: Boxes, overlap: float, most: int) -> Boxes:
    """Return the most confident boxes, except boxes that overlap a more confident box of the same class by more than
    ``overlap``.
    """
    order = np.argsort(-boxes.confidence, kind="stable")
    boxes = boxes.at(order[np.isfinite(boxes.corners[order]).all(1)])
    kept = np.zeros(most, np.int32)
    return boxes.at(kept[: suppress(boxes.corners, boxes.label, F(overlap), kept)])


def _onto_image(corners: Floats, fit: Fit, shape: tuple[int, int]) -> Floats:
    """Convert corners from pixels of a model's input to pixels of the image."""
    columns, rows = F(shape[1]), F(shape[0])
    x = (corners[:, 0::2] - F(fit.left)) * (columns / F(fit.width))
    y = (corners[:, 1::2] - F(fit.top)) * (rows / F(fit.height))
    return np.stack((x[:, 0], y[:, 0], x[:, 1], y[:, 1]), 1).clip(0, [columns, rows, columns, rows]).astype(np.float32)


@lean_kernel
def letterbox(image, fit, out, first, last):
    """Write rows ``first <= r < last`` of a model's input: the image with bilinear interpolation, surrounded by grey.

    Args:
        image: (rows, columns, 3) uint8 image.
        fit: `Fit`.
        out: (3, rows, columns) float32, values in 0..1.
        first: first row.
        last: one more than the last row.
    """
    rows, columns = image.shape[0], image.shape[1]
    down, right = F(rows) / F(fit.height), F(columns) / F(fit.width)
    for r in range(first, last):
        if not fit.top <= r < fit.top + fit.height:
            out[:, r, :] = _GREY
            continue
        y = min(max((F(r - fit.top) + HALF) * down - HALF, ZERO), F(rows - 1))
        above = np.int64(y)
        below, v = min(above + 1, rows - 1), y - F(above)
        for c in range(out.shape[2]):
            if not fit.left <= c < fit.left + fit.width:
                for k in range(3):
                    out[k, r, c] = _GREY
                continue
            x = min(max((F(c - fit.left) + HALF) * right - HALF, ZERO), F(columns - 1))
            before = np.int64(x)
            after, u = min(before + 1, columns - 1), x - F(before)
            for k in range(3):
                high = (ONE - u) * F(image[above, before, k]) + u * F(image[above, after, k])
                low = (ONE - u) * F(image[below, before, k]) + u * F(image[below, after, k])
                out[k, r, c] = ((ONE - v) * high + v * low) * _FULL


@lean
def _shared(a, b):
    """Return the areas of the intersection and of the union of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, ZERO) * max(height, ZERO)
    return both, (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both


@lean
def suppress(corners, label, overlap, kept):
    """Apply non-maximum suppression: write the indices of the kept boxes to ``kept``, at most M, and return their number.

    Args:
        corners: (K, 4) corners, px, most confident first.
        label: (K,) index of the class.
        overlap: maximum intersection over union of two kept boxes of the same class.
        kept: (M,) int32, out: indices of the kept boxes.
    """
    count = 0
    for i in range(len(corners)):
        if count == len(kept):
            break
        free = True
        for k in range(count):
            j = kept[k]
            if label[j] == label[i]:
                both, union = _shared(corners[j], corners[i])
                free = free and not both > overlap * union
        if free:
            kept[count] = i
            count += 1
    return count
