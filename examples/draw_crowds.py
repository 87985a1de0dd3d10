"""Draw what every crowd model makes of the same two streams, which meet at a pillar between walls."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agora.maps.grid import Map
from agora.registry import available, make
from agora.seeds import Stream
from agora.validation.walk import fill, walk
from agora.viewer.figures import save, style

HALL = Map.from_shapes(
    segments=[(-8.0, 0.0, 24.0, 0.0), (-8.0, 6.0, 24.0, 6.0)],
    discs=[(8.0, 2.8, 0.6)],
    bounds=(-8.0, -0.5, 24.0, 6.5),
    resolution=0.05,
    name="hall",
)
stream = Stream("example", 4, "crowds")
left, right = fill(stream, (-1.0, 0.6), (4.0, 5.4), 0.5), fill(stream, (12.0, 0.6), (17.0, 5.4), 0.5)
start = np.vstack([left, right])
goals = np.vstack([left + (17.0, 0.0), right - (17.0, 0.0)])[:, None]
names = list(available("crowd_models"))

with style():
    figure = Figure((10.0, 1.23 * -(-len(names) // 3)), layout="constrained")
    places = figure.subplots(-(-len(names) // 3), 3).flat
    for axes in places[len(names) :]:
        axes.axis("off")
    for axes, name in zip(places, names, strict=False):
        seen = walk(make("crowd_models", name), HALL, start, goals, 14.0, radius=0.25)
        apart = np.hypot(*(seen.position[:, :, None] - seen.position[:, None]).transpose(3, 0, 1, 2)) + 9.0 * np.eye(len(start))
        print(f"{name:24s} nearest two {apart.min():.2f} m, past the middle {int((seen.position[-1, : len(left), 0] > 8.0).sum())}")
        for k in range(len(start)):
            colour = "#c44e27" if k < len(left) else "#2b6cb0"
            axes.plot(*seen.position[:, k].T, color=colour, lw=0.6, alpha=0.7)
        axes.scatter(*seen.position[-1].T, s=8, c=["#c44e27"] * len(left) + ["#2b6cb0"] * len(right))
        axes.fill(8.0 + 0.6 * np.cos(np.linspace(0, 6.3, 40)), 2.8 + 0.6 * np.sin(np.linspace(0, 6.3, 40)), color="#4a4f57")
        axes.hlines([0.0, 6.0], -8.0, 24.0, color="#4a4f57", lw=1.5)
        axes.set(xlim=(-6.0, 22.0), ylim=(-0.6, 6.6), aspect="equal", title=name, xticks=[], yticks=[])
print(save(figure, Path("crowd_models.png"), dpi=110))
