"""People in images by ONNX models that are made here, in every form of output that is known."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.perception.models import HEIGHT, WIDTH, picture, write, write_identity, write_model

from agora.errors import InputError
from agora.perception.images import Boxes, Fit, ImageDetector, candidates, letterbox, suppressed

FORMS = ("v5", "v8", "corners")


def plain_letterbox(image, room):
    """Twin of `letterbox` in float64: each pixel's middle is looked up in the image, first along columns, then along rows."""
    scale = min(room[0] / image.shape[0], room[1] / image.shape[1])
    height, width = round(image.shape[0] * scale), round(image.shape[1] * scale)
    made = image.astype(float) / 255.0
    for axis, size in enumerate((height, width)):
        count = made.shape[axis]
        where = (np.arange(size) + 0.5) * count / size - 0.5
        made = np.apply_along_axis(lambda line, w=where, n=count: np.interp(w, np.arange(n), line), axis, made)
    out = np.full((3, *room), 114 / 255)
    top, left = (room[0] - height) // 2, (room[1] - width) // 2
    out[:, top : top + height, left : left + width] = made.transpose(2, 0, 1)
    return out


def plain_suppression(boxes, overlap, most):
    """Twin of `suppressed` in float64: the most certain is taken and what overlaps it is dropped, until nothing is left."""
    left, kept = list(np.argsort(-boxes.confidence.astype(float), kind="stable")), []
    corners = boxes.corners.astype(float)
    while left and len(kept) < most:
        best = left.pop(0)
        kept.append(best)
        a = corners[best]

        def shares(j, a=a, best=best):
            b = corners[j]
            sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
            both = float(np.prod(sides)) if (sides > 0).all() else 0.0
            union = float(np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2])) - both
            return boxes.label[j] == boxes.label[best] and both > overlap * union

        left = [j for j in left if not shares(j)]
    return kept


def crowd(rng, count, classes=2):
    corner = rng.uniform(0, 180, (count, 2))
    corners = np.concatenate((corner, corner + rng.uniform(8, 70, (count, 2))), 1).astype(np.float32)
    order = rng.permutation(count).astype(np.float32)
    return Boxes(corners, (order + 1) / (count + 1), rng.integers(0, classes, count).astype(np.int32))


@pytest.mark.parametrize("shape", [(37, 61), (200, 90), (96, 160), (480, 641), (1, 5)])
def test_an_image_fits_into_the_input_as_its_plain_twin_says(shape):
    image = np.random.default_rng(1).integers(0, 256, (*shape, 3), np.uint8)
    out = np.zeros((3, 96, 160), np.float32)
    letterbox(image, Fit.of(shape, (96, 160)), out, 0, 96)
    assert np.abs(out - plain_letterbox(image, (96, 160))).max() < 2e-5


def test_rows_of_the_input_do_not_depend_on_which_are_made_together():
    image = np.random.default_rng(2).integers(0, 256, (53, 71, 3), np.uint8)
    whole, parts = np.zeros((3, 96, 160), np.float32), np.zeros((3, 96, 160), np.float32)
    letterbox(image, Fit.of((53, 71), (96, 160)), whole, 0, 96)
    for first, last in ((40, 96), (0, 7), (7, 40)):
        letterbox(image, Fit.of((53, 71), (96, 160)), parts, first, last)
    assert (whole == parts).all()


def test_what_grows_evenly_over_an_image_grows_evenly_over_the_input():
    image = np.zeros((120, 240, 3), np.uint8)
    image[..., 0] = np.arange(240)
    out = np.zeros((3, 96, 160), np.float32)
    fit = Fit.of((120, 240), (96, 160))
    letterbox(image, fit, out, 0, 96)
    assert fit == (0, 8, 160, 80)
    columns = (np.arange(160) + 0.5) * 1.5 - 0.5
    assert out[0, 8:88, :-1] == pytest.approx(np.tile(columns[:-1] / 255, (80, 1)), abs=1e-6)
    assert (out[:, :8] == out[:, 88:]).all() and out[0, 0, 0] == pytest.approx(114 / 255)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_people_are_found_where_they_are_in_the_image_and_cars_are_not(tmp_path, form, scale):
    detector = ImageDetector(write_model(tmp_path / "windows.onnx", form))
    rows, columns = int(80 * scale), int(160 * scale)  # 8 px of grey above and below
    people = scale * np.array([(30.0, 26.0), (110.0, 50.0)])  # in the middles of cells
    image = picture(rows, columns, people, cars=[(70 * scale, 40 * scale)], scale=scale)
    boxes = detector.detect(image)
    assert (boxes.confidence > 0.65).all()  # an enlarged rectangle has soft edges
    assert (boxes.label == 0).all()
    middles = (boxes.corners[:, :2] + boxes.corners[:, 2:]) / 2
    order = np.argsort(middles[:, 0])
    assert len(boxes.corners) == 2
    assert middles[order] == pytest.approx(people, abs=0.01)
    sizes = boxes.corners[order, 2:] - boxes.corners[order, :2]
    assert sizes == pytest.approx(np.full((2, 2), (scale * WIDTH, scale * HEIGHT)), abs=0.01 * scale)


def test_the_middle_of_a_box_is_where_the_letterbox_put_it_for_every_proportion(tmp_path):
    detector = ImageDetector(write_model(tmp_path / "windows.onnx", rows=96, columns=96))
    for rows, columns in ((96, 192), (250, 96), (131, 77)):
        scale = max(rows, columns) / 96
        place = (0.42 * columns, 0.55 * rows)
        boxes = detector.detect(picture(rows, columns, [place], scale=scale))
        middle = (boxes.corners[0, :2] + boxes.corners[0, 2:]) / 2
        assert middle == pytest.approx(place, abs=2.6 * scale)  # half a cell, and the rounding of the rectangle's edges


def test_a_box_does_not_reach_beyond_the_image(tmp_path):
    image = picture(96, 160, [(10.0, 46.0)])
    (box,) = ImageDetector(write_model(tmp_path / "windows.onnx")).detect(image).corners
    assert box == pytest.approx([0.0, 22.0, 22.0, 70.0])


@pytest.mark.parametrize("form", FORMS)
def test_nobody_is_found_where_nobody_is(tmp_path, form):
    boxes = ImageDetector(write_model(tmp_path / "windows.onnx", form)).detect(picture(90, 70, cars=[(30, 40)]))
    assert boxes.corners.shape == (0, 4)


@pytest.mark.parametrize("form", FORMS)
def test_classes_are_chosen_by_name_or_number(tmp_path, form):
    path = write_model(tmp_path / "windows.onnx", form)
    image = picture(96, 160, [(34, 46)], cars=[(110, 46)])
    for classes, labels in ((("car",), [1]), ((1,), [1]), (("person", "car"), [0, 1]), ((0, "dog"), [0])):
        boxes = ImageDetector(path, classes=classes).detect(image)
        assert sorted(boxes.label.tolist()) == labels


def test_objectness_and_score_are_multiplied(tmp_path):
    path = write_model(tmp_path / "windows.onnx", "v5", objectness=0.7)
    image = picture(96, 160, [(34, 46)])
    assert ImageDetector(path).detect(image).confidence == pytest.approx([0.7], abs=1e-3)
    assert len(ImageDetector(path, confidence=0.75).detect(image).corners) == 0


def test_a_model_of_half_precision_sees_the_same(tmp_path):
    image = picture(96, 160, [(34, 46), (102, 50)])
    one, half = (ImageDetector(write_model(tmp_path / f"{h}.onnx", half=h)).detect(image) for h in (False, True))
    assert half.corners == pytest.approx(one.corners, abs=0.1)


def test_a_model_that_leaves_its_size_open_has_that_of_the_parameter(tmp_path):
    path = write_model(tmp_path / "open.onnx", rows=96, columns=96, open_sizes=True)
    boxes = ImageDetector(path, size=96).detect(picture(96, 96, [(50, 50)]))
    assert boxes.corners == pytest.approx(np.array([[38, 26, 62, 74]]), abs=0.01)
    with pytest.raises(InputError, match="open.onnx: the model failed"):
        ImageDetector(path, size=128).detect(picture(96, 96))


def test_the_same_image_gives_the_same_boxes_and_is_not_written_to(tmp_path):
    detector = ImageDetector(write_model(tmp_path / "windows.onnx"))
    image = np.random.default_rng(3).integers(0, 256, (150, 210, 3), np.uint8)
    image[20:100, 30:80] = (255, 0, 0)
    before = image.copy()
    first, _, second = detector.detect(image), detector.detect(picture(80, 80, [(20, 20)])), detector.detect(image)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert len(first.corners)
    assert (image == before).all()


def test_an_image_that_is_a_view_of_another_is_read_as_it_is(tmp_path):
    detector = ImageDetector(write_model(tmp_path / "windows.onnx"))
    image = picture(96, 160, [(34, 46)])
    flipped = detector.detect(image[:, ::-1])
    assert (flipped.corners == detector.detect(image[:, ::-1].copy()).corners).all()
    assert flipped.corners[0, 0] == pytest.approx(160 - 34 - WIDTH / 2)


@pytest.mark.parametrize("overlap", [0.2, 0.45, 0.9])
def test_suppression_is_that_of_its_plain_twin(overlap):
    rng = np.random.default_rng(4)
    for count in (0, 1, 7, 150):
        boxes = crowd(rng, count)
        for most in (5, 200):
            kept = suppressed(boxes, overlap, most)
            expected = boxes.at(np.array(plain_suppression(boxes, overlap, most), int))
            assert all((a == b).all() for a, b in zip(kept, expected, strict=True))


def test_suppression_is_that_of_the_runtimes_own_operator(tmp_path):
    import onnxruntime

    kinds = {"boxes": ("f", [1, None, 4]), "scores": ("f", [1, 1, None]), "most": ("i", [1]), "iou": ("f", [1])}
    given = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT if k == "f" else TensorProto.INT64, s) for n, (k, s) in kinds.items()
    ]
    told = helper.make_tensor_value_info("chosen", TensorProto.INT64, [None, 3])
    node = helper.make_node("NonMaxSuppression", list(kinds), ["chosen"])
    path = write(tmp_path / "nms.onnx", helper.make_graph([node], "nms", given, [told]))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(5)
    for count in (3, 60, 200):
        boxes = crowd(rng, count, classes=1)
        turned = boxes.corners[None][..., [1, 0, 3, 2]]
        limits = {"most": np.array([20]), "iou": np.array([0.5], np.float32)}
        (chosen,) = session.run(None, {"boxes": turned, "scores": boxes.confidence[None, None], **limits})
        assert (suppressed(boxes, 0.5, 20).corners == boxes.corners[chosen[:, 2]]).all()


def test_boxes_that_are_no_numbers_are_dropped():
    boxes = crowd(np.random.default_rng(6), 5)
    boxes.corners[2] = np.nan
    assert np.isfinite(suppressed(boxes, 0.5, 9).corners).all()
    boxes.confidence[3] = np.nan
    assert not (boxes.confidence[3] >= 0.1)


def test_the_form_of_an_output_is_told_by_its_shape():
    rng = np.random.default_rng(7)
    middle, size = rng.uniform(20, 70, (300, 2)), rng.uniform(5, 9, (300, 2))
    scores = rng.uniform(0, 1, (300, 4)).astype(np.float32)
    boxes = np.concatenate((middle, size), 1).astype(np.float32)
    v8 = candidates(np.concatenate((boxes, scores), 1).T[None], None, (64, 64))
    v5 = candidates(np.concatenate((boxes, np.full((300, 1), 0.5, np.float32), scores), 1)[None], None, (64, 64))
    ends = np.concatenate((middle - size / 2, middle + size / 2), 1)
    rows = np.concatenate((ends, scores.max(1)[:, None], scores.argmax(1)[:, None]), 1).astype(np.float32)
    corners = candidates(rows[None], 4, (64, 64))
    for seen in (v8, v5, corners):
        assert seen.corners == pytest.approx(ends, abs=1e-4)
        assert (seen.label == scores.argmax(1)).all()
    assert v8.confidence == pytest.approx(scores.max(1))
    assert v5.confidence == pytest.approx(0.5 * scores.max(1))
    assert corners.confidence == pytest.approx(scores.max(1))


def test_six_columns_are_those_of_one_class_where_there_are_three_candidates_a_cell():
    row = np.array([30.0, 40.0, 10.0, 20.0, 0.8, 0.5], np.float32)
    count = 3 * (8 * 10 + 4 * 5 + 2 * 3)  # grids of 8, 16 and 32 px in 64 x 80
    one = candidates(np.tile(row, (1, count, 1)), 1, (64, 80))
    assert one.corners[0] == pytest.approx([25.0, 30.0, 35.0, 50.0])
    assert one.confidence[0] == pytest.approx(0.4)
    ends = candidates(np.tile(row, (1, 300, 1)), 1, (64, 80))
    assert ends.corners[0] == pytest.approx(row[:4])
    assert ends.confidence[0] == pytest.approx(0.8)


def test_without_the_runtime_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    detector = ImageDetector(write_model(tmp_path / "windows.onnx"))
    with pytest.raises(InputError, match=r"need the package onnxruntime; install it: .* -m pip install .*'onnxruntime>="):
        detector.detect(picture(20, 20))


def test_a_file_that_is_not_there_is_named_with_the_nearest_one(tmp_path):
    write_model(tmp_path / "yolo11n.onnx")
    with pytest.raises(InputError, match=r"yolo11m\.onnx: there is no such file; did you mean 'yolo11n\.onnx'"):
        ImageDetector(tmp_path / "yolo11m.onnx").detect(picture(20, 20))


def test_what_is_not_a_model_is_refused(tmp_path):
    path = tmp_path / "weights.onnx"
    for content in (b"", b"not a model", bytes(range(256)) * 40):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"weights\.onnx: not a valid ONNX model"):
            ImageDetector(path).detect(picture(20, 20))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"shape": [1, 96, 96, 3]}, "expected one input .* export it with channels first"),
        ({"shape": [1, 3, 96]}, "expected one input"),
        ({"shape": [4, 3, 96, 96]}, "expected one input"),
        ({"shape": [1, 3, 96, 96], "kind": TensorProto.UINT8}, "expected one input"),
        ({"shape": [1, 3, 96, 96], "inputs": 2}, "expected one input"),
        ({"shape": [1, 3, 96, 96]}, r"expected an output of shape .*\(1, 3, 96, 96\)"),
        ({"shape": [1, 3, 96, 96], "output": [1, 1000]}, r"expected an output of shape .*\(1, 1000\)"),
        ({"shape": [1, 3, 96, 96], "output": [1, 300, 5]}, r"expected an output of shape .*\(1, 300, 5\)"),
        ({"shape": [1, 3, 96, 96], "output": [1, 84, 2100]}, r"does not name its classes.*'person'"),
    ],
)
def test_models_that_are_no_detectors_are_refused_by_what_they_take_and_give(tmp_path, model, message):
    detector = ImageDetector(write_identity(tmp_path / "other.onnx", **model))
    with pytest.raises(InputError, match=r"other\.onnx: " + message):
        detector.detect(picture(20, 20))


def test_a_model_for_something_else_or_without_people_is_refused(tmp_path):
    path = tmp_path / "m.onnx"
    for made, message in (
        ({"task": "segment"}, "expected a model for detection, got one for 'segment'"),
        ({"names": "{0: 'persons', 1: 'car', 2: 'dog'}"}, "no class of .* called 'person'; did you mean 'persons'"),
        ({"names": "{0: 'person', 1: 'car'}"}, "for the 2 classes named in the file, got"),
        ({"names": "import os"}, "the names of its classes cannot be read"),
        ({"names": "{0: 'person', 7: 'car'}"}, "the names of its classes cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            ImageDetector(write_model(path, **made)).detect(picture(20, 20))
    with pytest.raises(InputError, match="its classes are 0 to 2, got 3"):
        ImageDetector(write_model(path), classes=(3,)).detect(picture(20, 20))
    with pytest.raises(InputError, match="its classes are 0 to 2, got 3"):
        ImageDetector(write_model(path, names=None), classes=(3,)).detect(picture(20, 20))


def test_names_may_be_a_list_as_older_exports_have_them(tmp_path):
    path = write_model(tmp_path / "m.onnx", names="['person', 'car', 'dog']")
    assert len(ImageDetector(path, classes=("car",)).detect(picture(96, 160, cars=[(34, 46)])).corners) == 1


@pytest.mark.parametrize(
    "image", [np.zeros((5, 4)), np.zeros((5, 4, 4), np.uint8), np.zeros((5, 4, 3)), np.zeros((0, 4, 3), np.uint8)]
)
def test_what_is_no_image_is_refused(tmp_path, image):
    with pytest.raises(InputError, match="image: expected"):
        ImageDetector(tmp_path / "never read").detect(image)


@pytest.mark.parametrize(
    "wrong", [{"confidence": 1.2}, {"overlap": -0.1}, {"most": 0}, {"size": 0}, {"threads": 0}, {"classes": ()}]
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ImageDetector("m.onnx", **wrong)
