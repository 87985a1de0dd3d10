"""Pedestrians on a crooked grid, for the tests of layers."""

from __future__ import annotations

import numpy as np

from agora.costmap.layers import attributes_of, bind_layers

ROWS, COLUMNS, CELL, ORIGIN = 83, 121, 0.1, (-3.17, 2.41)


def stamp(layers, position, velocity=None, heading=None, evidence=None, present=None, below=0):
    """The costs (rows, columns) that layers put on a grid that held ``below`` everywhere."""
    position = np.asarray(position, np.float32).reshape(1, -1, 2)
    count = position.shape[1]
    velocity = np.zeros((1, count, 2), np.float32) if velocity is None else np.asarray(velocity, np.float32).reshape(1, -1, 2)
    heading = np.zeros((1, count), np.float32) if heading is None else np.asarray(heading, np.float32).reshape(1, -1)
    shape = (len(attributes_of(layers)), 1, count)
    evidence = np.ones(shape, np.float32) if evidence is None else np.broadcast_to(np.asarray(evidence, np.float32), shape).copy()
    present = np.ones((1, count), np.bool_) if present is None else np.asarray(present).reshape(1, -1)
    cost = np.full((1, ROWS, COLUMNS), below, np.uint8)
    for call in bind_layers(layers, position, velocity, heading, evidence, present, cost, np.array([ORIGIN], np.float32), CELL):
        call(0, 1)
    return cost[0]


def offsets(point):
    """Vectors (rows, columns, 2) from a point to the cells' centres, m."""
    row, column = np.indices((ROWS, COLUMNS))
    centres = np.stack([column, row], -1) + 0.5
    return centres * CELL + ORIGIN - np.asarray(point)
