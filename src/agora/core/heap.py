"""Array-based binary heaps: the priority queues of compiled searches. Plain Python code uses `heapq`.

`push` and `pop` work on pairs of a key and an item. If an item's key decreases, the item is pushed again, and the search later
skips the old pair. `move_up` and `pop_item` work on items whose keys are in an array indexed by item. If an item's key decreases,
the item moves up in the heap, so that the heap needs room for every item only once. Keys have the type of their array.

The order of equal keys affects the results of a search. In all heaps in this module, an entry that moves up never passes one with
an equal key. Removal differs: `pop` and `pop_item` let the last entry sink from the top until no child has a smaller key;
`pop_bottom_up` moves the hole down to a leaf and the last entry up from there, as ``std::pop_heap`` in libstdc++ does.
"""

from __future__ import annotations

from agora.core.jit import hidden


@hidden
def push(keys, items, count, key, item):
    """Add an item to a heap of ``count`` pairs.

    Args:
        keys: (K,) keys of the pairs; K above ``count``.
        items: (K,) items of the pairs. If a key contains its item, this is ``keys`` itself.
        count: number of pairs before the call.
        key: the item's key.
        item: the item.
    """
    slot = count
    while slot > 0:
        above = (slot - 1) >> 1
        if keys[above] <= key:
            break
        keys[slot], items[slot] = keys[above], items[above]
        slot = above
    keys[slot], items[slot] = key, item


@hidden
def pop(keys, items, count):
    """Pop and return the pair with the smallest key from a heap of ``count`` pairs; ``count`` must be at least 1."""
    first, item = keys[0], items[0]
    count -= 1
    key, last, slot = keys[count], items[count], 0
    while True:
        below = 2 * slot + 1
        if below >= count:
            break
        if below + 1 < count and keys[below + 1] < keys[below]:
            below += 1
        if key <= keys[below]:
            break
        keys[slot], items[slot] = keys[below], items[below]
        slot = below
    keys[slot], items[slot] = key, last
    return first, item


@hidden
def pop_bottom_up(keys, items, count):
    """Like `pop`, but with equal keys in the order of ``std::pop_heap`` in libstdc++."""
    first, item = keys[0], items[0]
    count -= 1
    key, last, hole = keys[count], items[count], 0
    while 2 * hole + 2 < count:
        child = 2 * hole + 2
        if keys[child] > keys[child - 1]:
            child -= 1
        keys[hole], items[hole] = keys[child], items[child]
        hole = child
    if 2 * hole + 2 == count:
        keys[hole], items[hole] = keys[count - 1], items[count - 1]
        hole = count - 1
    push(keys, items, hole, key, last)
    return first, item


@hidden
def move_up(key_of, items, slot_of, item, slot):
    """Move a new item, or an item whose key has decreased, from a slot of the heap up to its place.

    Args:
        key_of: (I,) key of each item.
        items: (K,) items of the heap.
        slot_of: (I,) slot of each item in the heap, written for the items that move.
        item: the item.
        slot: slot of the item; for a new item, the number of items in the heap.
    """
    key = key_of[item]
    while slot > 0:
        above = items[(slot - 1) >> 1]
        if key_of[above] <= key:
            break
        items[slot], slot_of[above] = above, slot
        slot = (slot - 1) >> 1
    items[slot], slot_of[item] = item, slot


@hidden
def pop_item(key_of, items, slot_of, count):
    """Pop and return the item with the smallest key from a heap of ``count`` items; arguments as in `move_up`.

    ``count`` must be at least 1. ``slot_of`` keeps an outdated value for the removed item.
    """
    first, last = items[0], items[count - 1]
    count -= 1
    key, slot = key_of[last], 0
    while True:
        below = 2 * slot + 1
        if below >= count:
            break
        child = items[below]
        if below + 1 < count and key_of[items[below + 1]] < key_of[child]:
            below += 1
            child = items[below]
        if key <= key_of[child]:
            break
        items[slot], slot_of[child] = child, slot
        slot = below
    items[slot], slot_of[last] = last, slot
    return first
