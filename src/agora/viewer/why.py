"""Explains in text why episodes ended, based only on their recordings."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.recording import STANDING, Closer, Closing, Contact, ContactKind, Outcome, Reason, Recording
from agora.core.state import Array, Doubles, Ints
from agora.metrics.blame import is_avoidable
from agora.metrics.clean import spoiling_moments
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.outline import surface_distances, wall_gaps
from agora.metrics.quantities.samples import goal_distances
from agora.viewer.planned import path_at

__all__ = ["Why", "why"]

_BACK = 1.0  # time before a contact at which the robot's speed is compared with its speed at the contact, s
_STOOD = 3.0  # time without motion before a timeout after which the robot counts as having stopped, s
_COURSE = math.cos(math.pi / 4)  # within 45 degrees, a person counts as walking towards or away from the robot
_WAITED = 5.0  # time of standing still before a contact that counts as waiting, s
_NEAR, _NEAR_FOR = 0.25, 1.0  # m and s: a robot this close to the touched party for this long before the contact got too close
_CHANGED = 0.7  # two speeds differ if one is below this fraction of the other
_TELLS = 0.1  # smaller differences in an intermediate speed are not mentioned, m/s
_TOLD = 6  # maximum number of spoiling events described in the text; further events are only counted
_TURNS = 0.1  # turning rate on the spot above which the robot counts as turning, rad/s
_CONFINED, _CONFINED_FOR = 1.0, 8.0  # m and s: a robot that stayed this close to its last position for this time made no progress
_LEFT = ("ahead on the left", "on the left", "behind on the left")
_RIGHT = ("behind on the right", "on the right", "ahead on the right")
_SIDES = ("ahead", *_LEFT, "behind", *_RIGHT)
_OBSERVED = {
    Reason.NO_HEADWAY: "no reason: the robot was commanded to move, but made no progress",
    Reason.STANDS_BY_SOMEBODY: "no reason: a person was within 1 m",
    Reason.STANDS_BY_WALL: "no reason: a wall was within 0.3 m",
    Reason.STANDS: "no reason: nothing was near",
}
_ENDED_BY = {
    Outcome.PEDESTRIAN_COLLISION: ContactKind.PEDESTRIAN,
    Outcome.WALL_COLLISION: ContactKind.WALL,
    Outcome.ROBOT_COLLISION: ContactKind.ROBOT,
}


class Why(NamedTuple):
    """An explanation of how an episode ended and why.

    Attributes:
        time: decisive time: the time of the contact or of the robot's final stop, s.
        words: explanation in a few sentences.
    """

    time: float
    words: str


def why(recording: Recording) -> Why:
    """Return an explanation of how an episode ended and what led to this end, as far as the recording shows."""
    end = float(recording.time[-1])
    contact = _last(recording)
    if contact is not None:
        return Why(contact.time, _of_contact(recording, contact))
    if recording.outcome is Outcome.REACHED:
        return _of_arrival(recording)
    if recording.outcome is Outcome.TIMEOUT:
        return _of_timeout(recording)
    if recording.outcome is Outcome.PLANNER_FAILED:
        return Why(end, f"{end:.1f} s: the planner failed: {recording.failure or 'cause not recorded'}")
    if recording.outcome is Outcome.SIMULATOR_FAILED:
        return Why(end, f"{end:.1f} s: the simulator failed: {recording.failure or 'cause not recorded'}")
    if recording.outcome is Outcome.OUT_OF_MAP:
        return Why(end, _joined(f"{end:.1f} s: left the map {_where(recording, -1)}.", _drove(recording, end)))
    return Why(end, f"{end:.1f} s: {recording.outcome.label.replace('_', ' ')} {_where(recording, -1)}.")


def _of_arrival(recording: Recording) -> Why:
    """Describe the arrival, with all events that spoilt it."""
    end, found = float(recording.time[-1]), spoiling_moments(recording)
    if not found:
        return Why(end, f"{end:.1f} s: reached the goal.")
    first = {one.words: one.time for one in reversed(found)}
    ordered = sorted(first.items(), key=lambda pair: pair[1])
    said = [words if time == end else f"{words} at {time:.1f} s" for words, time in ordered]
    more = f"; and {len(said) - _TOLD} more" if len(said) > _TOLD else ""
    return Why(found[0].time, f"{end:.1f} s: reached the goal, but not clean: {'; '.join(said[:_TOLD])}{more}.")


def _last(recording: Recording) -> Contact | None:
    """Return the contact that ended the episode, if it was recorded."""
    kind = _ENDED_BY.get(recording.outcome)
    return next((contact for contact in reversed(recording.contacts) if contact.kind == kind), None)


def _of_contact(recording: Recording, contact: Contact) -> str:
    """Describe the contact: the party, how both moved, who closed the gap, what else was near, and what the planner noted."""
    before = _sample_before(recording, contact.time)
    head = f"{contact.time:.1f} s: touched {_party(recording, contact, before)} {_where(recording, before)}."
    if contact.time < 1e-6:
        return _joined(head, "They were in contact at the start.")
    return _joined(
        head,
        _drove(recording, contact.time, contact),
        _beside(recording, contact, before),
        _waited(recording, before),
        _off_path(recording, contact) if contact.kind == ContactKind.WALL else "",
        _closed(contact),
        {True: "It could have been avoided.", False: "It could not have been avoided.", None: ""}[is_avoidable(recording, contact)],
        _about(recording, before, None if contact.kind == ContactKind.WALL else contact),
        _noted(recording, before),
    )


def _party(recording: Recording, contact: Contact, k: int) -> str:
    """Describe the party that the robot touched, on which side of the robot it was and, for a pedestrian, its motion."""
    if contact.kind == ContactKind.ROBOT:
        return f"robot {contact.party}"
    if contact.kind == ContactKind.WALL:
        side = _wall_side(recording, contact, k)
        return f"a wall {side}" if side else "a wall"
    here = np.flatnonzero((recording.pedestrian_id == contact.party) & recording.pedestrian_present[k])
    if not len(here):
        return f"pedestrian {contact.party}"
    slot = int(here[0])
    side = _side(recording, k, recording.pedestrian_position[k, slot])
    return f"pedestrian {contact.party} {side}, who {_walked(recording, k, slot)},"


def _walked(recording: Recording, k: int, slot: int) -> str:
    """Describe how a pedestrian walked: towards the robot, away from it, or across, and how fast."""
    velocity = recording.pedestrian_velocity[k, slot]
    speed, offset = float(norm(velocity)), recording.pose[k, :2] - recording.pedestrian_position[k, slot]
    if speed < STANDING:
        return "stood still"
    towards = float((velocity * offset).sum()) / (speed * max(float(norm(offset)), 1e-9))
    course = "towards the robot" if towards > _COURSE else "away from the robot" if towards < -_COURSE else "across"
    return f"walked {course} at {speed:.1f} m/s"


def _wall_side(recording: Recording, contact: Contact, k: int) -> str:
    """Return the side of the robot on which the wall was; empty if there is no map."""
    if recording.map is None:
        return ""
    angle = np.linspace(-math.pi, math.pi, 32, endpoint=False)
    ring = np.array([contact.x, contact.y]) + recording.radius * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    return _side(recording, k, ring[int(np.argmin(recording.map.gap(ring)))])


def _side(recording: Recording, k: int, place: Array) -> str:
    """Return the side of the robot on which a position is."""
    x, y, heading = recording.pose[k]
    turn = math.atan2(place[1] - y, place[0] - x) - heading
    return _SIDES[round(turn / (math.pi / 4)) % 8]


def _where(recording: Recording, k: int) -> str:
    """Describe the robot's position at a sample, and its distance from the goal."""
    return f"at {_place(recording.pose[k])}, {goal_distances(recording)[k]:.1f} m from the goal"


def _place(pose: Doubles) -> str:
    """Return coordinates in m as text, without a minus sign before zero."""
    x, y = np.round(pose[:2], 1) + 0.0
    return f"({x:.1f}, {y:.1f})"


def _drove(recording: Recording, time: float, contact: Contact | None = None) -> str:
    """Describe the motion of the robot in the last second before a time."""
    now, then = _sample_before(recording, time), _sample_before(recording, max(time - _BACK, 0.0) + 1e-6)
    speeds = norm(recording.twist[then : now + 1, :2])
    earlier, speed, highest, lowest = (float(value) for value in (speeds[0], speeds[-1], speeds.max(), speeds.min()))
    vx, vy = recording.twist[now, :2]
    course = " sideways" if abs(vy) > abs(vx) else " backwards" if vx < 0.0 else ""
    up, down = f"sped up from {earlier:.1f}", f"braked from {earlier:.1f}"
    if speed < STANDING:
        since = _stands_since(recording, now)
        if time - since < 0.5:
            return f"The robot had braked from {highest:.1f} m/s to a stop."
        on = _on_the_spot(recording.twist[int(np.searchsorted(recording.time, since)) : now + 1, 2])
        if contact is not None and (asked := _set_off(recording, contact, now)):
            return f"The robot had {on} for {time - since:.1f} s and then set off: the planner requested {asked:.1f} m/s."
        return f"The robot had {on} for {time - since:.1f} s."
    if max(earlier, speed) < min(_CHANGED * highest, highest - _TELLS):
        return f"The robot {up} to {highest:.1f} m/s and braked to {speed:.1f} m/s{course} in the last second."
    if lowest < min(_CHANGED * min(earlier, speed), min(earlier, speed) - _TELLS):
        return f"The robot {down} to {lowest:.1f} m/s and sped up to {speed:.1f} m/s{course} in the last second."
    if speed < _CHANGED * earlier:
        return f"The robot {down} to {speed:.1f} m/s{course} in the last second."
    if earlier < _CHANGED * speed:
        return f"The robot {up} to {speed:.1f} m/s{course} in the last second."
    return f"The robot kept driving{course} at {speed:.1f} m/s."


def _set_off(recording: Recording, contact: Contact, k: int) -> float:
    """Return the speed requested in the step of the contact for a robot that stood still at sample k; 0 if it stood still
    throughout.
    """
    still = contact.closing is not None and contact.closing.robot < STANDING
    if still or recording.command is None or k >= len(recording.command):
        return 0.0
    asked = float(norm(recording.command[k, :2]))
    return asked if asked >= STANDING else 0.0


def _on_the_spot(turning: Doubles) -> str:
    """Describe a robot that stays in place, based on its turning rates: it stands still, turns, or turns back and forth."""
    turned = np.abs(turning)
    if turned.mean() <= _TURNS:
        return "stood still"
    return "turned on the spot" if abs(turning.sum()) > 0.5 * turned.sum() else "turned back and forth on the spot"


def _beside(recording: Recording, contact: Contact, k: int) -> str:
    """Describe how long the robot had been close to the party that it touched, if this was long enough to show that it had got too
    close before.
    """
    if contact.kind == ContactKind.PEDESTRIAN:
        gap = surface_distances(recording)[:, recording.pedestrian_id == contact.party].min(axis=1, initial=np.inf)
    else:
        gap = wall_gaps(recording) if contact.kind == ContactKind.WALL else None
    if gap is None:
        return ""
    far = np.flatnonzero(gap[: k + 1] >= _NEAR)
    since = float(recording.time[min(int(far[-1]) + 1, k)]) if len(far) else 0.0
    if contact.time - since < _NEAR_FOR:
        return ""
    what = "the person" if contact.kind == ContactKind.PEDESTRIAN else "a wall"
    return f"It had been within {_NEAR:.2f} m of {what} for {contact.time - since:.1f} s."


def _waited(recording: Recording, k: int) -> str:
    """Describe how long the robot had stood still before it drove into something, if this was long."""
    stood = norm(recording.twist[:k, :2]) < STANDING
    waited = float(np.diff(recording.time)[:k][stood].sum()) - (recording.time[k] - _stands_since(recording, k))
    if waited < _WAITED:
        return ""
    noted = _most_noted(np.zeros(0, np.int32) if recording.reason is None else recording.reason[:k][stood[: len(recording.reason)]])
    return f"Before that, it had stood still for a total of {waited:.0f} s{f' (the planner noted{noted})' if noted else ''}."


def _off_path(recording: Recording, contact: Contact) -> str:
    """Describe the robot's distance from its path, and whether the path itself has enough room for the robot at that point."""
    path = path_at(recording, contact.time)
    if path is None or recording.map is None:
        return ""
    if not len(path):
        return "It had no path."
    nearest, off = _nearest(path, np.array([contact.x, contact.y]))
    room = float(recording.map.gap(nearest[None])[0]) - recording.radius
    words = f"It was {off:.1f} m off its planned path"
    return f"{words}, which is too narrow for it there." if room < 1e-3 else f"{words}."


def _nearest(path: Doubles, place: Doubles) -> tuple[Doubles, float]:
    """Return the point of a path (K, 2), K > 0, that is nearest to a position, and its distance, m."""
    start, leg = path[:-1], np.diff(path, axis=0)
    if not len(leg):
        return path[0], float(norm(path[0] - place))
    share = np.clip(((place - start) * leg).sum(1) / np.maximum((leg * leg).sum(1), 1e-12), 0.0, 1.0)
    points = start + share[:, None] * leg
    distance = norm(points - place)
    return points[int(distance.argmin())], float(distance.min())


def _closed(contact: Contact) -> str:
    """Describe who closed the gap, and how fast."""
    closing: Closing | None = contact.closing
    if closing is None:
        return ""
    other = "other robot" if contact.kind == ContactKind.ROBOT else "person"
    who = {Closer.ROBOT: "The robot", Closer.PERSON: f"The {other}", Closer.BOTH: "Both"}[closing.closer]
    digits = 1 if max(closing.robot, closing.party) >= 0.1 else 2
    ours, theirs = (f"{round(speed, digits) + 0.0:.{digits}f}" for speed in (closing.robot, closing.party))
    return f"{who} closed the gap (robot {ours}, {other} {theirs} m/s)."


def _about(recording: Recording, k: int, but: Contact | None = None) -> str:
    """Describe the distances to the nearest wall and to the nearest person other than the one that the robot touched."""
    walls, gaps = wall_gaps(recording), surface_distances(recording)[k]
    if but is not None and but.kind == ContactKind.PEDESTRIAN:
        gaps = np.where(recording.pedestrian_id == but.party, np.inf, gaps)
    words = [] if walls is None or but is None else [f"nearest wall {max(walls[k], 0.0):.1f} m"]
    if len(gaps) and np.isfinite(gaps.min()):
        words.append(f"{'nearest other' if but is not None else 'nearest'} person {max(gaps.min(), 0.0):.1f} m")
    return _sentence(", ".join(words))


def _noted(recording: Recording, k: int, last: int | None = None) -> str:
    """Describe the reason that the planner noted at a call, or most often at the calls from sample k to sample ``last``."""
    if recording.reason is None or not len(recording.reason):
        return ""
    first = min(k, len(recording.reason) - 1)
    noted = _most_noted(recording.reason[first : max(first, last or 0) + 1])
    return f"The planner noted{noted}." if noted else ""


def _most_noted(reasons: Ints) -> str:
    """Return the text that follows "the planner noted": the most frequent reason, and its share of the calls if this is small;
    empty if there is no reason.

    A reason that was observed by the library is marked as such.
    """
    if not reasons.any():
        return ""
    most = Reason(1 + int(np.argmax(np.bincount(reasons)[1:])))
    share = float((reasons == most).mean())
    few = f", in {max(round(100.0 * share), 1)} % of the calls" if share < 0.5 else ""
    return f" {_OBSERVED[most]}{few}" if most.observed else f": {most.label.replace('_', ' ')}{few}"


def _of_timeout(recording: Recording) -> Why:
    """Describe the timeout: whether the robot stood still, made no progress, or was still driving, where it was, and near which
    object.
    """
    end, last = float(recording.time[-1]), len(recording.time) - 1
    head = f"{end:.1f} s: time-out, {goal_distances(recording)[-1]:.1f} m from the goal."
    none = "" if math.isfinite(recording.shortest_path) else "There is no path to the goal for this robot."
    since = _stands_since(recording, last)
    far = norm(recording.pose[:, :2] - recording.pose[-1, :2]) > _CONFINED
    stayed = float(recording.time[min(int(np.flatnonzero(far)[-1]) + 1, last)]) if far.any() else 0.0
    place = _place(recording.pose[-1])
    if end - since >= _STOOD:
        k = int(np.searchsorted(recording.time, since))
        how = f"The robot {_on_the_spot(recording.twist[k:, 2])} for the last {end - since:.0f} s at {place}."
        told = (_ahead(recording, last), _asked(recording, k, last), _noted(recording, k, last))
        return Why(since, _joined(head, none, how, *told))
    if end - stayed >= _CONFINED_FOR:
        k = int(np.searchsorted(recording.time, stayed))
        how = f"The robot stayed within {_CONFINED:.0f} m of {place} for the last {end - stayed:.0f} s."
        return Why(stayed, _joined(head, none, how, _ahead(recording, last), _noted(recording, k, last)))
    first, after, share = _longest_stand(recording)
    if share >= 0.5:
        what = _on_the_spot(recording.twist[first : after + 1, 2])
        how = f"The robot {what} for a total of {share * end:.0f} s, the longest time at {_place(recording.pose[first])}, "
        how += f"from {recording.time[first]:.1f} to {recording.time[after]:.1f} s."
        told = (_ahead(recording, first), _asked(recording, first, after), _noted(recording, first, after))
        return Why(float(recording.time[first]), _joined(head, none, how, *told))
    pace = float(norm(np.diff(recording.pose[:, :2], axis=0)).sum()) / max(end, 1e-9)
    how = f"The robot kept driving, at {pace:.1f} m/s on average"
    how += f"; the shortest path is {recording.shortest_path:.1f} m long." if math.isfinite(recording.shortest_path) else "."
    return Why(end, _joined(head, none, how, _ahead(recording, last), _noted(recording, 0, last)))


def _stands_since(recording: Recording, k: int) -> float:
    """Return the time since which the robot had been standing still at sample k, s; the time of the sample itself if the robot was
    moving.
    """
    drove = np.flatnonzero(norm(recording.twist[: k + 1, :2]) >= STANDING)
    return float(recording.time[min(int(drove[-1]) + 1, k)]) if len(drove) else 0.0


def _longest_stand(recording: Recording) -> tuple[int, int, float]:
    """Return the first and the last sample of the robot's longest stop, and the fraction of the total time for which it stood
    still.
    """
    drives = np.concatenate(([True], norm(recording.twist[:-1, :2]) >= STANDING, [True]))
    at = np.flatnonzero(drives)
    longest = int(np.argmax(np.diff(at)))
    stood = np.diff(recording.time)[~drives[1:-1]].sum()
    return int(at[longest]), int(at[longest + 1]) - 1, float(stood) / max(float(recording.time[-1]), 1e-9)


def _ahead(recording: Recording, k: int) -> str:
    """Describe what was near the robot at a sample: the nearest person, with side and motion, and the nearest wall."""
    gaps, walls, words = surface_distances(recording)[k], wall_gaps(recording), []
    if len(gaps) and np.isfinite(gaps.min()):
        slot = int(gaps.argmin())
        side = _side(recording, k, recording.pedestrian_position[k, slot])
        words.append(f"nearest person {max(gaps[slot], 0.0):.1f} m {side}, who {_walked(recording, k, slot)}")
    if walls is not None:
        words.append(f"nearest wall {max(walls[k], 0.0):.1f} m")
    return _sentence("; ".join(words))


def _asked(recording: Recording, k: int, last: int) -> str:
    """Describe the speed that the planner requested while the robot stood still, from sample k to the last; empty if the command
    was not recorded.
    """
    if recording.command is None or not len(recording.command[k:last]):
        return ""
    speed = float(norm(recording.command[k:last, :2]).mean())
    return f"The planner nevertheless requested {speed:.1f} m/s." if speed >= STANDING else "The planner requested zero speed."


def _sample_before(recording: Recording, time: float) -> int:
    """Return the last sample before a time, or the first sample if there is none."""
    return max(int(np.searchsorted(recording.time, time - 1e-6)) - 1, 0)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
