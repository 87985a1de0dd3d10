"""Several crowd models in one world, and substeps for those that need them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tests.engines import engine
from tests.starts import people, plane, start

from agora.core.jit import kernel
from agora.core.recording import Outcome
from agora.errors import InputError
from agora.interfaces import CrowdDeclaration
from agora.maps.grid import Map
from agora.pedestrians.models.evacuation import Evacuation
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.orca import Orca
from agora.pedestrians.models.waypoint import Waypoint
from agora.testing.crowds import crowd as crooked
from agora.world.trajectories import Trajectories

DT = 0.0625


@dataclass
class Listener:
    """Walks at a fixed velocity and keeps what it was shown."""

    velocity: tuple[float, float] = (0.3, -0.1)
    max_speed_factor: float = 5.0
    max_step: float = np.inf
    shown: list[Any] = field(default_factory=list)

    @property
    def declares(self):
        return CrowdDeclaration("velocity", self.max_speed_factor, self.max_step)

    def compute(self, scene: Any) -> Any:
        self.shown.append(dataclasses.replace(scene, position=scene.position.copy(), active=scene.active.copy()))
        return np.broadcast_to(np.float32(self.velocity), scene.position.shape)


@kernel
def _stray(parameters, crowd, out_x, out_y, first, last):
    for w in range(first, last):
        for i in range(out_x.shape[1]):
            out_x[w, i] = np.float32(0.5)
            out_y[w, i] = parameters[0] if crowd.pedestrians.x[w, i] > np.float32(3.0) else np.float32(0.0)


@dataclass(frozen=True)
class Stray:
    """A compiled model whose pedestrians have no velocity that is a number east of x = 3 m."""

    velocity: float = np.nan
    max_step: float = np.inf

    @property
    def declares(self):
        return CrowdDeclaration("velocity", max_step=self.max_step)

    def kernel(self):
        return _stray

    def parameters(self):
        return (np.float32(self.velocity),)


def after(starts, steps=20, dt=DT, **more) -> np.ndarray:
    """Positions and velocities (W, P, 4) after some steps; 0 where nobody is."""
    made = engine(starts, dt, ends=0, **more)
    for _ in range(steps):
        made.step()
    p = made.world.pedestrians
    return np.where(p.active[..., None], np.stack([p.x, p.y, p.vx, p.vy], -1), np.float32(0.0))


def numbered(starts, numbers):
    """The starts with crowd models given in turns."""
    return [
        dataclasses.replace(s, pedestrians=dataclasses.replace(s.pedestrians, model=np.resize(numbers, len(s.pedestrians.id))))
        for s in starts
    ]


MODELS = [Helbing(), Orca(), Evacuation(max_step=DT / 3), Listener()]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("every", [1, 3])
def test_halves_of_a_crowd_with_the_same_model_move_as_the_crowd_does_to_the_bit(model, every):
    starts = crooked()
    once = after(starts, crowd=model, every=every)
    assert np.array_equal(once, after(numbered(starts, [0, 1]), crowd=[model, model], every=every))
    assert np.array_equal(once, after(numbered(starts, [1]), crowd=[Waypoint(), model], every=every))


def test_everybody_is_moved_by_its_own_model_and_capped_by_it():
    far = people([[-5.0, 0.0], [0.0, 0.0], [5.0, 0.0]], [[[-4.0, 9.0]], [[-9.0, 3.0]], [[5.0, -9.0]]], speed=0.9)
    starts = numbered([start(crowd=far, pose=(9.0, 8.0, 0.0))], [2, 0, 1])
    models = [Helbing(), Listener((3.0, 4.0), max_speed_factor=2.0), Waypoint()]
    mixed = after(starts, 12, crowd=models)
    for person, number in enumerate([2, 0, 1]):
        alone = after(numbered(starts, [0]), 12, crowd=models[number])
        assert mixed[0, person] == pytest.approx(alone[0, person], abs=1e-4)
    assert mixed[0, 2, 2:] == pytest.approx((0.6 * 1.8, 0.8 * 1.8), abs=1e-5)


@pytest.mark.parametrize("model", [Stray(), Stray(np.inf), Stray(-np.inf, max_step=DT / 4)], ids=repr)
def test_a_compiled_model_whose_answer_is_not_finite_is_named_with_the_pedestrian(model):
    crowd = people([[0.0, 1.0], [2.8, -2.0]], [[[9.0, 1.0]], [[9.0, -2.0]]])
    starts = numbered([start(crowd=crowd, pose=(-9.0, 8.0, 0.0))], [0, 1])
    assert after(starts, 6, crowd=[Waypoint(), model])[0, 1, 0] == pytest.approx(2.8 + 6 * 0.5 * DT, abs=1e-5)
    with pytest.raises(InputError, match="^crowd model Stray returned values that are not finite, for pedestrian 12$"):
        after(starts, 9, crowd=[Waypoint(), model])
    after(numbered(starts, [0]), 9, crowd=[Waypoint(), model])


@pytest.mark.parametrize("output", ["velocity", "acceleration"])
@pytest.mark.parametrize("answer", [1e7, -9e7])
def test_an_answer_beyond_anything_a_body_can_do_is_refused_like_one_that_is_not_finite(output, answer):
    """Such numbers were clipped to the largest speed, or to nothing if their square is infinite."""

    @dataclasses.dataclass(frozen=True)
    class Wild:
        declares = CrowdDeclaration(output, max_speed_factor=2.0)

        def compute(self, scene):
            return np.full(scene.position.shape, answer, np.float32)

    unit = "m/s" if output == "velocity" else "m/s2"
    wanted = rf"^crowd model Wild returned \(.*\) {unit} for pedestrian 11; expected at most 1e\+06 {unit}$"
    with pytest.raises(InputError, match=wanted):
        after([start(crowd=people([[0.0, 1.0]], [[[9.0, 1.0]]]), pose=(-9.0, 8.0, 0.0))], 1, crowd=Wild())


@pytest.mark.parametrize("factor", [0.0, -1.0, 1e30, np.nan, np.inf])
def test_a_cap_of_the_speed_is_a_number_that_people_can_have(factor):
    with pytest.raises(InputError, match=r"max_speed_factor: expected a number in \(0, 100\]"):
        CrowdDeclaration("velocity", max_speed_factor=factor)


def test_models_are_neighbours_of_each_other():
    pair = people([[0.0, 0.0], [0.8, 0.1]], [[[6.0, 0.0]], [[0.8, 0.1]]])
    starts = numbered([start(crowd=pair, pose=(9.0, 8.0, 0.0))], [0, 1])
    mixed = after(starts, 3, crowd=[Helbing(), Waypoint()])
    lone = after([start(crowd=people([[0.0, 0.0]], [[[6.0, 0.0]]]), pose=(9.0, 8.0, 0.0))], 3, crowd=Helbing())
    assert mixed[0, 0, 2] < 0.8 * lone[0, 0, 2]


def test_a_step_in_four_substeps_is_four_steps_of_a_quarter():
    starts = crooked()
    whole = after(starts, 12, crowd=Evacuation(max_step=DT / 4))
    quarters = after(starts, 48, dt=DT / 4, crowd=Evacuation(max_step=1.0))
    assert np.abs(whole[..., 2:]).max() > 0.5
    assert np.array_equal(whole, quarters)


def test_only_the_model_that_needs_it_is_called_more_often_and_is_told_its_step():
    stiff, calm = Listener(max_step=0.025), Listener()
    starts = numbered([start(crowd=people([[2.0, 0.0]] * 2, [[[5.0, 0.0]]] * 2))], [0, 1])
    made = engine(starts, DT, crowd=[stiff, calm], every=4)
    for _ in range(8):
        made.step()
    assert len(stiff.shown) == 8 * 3
    assert len(calm.shown) == 2
    assert [scene.dt for scene in stiff.shown] == [pytest.approx(DT / 3)] * 24
    assert [scene.dt for scene in calm.shown] == [pytest.approx(4 * DT)] * 2
    walked = np.array([scene.position[0, 0] for scene in stiff.shown])
    assert np.allclose(np.diff(walked, axis=0), np.array([0.3, -0.1]) * DT / 3, atol=1e-6)


def test_a_longest_step_between_the_physics_step_and_the_crowd_period_means_every_physics_step():
    model = Listener(max_step=1.5 * DT)
    made = engine([start(crowd=people([[0.0, 0.0]], [[[5.0, 0.0]]]))], DT, crowd=model, every=3)
    for _ in range(6):
        made.step()
    assert [scene.dt for scene in model.shown] == [pytest.approx(DT)] * 6


def test_robots_stand_through_the_substeps_where_they_are_in_generation_t():
    model = Listener(max_step=DT / 2)
    made = engine([start(pose=(0.0, 0.0, 0.0), crowd=people([[3.0, 3.0]], [[[5.0, 0.0]]]))], DT, crowd=model)
    for _ in range(3):
        made.step(np.float32([[[1.0, 0.0, 0.0]]]))
    seen = [round(float(scene.robot_position[0, 0, 0]) / DT, 4) for scene in model.shown]
    assert seen == [0, 0, 1, 1, 2, 2]


def test_waypoints_follow_each_other_within_a_step():
    route = people([[0.0, 0.0]], [[[0.5, 0.0], [1.0, 0.0], [1.5, 0.0], [9.0, 0.0]]], speed=20.0)
    made = engine([start(crowd=route, pose=(9.0, 8.0, 0.0))], DT, crowd=Listener((16.0, 0.0), max_step=DT / 4))
    made.step()
    assert made.world.waypoints.index[0, 0] == 2
    assert made.world.pedestrians.x[0, 0] == pytest.approx(1.0)


def test_replayed_pedestrians_are_where_their_recording_says_at_every_substep_and_gone_while_it_jumps():
    recorded = Trajectories(
        id=np.array([7]), group=np.array([-1]), first=np.array([0, 2]), period=np.array([5.5 * DT]),
        knot_time=np.array([0.0, 5.5 * DT]), knot_x=np.array([0.0, 11.0], np.float32), knot_y=np.array([1.0, 1.0], np.float32),
    )  # fmt: skip
    model = Listener(max_step=DT / 2)
    one = dataclasses.replace(start(crowd=people([[3.0, 3.0]], [[[5.0, 0.0]]])), replay=recorded)
    fine, plain = engine([one], DT, crowd=model, ends=0), engine([one], DT, crowd=Listener(), ends=0)
    for _ in range(14):
        fine.step()
        plain.step()
        assert fine.world.pedestrians.active[0, 1] == plain.world.pedestrians.active[0, 1]
        if fine.world.pedestrians.active[0, 1]:
            assert fine.world.pedestrians.x[0, 1] == plain.world.pedestrians.x[0, 1]
    seen = [(round(float(s.position[0, 1, 0]), 3) if s.active[0, 1] else None) for s in model.shown]
    assert seen == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, None, None, 2, 3, 4, 5, 6, 7, 8, 9, 10, None, 1, 2, 3, 4, 5]


def test_a_contact_is_found_between_the_ends_of_a_step_with_substeps():
    crowd = people([[-3.0, 0.0]], [[[9.0, 0.0]]], speed=8.0)
    outcomes = []
    for model in (Listener((8.0, 0.0)), Listener((8.0, 0.0), max_step=DT / 5)):
        made = engine([start(pose=(0.0, 0.0, 0.0), goal=(0.0, 6.0, 0.0), crowd=crowd)], DT, crowd=model)
        for _ in range(8):
            made.step()
        status = made.world.status
        outcomes.append((status.ends.outcome[0, 0], float(status.events.step[0, 0] + status.events.fraction[0, 0]) * DT))
    assert outcomes[0][0] == outcomes[1][0] == Outcome.PEDESTRIAN_COLLISION
    assert outcomes[0][1] == pytest.approx((3.0 - 0.55) / 8.0, abs=1e-4)
    assert outcomes[1][1] == pytest.approx(outcomes[0][1], abs=1e-4)


def test_batch_padding_and_threads_change_no_bit_of_a_mixed_crowd_with_substeps():
    models = [Evacuation(max_step=DT / 3), Orca(), Listener(max_step=DT / 2), Helbing()]
    starts = numbered(crooked() * 9, [3, 0, 2, 1, 0])
    together = after(starts, crowd=models, every=2)
    assert np.array_equal(together, after(starts, crowd=models, every=2, threads=2))
    wide = after(starts, crowd=models, every=2, slots=64)
    assert np.array_equal(together, wide[:, : together.shape[1]])
    for w in range(4):
        assert np.array_equal(together[w], after(starts[w : w + 1], crowd=models, every=2, slots=together.shape[1])[0])


def test_behaviours_decide_before_a_user_written_model_is_asked():
    class Changes:
        def attach(self, world: Any, every: int, sees: int) -> Any:
            self.traits = world.traits
            return self

        def reset(self, world: int, begun: Any) -> None:
            pass

        def think(self, generation: int) -> Any:
            def decide(first: int, last: int) -> None:
                self.traits.speed[first:last] += 1.0

            return decide

    model = Listener()
    made = engine([start(crowd=people([[0.0, 0.0]], [[[5.0, 0.0]]], speed=1.0))], DT, crowd=model, behaviours=[Changes()])
    model.compute = lambda scene: model.shown.append(float(scene.preferred_speed[0, 0])) or scene.velocity  # type: ignore[method-assign]
    made.step()
    made.step()
    assert model.shown == [2.0, 3.0]


def test_what_is_no_crowd_model_and_a_number_without_a_model_are_refused():
    one = start(crowd=people([[0.0, 0.0], [1.0, 1.0]], [[[5.0, 0.0]]] * 2))
    with pytest.raises(InputError, match=r"pedestrian 12 has crowd model number 2, but the 2 crowd models are numbered from 0"):
        engine(numbered([one], [0, 2]), DT, crowd=[Waypoint(), Helbing()])
    with pytest.raises(InputError, match=r"Map is not a crowd model: expected a method compute"):
        engine([one], DT, crowd=[plane()])
    with pytest.raises(InputError, match=r"crowd model Listener: max_step: expected a number above 0, got 0"):
        engine([one], DT, crowd=Listener(max_step=0))

    class Odd(Listener):
        @property
        def declares(self):
            return CrowdDeclaration("force")

    with pytest.raises(InputError, match=r"crowd model Odd: output: expected one of acceleration, velocity, got 'force'"):
        engine([one], DT, crowd=Odd())


def test_a_world_that_is_done_stays_as_it_is_through_substeps():
    near = people([[0.6, 0.0], [4.0, 4.0]], [[[0.0, 0.0]], [[9.0, 4.0]]])
    made = engine(
        [start(pose=(0.0, 0.0, 0.0), crowd=near, place=Map.open((-9, -9), (9, 9)))], DT, crowd=Listener((-1.0, 0.0), max_step=0.02)
    )
    for _ in range(12):
        made.step()
    assert made.world.status.clock.done[0]
    x = made.world.pedestrians.x.copy()
    for _ in range(3):
        made.step()
        assert np.array_equal(made.world.pedestrians.x, x)
