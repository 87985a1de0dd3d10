"""Settings that select the detector of people in a camera's images."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from agora.perception.hog import HogDetector
from agora.perception.image_tracker import Locator
from agora.perception.images import FindsPeople, ImageDetector
from agora.ranges import Duration, Within
from agora.share import named_file

__all__ = ["InImages"]

_HOG = "hog"


@dataclass(frozen=True)
class InImages:
    """Settings for detecting people in a camera's images and locating them using its depth images.

    Attributes:
        detector: ``rendered_people``, the network in ``configs/perception``, which was trained only on rendered people; ``hog``,
            OpenCV's detector; or the path of a YOLO model in an ONNX file, which must contain a slash.
        confidence: minimum confidence, in 0..1.
        locator: parameters for locating people in the depth images.
        keep: time for which tracks of hidden people and of people outside the image are kept, s, unless the tracker's ``keep`` is
            longer. The default is longer than for a lidar, because a camera sees less of the surroundings.
    """

    detector: str = "rendered_people"
    confidence: Annotated[float, Within(0.0, 1.0)] = 0.5
    locator: Locator = field(default_factory=Locator)
    keep: Duration = 3.0

    def made(self) -> FindsPeople:
        """Return the detector.

        Raises:
            InputError: the model's file does not exist.
        """
        if self.detector == _HOG:
            return HogDetector(self.confidence)
        (file,) = self.files()
        return ImageDetector(file, confidence=self.confidence)

    def files(self) -> list[Path]:
        """Return the model's file, if the detector has one.

        Raises:
            InputError: the file does not exist.
        """
        return [] if self.detector == _HOG else [named_file("perception", self.detector, ".onnx")]
