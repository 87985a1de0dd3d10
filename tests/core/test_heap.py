"""Heaps: against `heapq`, and the order of equal keys against plain copies of the algorithms that fix it."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from agora.core.heap import move_up, pop, pop_bottom_up, pop_item, push
from agora.core.jit import kernel

NEW = -1


@kernel
def _run_pops(bottom_up, commands, keys, items, popped, first, last):
    """Push each number of ``commands`` as a key, its position as the item; pop where it is negative. Return the number of pops."""
    count, pops = 0, 0
    for k in range(first, last):
        if commands[k] >= 0:
            push(keys, items, count, commands[k], k)
            count += 1
        elif count > 0:
            popped[pops] = pop_bottom_up(keys, items, count)[1] if bottom_up else pop(keys, items, count)[1]
            count -= 1
            pops += 1
    return pops


@kernel
def _run_packed(commands, keys, popped, first, last):
    """As `_run_pops` with keys that contain their items."""
    count, pops = 0, 0
    for k in range(first, last):
        if commands[k] >= 0:
            push(keys, keys, count, commands[k], commands[k])
            count += 1
        elif count > 0:
            popped[pops], _ = pop(keys, keys, count)
            count -= 1
            pops += 1
    return pops


@kernel
def _run_items(changes, key_of, items, slot_of, popped, first, last):
    """Give the item of each row (item, key) a smaller key, or add it; remove the first item where the row's item is negative."""
    count, pops = 0, 0
    for k in range(first, last):
        item = changes[k, 0]
        if item < 0:
            if count > 0:
                popped[pops] = pop_item(key_of, items, slot_of, count)
                slot_of[popped[pops]] = NEW
                count -= 1
                pops += 1
        elif slot_of[item] == NEW:
            key_of[item] = changes[k, 1]
            move_up(key_of, items, slot_of, item, count)
            count += 1
        elif changes[k, 1] < key_of[item]:
            key_of[item] = changes[k, 1]
            move_up(key_of, items, slot_of, item, slot_of[item])
    return pops


def _commands(rng, size, distinct):
    """Keys up to ``distinct`` - 1, so that many are equal, and -1 for removals; as many removals as keys, and some too early."""
    commands = rng.integers(0, distinct, size)
    commands[rng.random(size) < 0.4] = -1
    return np.concatenate([commands, np.full(size, -1)])


def _sift_up(heap, slot):
    """Move the entry (key, item) of a slot up past larger keys."""
    while slot and heap[(slot - 1) // 2][0] > heap[slot][0]:
        heap[(slot - 1) // 2], heap[slot] = heap[slot], heap[(slot - 1) // 2]
        slot = (slot - 1) // 2


def _plain_pop(heap, bottom_up):
    """Remove the first entry (key, item) of a list."""
    first, last = heap[0], heap.pop()
    if not heap:
        return first
    slot, heap[0] = 0, last
    while 2 * slot + 1 < len(heap):
        below = [s for s in (2 * slot + 1, 2 * slot + 2) if s < len(heap)]
        # libstdc++ prefers the right one of equal children, the usual heap the left one.
        child = min(reversed(below) if bottom_up else below, key=lambda s: heap[s][0])
        if not bottom_up and last[0] <= heap[child][0]:
            break
        heap[slot], heap[child] = heap[child], heap[slot]
        slot = child
    _sift_up(heap, slot)
    return first


@pytest.mark.parametrize("bottom_up", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("distinct", [1, 4, 30, 100_000])
def test_items_leave_in_the_order_of_their_keys_and_equal_keys_in_that_of_the_plain_algorithm(rng, bottom_up, kind, distinct):
    for size in (1, 2, 3, 7, 150, 151):
        commands = _commands(rng, size, distinct)
        keys, items, popped = np.empty(size, kind), np.empty(size, np.int32), np.full(2 * size, -1)
        pops = _run_pops(bottom_up, commands.astype(kind), keys, items, popped, 0, 2 * size)
        plain, sorted_keys, expected, expected_keys = [], [], [], []
        for k, key in enumerate(commands):
            if key >= 0:
                plain.append((key, k))
                _sift_up(plain, len(plain) - 1)
                heapq.heappush(sorted_keys, key)
            elif plain:
                expected.append(_plain_pop(plain, bottom_up)[1])
                expected_keys.append(heapq.heappop(sorted_keys))
        assert popped[:pops].tolist() == expected
        assert commands[popped[:pops]].tolist() == expected_keys


def test_keys_that_contain_their_items_leave_in_the_order_of_heapq(rng):
    for size in (1, 2, 40, 211):
        commands = _commands(rng, size, 50)
        keys, popped, expected, queue = np.empty(size, np.int64), np.full(2 * size, -1), [], []
        pops = _run_packed(commands, keys, popped, 0, 2 * size)
        for key in commands.tolist():
            if key >= 0:
                heapq.heappush(queue, key)
            elif queue:
                expected.append(heapq.heappop(queue))
        assert popped[:pops].tolist() == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("distinct", [3, 40, 100_000])
def test_items_whose_keys_fall_leave_in_the_order_of_their_keys_as_in_the_plain_algorithm(rng, kind, distinct):
    items = 60
    for _ in range(10):
        changes = np.column_stack([rng.integers(-20, items, 400), rng.integers(0, distinct, 400)])
        changes = np.vstack([changes, np.full((items, 2), -1)])
        key_of, heap = np.zeros(items, kind), np.empty(items, np.int32)
        slot_of, popped = np.full(items, NEW, np.int32), np.full(len(changes), -1)
        pops = _run_items(changes, key_of, heap, slot_of, popped, 0, len(changes))
        plain, expected = [], []
        for item, key in changes.tolist():
            if item < 0 and plain:
                least = min(plain)[0]
                expected.append(_plain_pop(plain, bottom_up=False))
                assert expected[-1][0] == least
            elif item >= 0:
                slot = next((s for s, entry in enumerate(plain) if entry[1] == item), len(plain))
                if slot == len(plain):
                    plain.append((key, item))
                elif key < plain[slot][0]:
                    plain[slot] = key, item
                _sift_up(plain, slot)
        assert popped[:pops].tolist() == [item for _, item in expected]
