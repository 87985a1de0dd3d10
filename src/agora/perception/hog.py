"""Detection of people in images with OpenCV's HOG detector, which needs no model file.

N. Dalal and B. Triggs, "Histograms of oriented gradients for human detection", CVPR 2005: a window of 64 x 128 px slides over the
image at many scales, and a linear SVM that comes with OpenCV decides whether the window shows an upright person. The SVM was
trained on photographs of whole people with about 16 px of background on each side of the window. OpenCV includes this SVM up to
version 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from agora.core.state import Array
from agora.errors import InputError
from agora.extras import missing
from agora.perception.images import Boxes, checked, suppressed
from agora.ranges import LARGEST, Chance, Checked, Natural, Within

__all__ = ["HogDetector"]

_WIDTH, _HEIGHT, _RIM = 64, 128, 16  # size of the window, and width of the background on each side of it, px
_PADDING = (16, 16)  # distance by which a window may extend beyond the image, px


@dataclass(frozen=True)
class HogDetector(Checked):
    """Detects whole upright people at least 96 px tall in images.

    Attributes:
        confidence: minimum confidence, in 0..1: the logistic function of the signed distance from the SVM's separating plane, 0.5
            on the plane.
        overlap: intersection over union above which the less confident of two boxes is dropped.
        most: maximum number of boxes per image.
        stride: step of the sliding window, px: 4, 8 or 16.
        growth: ratio of consecutive window sizes, above 1.
        threads: number of threads that OpenCV may use; applies to the whole process.
    """

    confidence: Chance = 0.6
    overlap: Chance = 0.3
    most: Natural = 64
    stride: Literal[4, 8, 16] = 8
    growth: Annotated[float, Within(1.005, LARGEST)] = 1.05
    threads: Natural = 1

    def detect(self, image: Array) -> Boxes:
        """Return the boxes of people in an RGB image (rows, columns, 3) uint8; no boxes if the image is smaller than 64 x 128 px.

        Raises:
            InputError: the image has another shape or type, or OpenCV is not installed.
        """
        image = checked(image)
        hog = self._hog
        if image.shape[0] < _HEIGHT or image.shape[1] < _WIDTH:
            return _boxes(np.zeros((0, 4)), np.zeros(0))
        sure = min(max(self.confidence, 1e-6), 1.0 - 1e-6)
        found, margin = hog.detectMultiScale(
            image[..., ::-1].copy(),  # OpenCV uses BGR order
            hitThreshold=math.log(sure / (1.0 - sure)),
            winStride=(self.stride, self.stride),
            padding=_PADDING,
            scale=self.growth,
            groupThreshold=0,
        )
        x, y, width, height = np.reshape(found, (-1, 4)).astype(float).T
        margin = np.reshape(margin, -1).astype(float)
        order = np.lexsort((height, y, x, -margin))  # the threads return boxes in arbitrary order
        aside, above = _RIM / _WIDTH * width, _RIM / _HEIGHT * height
        corners = np.stack((x + aside, y + above, x + width - aside, y + height - above), 1)
        corners = corners.clip(0, [image.shape[1], image.shape[0]] * 2)
        return suppressed(_boxes(corners[order], 1.0 / (1.0 + np.exp(-margin[order]))), self.overlap, self.most)

    @cached_property
    def _hog(self) -> Any:
        """Return OpenCV's detector with its weights."""
        try:
            import cv2
        except ImportError as error:
            raise missing("people in images by HOG need", "opencv-python-headless", "images") from error
        if not hasattr(cv2, "HOGDescriptor"):
            raise InputError(f"OpenCV {cv2.__version__} has no HOG detector; expected a version below 5")
        cv2.setNumThreads(self.threads)
        hog = cv2.HOGDescriptor()
        hog.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())
        return hog


def _boxes(corners: Array, confidence: Array) -> Boxes:
    return Boxes(corners.astype(np.float32), confidence.astype(np.float32), np.zeros(len(corners), np.int32))
