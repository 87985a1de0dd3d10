"""Trains a small person detector on rendered frames, and writes it as ONNX.

``python benchmarks/people_network.py configs/perception/rendered_people.onnx``. The frames show places from training suites, with
people that are not simulated: their positions, appearances, headings, speeds and social states are random, as are the heights and
angles of the cameras. Frames are rendered at 320 x 240 px and halved to 160 x 120 px, at random either by averaging or by taking
every other pixel, so that the network works with images of any size and smoothness. In addition, one frame in 25 shows nothing
(noise, one colour, or a colour gradient), like a covered, blinded or broken camera.

The network has seven convolutions and outputs one box per cell of 8 px, in YOLOv8's format, which
`agora.perception.images.ImageDetector` reads. The program needs the extras learning, mujoco and onnx.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from agora.channels.camera import Camera
from agora.core.state import SOCIAL_STATES, Array
from agora.perception.scores import true_boxes
from agora.rendering.scene import CLASSES
from agora.rendering.studio import Studio
from agora.rendering.view import Eye
from agora.tasks.suite import load_suite
from agora.world.world import World

WIDTH, HEIGHT, CELL = 160, 120, 8
LEAST = 60  # px, minimum visible area of a person in a rendered frame
LAYERS = ((16, 2, 1), (24, 2, 1), (32, 1, 1), (64, 2, 1), (64, 1, 1), (64, 1, 2), (64, 1, 4))  # channels, stride, dilation
GROUNDS = {"social_training": 4, "planners_training": 4, "rosnav_training": 4}
"""Suites whose places are rendered, and the number of episodes per stage."""


def places() -> list[Any]:
    """Return the starts whose places are rendered."""
    suites = {name: load_suite(name) for name in GROUNDS}
    return [suites[n].start(stage.name, k) for n, count in GROUNDS.items() for stage in suites[n].stages for k in range(count)]


def drawn_camera(rng: np.random.Generator) -> Camera:
    """Return a camera with a random height and angle as found on robots."""
    view, height, pitch = rng.uniform(0.9, 1.5), rng.uniform(0.4, 1.4), rng.uniform(-0.15, 0.3)
    return Camera(width=2 * WIDTH, height=2 * HEIGHT, view=view, z=height, pitch=pitch, smooth=bool(rng.random() < 0.5))


def scatter(world: World, start: Any, rng: np.random.Generator) -> Array:
    """Move all people in a world to random positions, and return the pose of a robot near them."""
    people, traits, minds = world.pedestrians, world.traits, world.minds
    low, high = np.array([start.map.origin, np.add(start.map.origin, start.map.size)]) + [[0.8], [-0.8]]
    pose = np.array([*rng.uniform(low, high), rng.uniform(-np.pi, np.pi)])
    count = int(traits.count[0])
    away, aside = rng.uniform(0.5, 9.0, count), rng.uniform(-0.8, 0.8, count)
    people.x[0, :count] = (pose[0] + away * np.cos(pose[2] + aside)).clip(low[0], high[0])
    people.y[0, :count] = (pose[1] + away * np.sin(pose[2] + aside)).clip(low[1], high[1])
    people.heading[0, :count] = heading = rng.uniform(-np.pi, np.pi, count)
    speed = np.where(rng.random(count) < 0.3, 0.0, rng.uniform(0.3, 1.8, count))
    people.vx[0, :count], people.vy[0, :count] = speed * np.cos(heading), speed * np.sin(heading)
    people.active[0, :count] = rng.random(count) < 6.0 / max(count, 6)
    traits.id[0, :count] = rng.integers(0, 2**30, count)
    minds.state[0, :count] = np.where(rng.random(count) < 0.7, minds.state[0, :count], rng.integers(0, len(SOCIAL_STATES), count))
    return pose


def gathered(count: int, seed: int) -> tuple[Array, list[Array]]:
    """Return rendered frames (F, rows, columns, 3), and the true boxes (K, 4) in each."""
    rng, images, truths = np.random.default_rng(seed), [], []
    starts = [start for start in places() if start.crowd_size]
    for start in starts:
        world = World.of([start], dt=0.1)
        world.reset(0, start)
        studio = Studio(world)
        for _ in range(-(-count // len(starts))):
            pose, camera = scatter(world, start, rng), drawn_camera(rng)
            studio.walk(0)
            view, eye = studio.view(0), Eye.on(camera.pinhole, camera.width, camera.height, pose)
            if view.scene.inside(eye.place):
                continue
            image = np.zeros((camera.height, camera.width, 3), np.uint8)
            view.look(eye, 0)
            view.colours(eye, image, None, camera.smooth)
            kind, owner = view.labels(eye)
            _, corners, pixels = true_boxes(owner, kind == CLASSES.index("person"))
            images.append(image)
            truths.append(corners[pixels >= LEAST])
    return np.stack(images), truths


def halved(images: Array, truths: list[Array], rng: np.random.Generator) -> tuple[Array, list[Array]]:
    """Return frames and boxes at half the size; each pixel is the mean of four pixels, or one of them."""
    mean = rng.random(len(images)) < 0.5
    small = images[:, ::2, ::2].copy()
    for k in np.flatnonzero(mean):
        small[k] = images[k].reshape(HEIGHT, 2, WIDTH, 2, 3).mean((1, 3)).round()
    return small, [boxes / 2 for boxes in truths]


def nothing(count: int, rng: np.random.Generator) -> Array:
    """Return frames (F, H, W, 3) of a camera that sees nothing: noise of any grain size, one colour, or a colour gradient."""
    frames = np.zeros((count, HEIGHT, WIDTH, 3))
    for k, frame in enumerate(frames):
        frame += rng.uniform(0.0, 255.0, 3) if rng.random() < 0.7 else rng.choice([0.0, 255.0])
        if k % 3 == 1:
            across, along = rng.uniform(-255.0, 255.0, (2, 3))
            frame += np.linspace(-0.5, 0.5, WIDTH)[:, None] * across + np.linspace(-0.5, 0.5, HEIGHT)[:, None, None] * along
        elif k % 3 == 2:
            grain, colours = int(rng.choice([1, 2, 5, 10, 20])), int(rng.choice([1, 3]))
            coarse = rng.normal(0.0, rng.uniform(5.0, 150.0), (HEIGHT // grain, WIDTH // grain, colours))
            frame += coarse.repeat(grain, 0).repeat(grain, 1)
    return frames.clip(0.0, 255.0).astype(np.uint8)


def cells() -> tuple[Array, Array]:
    """Return the centres (H, W) of the cells, px."""
    return np.meshgrid(np.arange(CELL / 2, WIDTH, CELL), np.arange(CELL / 2, HEIGHT, CELL))


def targets(boxes: Array) -> tuple[Array, Array]:
    """Return which cells (H, W) should detect a person, and the person's box (H, W, 4): the cells in the middle of a box; smaller
    boxes take precedence.
    """
    x, y = cells()
    there, wanted = np.zeros(x.shape, np.float32), np.zeros((*x.shape, 4), np.float32)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for left, top, right, bottom in boxes[np.argsort(-area)]:
        u, v, wide, high = (left + right) / 2, (top + bottom) / 2, (right - left) / 4, (bottom - top) / 4
        inside = (abs(x - u) <= max(wide, CELL / 2)) & (abs(y - v) <= max(high, CELL / 2))
        there[inside], wanted[inside] = 1.0, (left, top, right, bottom)
    return there, wanted


def network() -> Any:
    """Return the PyTorch network, which maps images (F, 3, rows, columns) to (F, 5, H, W)."""
    from torch import nn

    layers, before = [], 3
    for channels, stride, wide in LAYERS:
        layers += [nn.Conv2d(before, channels, 3, stride, wide, wide), nn.BatchNorm2d(channels), nn.ReLU()]
        before = channels
    head = nn.Conv2d(before, 5, 1)
    head.bias.data[:] = head.bias.new_tensor([0.0, 0.0, 0.0, 1.0, -3.0])
    return nn.Sequential(*layers, head)


def boxes_of(told: Any) -> Any:
    """Return the box corners (F, H, W, 4), px, from the network's output."""
    import torch

    x, y = (torch.as_tensor(a, dtype=torch.float32) for a in cells())
    u, v = x + CELL * told[:, 0], y + CELL * told[:, 1]
    wide, high = CELL * told[:, 2].clamp(max=4.0).exp(), CELL * told[:, 3].clamp(max=4.0).exp()
    return torch.stack((u - wide, v - high, u + wide, v + high), -1)


def loss_of(told: Any, there: Any, wanted: Any) -> Any:
    """Return the focal loss of the confidences plus one minus the generalised intersection over union of the boxes."""
    import torch
    from torch.nn import functional

    logit, some = told[:, 4], there > 0.0
    wrong = functional.binary_cross_entropy_with_logits(logit, there, reduction="none")
    focal = ((1.0 - (-wrong).exp()) ** 2 * wrong).sum() / there.sum().clamp(min=1.0)
    a, b = boxes_of(told)[some], wanted[some]
    both = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0.0).prod(-1)
    union = (a[:, 2:] - a[:, :2]).prod(-1) + (b[:, 2:] - b[:, :2]).prod(-1) - both
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(-1)
    return focal + (1.0 - both / union + (hull - union) / hull).mean()


def trained(images: Array, truths: list[Array], rounds: int, seed: int) -> Any:
    """Return the trained network; half of the frames in a batch are flipped, and all have their lighting varied."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng, net, batch = np.random.default_rng(seed), network(), 16
    there, wanted = (torch.as_tensor(np.stack(a)) for a in zip(*map(targets, truths), strict=True))
    pictures, steps = torch.as_tensor(images), rounds * (len(images) // batch)
    optimiser = torch.optim.AdamW(net.parameters(), 3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    turned = torch.tensor([2, 1, 0, 3])
    for k in range(steps):
        if k % (len(images) // batch) == 0:
            order = rng.permutation(len(images))
            print(f"round {k * batch // len(images)}, {time.process_time():.0f} s of processor", file=sys.stderr)
        chosen = torch.as_tensor(order[(k * batch) % len(images) :][:batch])
        shown = pictures[chosen].permute(0, 3, 1, 2).float() / 255.0
        shown = (shown * torch.empty(len(shown), 3, 1, 1).uniform_(0.7, 1.3) + 0.02 * torch.randn_like(shown)).clamp(0.0, 1.0)
        here, theirs = there[chosen], wanted[chosen]
        if rng.random() < 0.5:
            shown, here, theirs = shown.flip(3), here.flip(2), theirs.flip(2)
            theirs = (theirs * torch.tensor([-1.0, 1.0, -1.0, 1.0]) + torch.tensor([WIDTH, 0.0, WIDTH, 0.0]))[..., turned]
        loss = loss_of(net(shown), here, theirs)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def folded(net: Any) -> list[tuple[Array, Array]]:
    """Return the weights and biases of the convolutions, with the subsequent normalisation folded in."""
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    parts = list(net)
    fused = [fuse_conv_bn_eval(parts[k], parts[k + 1]) for k in range(0, len(parts) - 1, 3)] + [parts[-1]]
    return [(one.weight.detach().numpy(), one.bias.detach().numpy()) for one in fused]


def write(path: Path, net: Any) -> None:
    """Write the network as ONNX, its weights in half precision."""
    from onnx import TensorProto, checker, helper, numpy_helper, save_model

    nodes, constants, name = [], [], "images"

    def constant(label: str, values: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(values), label))
        return label

    for k, (weight, bias) in enumerate(folded(net)):
        for part, values in (("w", weight), ("b", bias)):
            half = constant(f"{part}{k}h", values.astype(np.float16))
            nodes.append(helper.make_node("Cast", [half], [f"{part}{k}"], to=TensorProto.FLOAT))
        stride, wide = LAYERS[k][1:] if k < len(LAYERS) else (1, 1)
        around = [wide * (weight.shape[-1] // 2)] * 4
        nodes.append(
            helper.make_node("Conv", [name, f"w{k}", f"b{k}"], [f"c{k}"], strides=[stride] * 2, pads=around, dilations=[wide] * 2)
        )
        name = f"c{k}"
        if k < len(LAYERS):
            nodes.append(helper.make_node("Relu", [name], [f"r{k}"]))
            name = f"r{k}"
    count = (WIDTH // CELL) * (HEIGHT // CELL)
    middles = np.stack([a.ravel() for a in cells()])[None].astype(np.float32)
    nodes += [
        helper.make_node("Reshape", [name, constant("flat", np.array([1, 5, count]))], ["told"]),
        helper.make_node("Split", ["told", constant("parts", np.array([2, 2, 1]))], ["shift", "size", "logit"], axis=1),
        helper.make_node("Mul", ["shift", constant("cell", np.float32(CELL))], ["moved"]),
        helper.make_node("Add", ["moved", constant("middles", middles)], ["place"]),
        helper.make_node("Exp", ["size"], ["grown"]),
        helper.make_node("Mul", ["grown", constant("twice", np.float32(2 * CELL))], ["sides"]),
        helper.make_node("Sigmoid", ["logit"], ["score"]),
        helper.make_node("Concat", ["place", "sides", "score"], ["output0"], axis=1),
    ]
    given = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, HEIGHT, WIDTH])
    told = helper.make_tensor_value_info("output0", TensorProto.FLOAT, [1, 5, count])
    model = helper.make_model(
        helper.make_graph(nodes, "rendered_people", [given], [told], constants),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
        doc_string="Trained on rendered people alone, by benchmarks/people_network.py of Agora.",
    )
    helper.set_model_props(model, {"names": "{0: 'person'}", "task": "detect", "trained_on": "rendered people"})
    checker.check_model(model)
    save_model(model, path)


def main() -> None:
    """Render frames, train the network, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    images, truths = gathered(options.frames, options.seed)
    print(f"{len(images)} frames, {sum(map(len, truths))} people, {time.process_time():.0f} s of processor")
    rng = np.random.default_rng(options.seed)
    images, truths = halved(images, truths, rng)
    blind = nothing(len(images) // 25, rng)
    images, truths = np.concatenate([images, blind]), truths + [np.zeros((0, 4))] * len(blind)
    write(options.output, trained(images, truths, options.rounds, options.seed))
    print(f"{options.output}: {time.process_time():.0f} s of processor")


if __name__ == "__main__":
    main()
