"""Draws people.png, which shows people as seen by cameras: ``python docs/images/people.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from agora.core.state import SOCIAL_STATES, TYPES
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.optics.camera import Camera
from agora.rendering.gait import Moving, frames
from agora.rendering.scene import Scene
from agora.rendering.shapes import looks_of
from agora.rendering.view import Eye, View

COUNT, WIDTH, HEIGHT, APART, AWAY = 9, 1080, 250, 1.1, 8.0
WALK = [(("adult", "walking", 1.3, phase / 8.0), 3) for phase in range(9)]
DOES = [((kind, "walking", 1.1, 0.1 * k), 4 + k) for k, kind in enumerate(("elder", "elder", "child", "child"))]
DOES += [(("wheelchair", "walking", 1.0, 2.0), 9), (("adult", "running", 3.0, 0.05), 10), (("adult", "running", 3.0, 0.3), 11)]
DOES += [(("adult", "sitting", 0.0, 0.0), 12), (("adult", "texting", 0.0, 0.0), 13)]
STATES = ("phone", "talking", "listening", "telling", "interacting", "interested", "surprised", "threatening", "panicking")
ROWS = (
    (WALK, 0.0),
    (DOES, -0.6),
    ([(("adult", state, 2.5 * (state == "panicking"), 0.1), 14 + k) for k, state in enumerate(STATES)], -1.2),
)


def row(scene: Scene, view: View, people: list, heading: float) -> Image.Image:
    """Return a picture of people in a row, from left to right."""
    what, ids = [one for one, _ in people], np.array([number for _, number in people], np.int32)
    kind = np.array([TYPES.index(one[0]) for one in what], np.int32)
    radius, body = np.full(COUNT, 0.3), np.full(COUNT, -1, np.int32)
    looks = looks_of(np.uint64(11), ids, kind, body, radius, scene.names)
    state = np.array([SOCIAL_STATES.index(one[1]) for one in what], np.int32)
    speed, phase = (np.array([one[k] for one in what]) for k in (2, 3))
    x = APART * (np.arange(COUNT) - 0.5 * (COUNT - 1))
    view.dress(looks)
    moving = Moving(x, np.zeros(COUNT), np.full(COUNT, heading), speed, phase, state, 1.3)
    view.pose(frames(looks, moving), np.ones(COUNT, np.bool_), np.zeros((0, 3)), np.zeros(0, np.bool_))
    focus = WIDTH * AWAY / (APART * COUNT)
    camera = Camera(focus, focus, 0.5 * WIDTH, 0.52 * HEIGHT, z=1.0, pitch=0.01)
    eye = Eye.on(camera, WIDTH, HEIGHT, np.array([0.0, -AWAY, 0.5 * np.pi]))
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    view.look(eye)
    view.colours(eye, image, None, True)
    return Image.fromarray(image)


def main() -> None:
    """Write the picture next to this file."""
    place = Map.from_shapes(segments=[[-9.0, 3.0, 9.0, 3.0]], bounds=(-20.0, -20.0, 20.0, 20.0), name="people")
    scene = Scene.of(Place(place), (), COUNT)
    view = View(scene)
    sheet = Image.new("RGB", (WIDTH, HEIGHT * len(ROWS)))
    for number, (people, heading) in enumerate(ROWS):
        sheet.paste(row(scene, view, people, heading), (0, HEIGHT * number))
    sheet.quantize(224, dither=Image.Dither.NONE).save(Path(__file__).with_name("people.png"), optimize=True)


if __name__ == "__main__":
    main()
