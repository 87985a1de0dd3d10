"""The detector of people in a camera's images, by its name."""

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
    """Settings for detecting people in a camera's images and locating them by its depth.

    Attributes:
        detector: ``rendered_people``, the network of ``configs/perception`` that was trained on rendered people alone; ``hog``,
            OpenCV's detector; or the path of a model of the YOLO family in an ONNX file, with a slash.
        confidence: smallest accepted confidence, in 0..1.
        locator: places of people by the depth.
        keep: time for which hidden people and people outside the image are kept, s, if the tracker's is not longer: a camera sees
            less of the surroundings than a lidar.
    """

    detector: str = "rendered_people"
    confidence: Annotated[float, Within(0.0, 1.0)] = 0.5
    locator: Locator = field(default_factory=Locator)
    keep: Duration = 3.0

    def made(self) -> FindsPeople:
        """Return the detector.

        Raises:
            InputError: there is no such file.
        """
        if self.detector == _HOG:
            return HogDetector(self.confidence)
        (file,) = self.files()
        return ImageDetector(file, confidence=self.confidence)

    def files(self) -> list[Path]:
        """The model's file, if it has one.

        Raises:
            InputError: there is no such file.
        """
        return [] if self.detector == _HOG else [named_file("perception", self.detector, ".onnx")]
