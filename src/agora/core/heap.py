"""Binary heaps in arrays: the queues of compiled searches. Code in plain Python uses `heapq`.

`push` and `pop` work on pairs of a key and an item; an item whose key falls is pushed once more, and the search skips its old pair
later. `move_up` and `pop_item` work on items whose keys are in an array by item; an item whose key falls moves up in its place, so
that the heap has room for every item once. Keys have the type of their array.

The order of equal keys is part of the results of a search. In all heaps here, an entry never passes one with an equal key on its
way up. The removals differ: `pop` and `pop_item` let the last entry sink from the top until no child has a smaller key;
`pop_bottom_up` moves the hole down to a leaf and the last entry up from there, as ``std::pop_heap`` of libstdc++ does.
"""

from __future__ import annotations

from agora.core.jit import hidden


@hidden
def push(keys, items, count, key, item):
    """Add an item to a heap of ``count`` pairs.

    Args:
        keys: (K,) keys of the pairs; K above ``count``.
        items: (K,) their items. If a key contains its item, this is ``keys`` itself.
        count: number of pairs before.
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
    """Remove the pair with the smallest key from a heap of ``count`` pairs, at least one, and return it."""
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
    """As `pop`, with the order of equal keys of ``std::pop_heap`` of libstdc++."""
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
    """Move an item whose key has fallen, or a new one, from a slot of the heap up to its place.

    Args:
        key_of: (I,) key of each item.
        items: (K,) items of the heap.
        slot_of: (I,) slot of each item in the heap, written for the items that move.
        item: the item.
        slot: its slot; the number of items in the heap for a new item.
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
    """Remove the item with the smallest key from a heap of ``count`` items, at least one, and return it; arguments as in `move_up`.

    The slot of the removed item keeps an old value.
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
