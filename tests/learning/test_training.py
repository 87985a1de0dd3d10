"""Trainings: their files, the folder of a run, and the card at the end."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from agora.benchmark.provenance.inputs import inputs
from agora.config import build_component, dump, load, plain
from agora.core.recording import Outcome
from agora.errors import DivergedError, InputError, ResultsError, UnknownNameError
from agora.interfaces import Declaration
from agora.learning.card import PolicyCard, Result, SeedRecord, load_policy_card
from agora.learning.checkpoint import ALWAYS, read_checkpoint, write_checkpoint
from agora.learning.run import CHECKPOINT, CURVE, LATEST, POLICY, Run, checkpoint_kept, planner_with, play, validation_of
from agora.learning.seed_records import played_elsewhere, record_of
from agora.learning.trainers.episodes import shares_of
from agora.learning.trainers.imitation import Lessons
from agora.learning.training import load_training, train, training_names
from agora.policies.encoding import Observe
from agora.policies.networks.sarl import SarlNetwork
from agora.policies.policy import Layer, Policy, TrainedRobot
from agora.registry import Named, make
from agora.share import folder
from agora.tasks.suite import load_suite

TINY = {
    "demonstrations": 6,
    "epochs": 1,
    "episodes": 4,
    "round": 4,
    "updates": 2,
    "batch": 20,
    "worlds": 3,
    "network": SarlNetwork(0.1),
}


@pytest.fixture(scope="module")
def training():
    whole = load_training("sarl")
    changed = replace(
        whole, trainer=Named.of("trainers", "value_learning", **TINY), planner="policy", test="demo", stages=("crossing",)
    )
    return replace(changed, validation="circle", suite="crowdnav_training", published=())


def policy(forward=0.5):
    observe = Observe(beams=0)
    layer = Layer(np.zeros((observe.length, 3), np.float32), np.float32([forward, 0.0, 0.0]), "tanh")
    return Policy.of_layers(observe, (layer,), {"label": "own"})


@pytest.mark.parametrize("name", training_names())
def test_a_training_that_comes_along_can_be_read_and_tests_on_another_suite_than_it_trains_on(name):
    training = load_training(name)
    assert training.name == name
    assert load_suite(training.test).split == "test" and training.test != training.suite
    assert {number.stage for number in training.published} <= set(training.stages)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"suite": "crowdnav"}, InputError, "the split of 'crowdnav' is test; training on a test suite is not allowed"),
        ({"stage": "circel"}, InputError, "circel.*circle"),
        ({"stages": ["invisibel"]}, InputError, "invisibel.*invisible"),
        ({"trainer": {"name": "value_learning", "netwrk": "sarl"}}, InputError, "netwrk.*network"),
        ({"trainer": "valu_learning"}, InputError, "valu_learning.*value_learning"),
        ({"seeds": [1, 1]}, InputError, "seeds: expected at least one seed"),
        ({"label": "perfect"}, InputError, "perfect"),
        ({"planner": "sarll"}, InputError, "sarll.*sarl"),
        ({"planner": "dwa"}, InputError, "'dwa' has no weights file"),
        ({"planner": "agora.planners.learned.crowdnav:Cadrl"}, InputError, r"no registered planner.*project\.entry-points"),
        ({"name": "../../x"}, InputError, r"one\.yaml:\d+: name must be a printable string that has no '/'"),
        ({"name": ".hidden"}, InputError, "name must be a printable string"),
        ({"test": "crowdnav_training"}, InputError, "a card's results must come from a test suite"),
        ({"validation": "circle"}, InputError, "stage 'circle' is used for training; choose another"),
        ({"validation": "crowdnav"}, InputError, "'crowdnav' is used for the test; choose another for validation"),
        ({"validation": "circel"}, InputError, "circel.*circle"),
    ],
)
def test_a_wrong_training_is_refused_by_name(tmp_path, change, error, message):
    path = tmp_path / "one.yaml"
    whole = load(training_file("sarl"), dict)
    path.write_text(dump(whole | change))
    with pytest.raises(error, match=message):
        load_training(path)


def training_file(name):
    return folder("configs") / "training" / f"{name}.yaml"


def test_what_a_card_says_of_its_trainer_makes_the_same_trainer():
    for name in training_names():
        part = load_training(name).trainer
        assert build_component("trainers", plain(part), name) == part


def test_a_planner_that_fails_everywhere_ends_a_validation_with_its_reason(tmp_path):
    observe = Observe(beams=0)
    layer = Layer(np.zeros((observe.length, 2), np.float32), np.zeros(2, np.float32))
    Policy.of_layers(observe, (layer,), {}, TrainedRobot(0.0, 1.0, 0.0, 1.0), 0.02).save(tmp_path / "quick.safetensors")
    planner = make("planners", "policy", file=str(tmp_path / "quick.safetensors"))
    with pytest.raises(InputError, match="fails in every episode of stage 'crossing': .*control period of 0.02 s"):
        play(load_suite("demo"), "crossing", planner)


def test_an_unknown_training_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="no training called 'sarll'.*sarl"):
        load_training("sarll")


def test_a_folder_takes_no_other_training_and_none_again_without_being_told(tmp_path, training):
    Run(tmp_path, training, 1).close()
    with pytest.raises(ResultsError, match="already contains a training; choose another folder, or continue it with --resume"):
        Run(tmp_path, training, 1)
    with pytest.raises(ResultsError, match="seed was 1, but is now 2"):
        Run(tmp_path, training, 2, resume=True)
    longer = replace(training, trainer=Named.of("trainers", "value_learning", **TINY | {"updates": 3}))
    with pytest.raises(ResultsError, match="training.trainer.updates was 2, but is now 3"):
        Run(tmp_path, longer, 1, resume=True)


def test_a_run_goes_on_from_its_checkpoint_and_forgets_what_the_curve_says_of_later_steps(tmp_path, training):
    run = Run(tmp_path, training, 1)
    run.log(10, 0.1, loss=1.0, gain=float("nan"))
    run.save(10, {"rounds": 1}, {"weights": np.float32([1.5])})
    run.log(20, 0.2, loss=0.5)
    run.close()
    again = Run(tmp_path, training, 1, resume=True)
    numbers, arrays = again.resumed
    assert (numbers["steps"], numbers["rounds"], arrays["weights"].tolist()) == (10, 1, [1.5])
    lines = [json.loads(line) for line in (tmp_path / CURVE).read_text().splitlines()]
    assert [(line["steps"], line["loss"], "gain" in line) for line in lines] == [(10, 1.0, False)]
    assert checkpoint_kept(tmp_path) == f"the checkpoint after 10 steps is in {tmp_path}"
    again.close()


def test_a_resumed_run_keeps_the_latest_policy_until_the_next_validation(tmp_path, training):
    run = Run(tmp_path, training, 1)
    policy(0.3).save(tmp_path / LATEST)
    run.save(10, {"rounds": 1}, {"weights": np.float32([1.5])})  # the last round: no other validation follows
    run.close()
    kept = (tmp_path / LATEST).read_bytes()
    Run(tmp_path, training, 1, resume=True).close()
    assert (tmp_path / LATEST).read_bytes() == kept


def test_a_diverged_run_keeps_its_last_good_checkpoint(tmp_path, training):
    run = Run(tmp_path, training, 1)
    run.save(10, {}, {"weights": np.float32([1.0])})
    before = (tmp_path / CHECKPOINT).read_bytes()
    with pytest.raises(DivergedError, match="step 20: weights is not finite any more; the last good checkpoint is in"):
        run.save(20, {}, {"weights": np.float32([np.nan])})
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    run.close()


def begun(folder, training):
    """The folder of a training that has a checkpoint after 10 steps, and a point of its curve."""
    run = Run(folder, training, 1)
    run.log(10, 0.1, loss=1.0)
    run.save(10, {"rounds": 1}, {"weights": np.float32([1.0, 2.0]), "seen": np.arange(6)})
    run.close()
    return folder


def test_a_training_file_imports_nothing(tmp_path):
    (tmp_path / "trap.py").write_text("from pathlib import Path\nPath('sprung').touch()\nclass Trap: pass\n")
    path = tmp_path / "one.yaml"
    path.write_text(dump(load(training_file("sarl"), dict) | {"planner": "tests.trap:Trap", "trainer": "trap:Trap"}))
    with pytest.raises(InputError, match="trainer called 'trap:Trap'"):
        load_training(path)
    with pytest.raises(InputError, match="no registered planner is called 'os'"):
        planner_with("os:system", "")
    assert not (tmp_path / "sprung").exists()


CUT = {
    "pickle": lambda data: b"\x80\x04pickle",
    "nothing": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
    "huge header": lambda data: b"\xff" * 8 + data[8:],
    "no number": lambda data: data.replace(b"best_seconds", b"best_decades"),
    "a text for a number": lambda data: data.replace(b'\\"steps\\": 10', b'\\"steps\\": ""'),
    "no numbers": lambda data: data.replace(b'"numbers"', b'"slumber"'),
}


@pytest.mark.parametrize("damage", CUT)
def test_a_damaged_checkpoint_is_named(tmp_path, training, damage):
    path = begun(tmp_path, training) / CHECKPOINT
    whole = path.read_bytes()
    path.write_bytes(CUT[damage](whole))
    assert path.read_bytes() != whole
    with pytest.raises(ResultsError, match="checkpoint.safetensors: is not a checkpoint"):
        Run(tmp_path, training, 1, resume=True)
    assert checkpoint_kept(tmp_path) in (
        "there is no checkpoint yet, so a resumed training run would start from scratch",
        f"the checkpoint after 10 steps is in {tmp_path}",
    )


def test_a_checkpoint_that_is_a_folder_is_named(tmp_path, training):
    path = begun(tmp_path, training) / CHECKPOINT
    path.unlink()
    path.mkdir()
    with pytest.raises(ResultsError, match=r"checkpoint\.safetensors: is not a checkpoint: expected a file, got a folder"):
        Run(tmp_path, training, 1, resume=True)


def test_a_training_goes_on_from_no_other_training_s_checkpoint(tmp_path, training):
    other = replace(training, trainer=Named.of("trainers", "value_learning", **TINY | {"updates": 3}))
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    checkpoint = begun(tmp_path / "mine", training) / CHECKPOINT
    shutil.copyfile(begun(tmp_path / "other", other) / CHECKPOINT, checkpoint)
    with pytest.raises(ResultsError, match=r"checkpoint\.safetensors: is a checkpoint of another training"):
        Run(tmp_path / "mine", training, 1, resume=True)


def test_weights_that_are_not_finite_are_no_checkpoint_to_go_on_from(tmp_path):
    numbers = dict.fromkeys(ALWAYS, 1.0)
    write_checkpoint(tmp_path / CHECKPOINT, "mine", numbers, {"weights": np.float32([1.0, np.nan])})
    with pytest.raises(ResultsError, match=r"checkpoint\.safetensors: weights is not finite"):
        read_checkpoint(tmp_path / CHECKPOINT, "mine")


def test_what_a_trainer_looks_for_and_does_not_find_is_named(tmp_path):
    write_checkpoint(tmp_path / CHECKPOINT, "mine", dict.fromkeys(ALWAYS, 1.0), {"weights": np.float32([1.0])})
    numbers, arrays = read_checkpoint(tmp_path / CHECKPOINT, "mine")
    with pytest.raises(ResultsError, match=r"checkpoint\.safetensors: has no number 'rounds'"):
        numbers["rounds"]
    with pytest.raises(ResultsError, match=r"checkpoint\.safetensors: has no array 'bias'"):
        arrays["bias"]


@pytest.mark.parametrize(
    "line", ["{", "[10]", "10", '{"loss": 1.0}', '{"steps": "ten"}', '{"steps": NaN}', '{"steps": 1, "loss": null}']
)
def test_a_damaged_curve_is_named_with_its_line(tmp_path, training, line):
    curve = begun(tmp_path, training) / CURVE
    curve.write_text(curve.read_text() + f"{line}\n")
    with pytest.raises(ResultsError, match=r"curve\.jsonl:2: expected a point such as"):
        Run(tmp_path, training, 1, resume=True)


def test_a_curve_that_is_no_text_is_named(tmp_path, training):
    (begun(tmp_path, training) / CURVE).write_bytes(b"\xff\xfe\n")
    with pytest.raises(ResultsError, match=r"curve\.jsonl:1: expected UTF-8 text"):
        Run(tmp_path, training, 1, resume=True)


def test_a_training_is_not_resumed_with_a_robot_file_that_was_changed(tmp_path, training, monkeypatch):
    suite = load_suite("crowdnav_training")
    robot = tmp_path / "mine.yaml"
    robot.write_text((folder("configs") / "robots" / f"{suite.stages[0].models[0]}.yaml").read_text())
    mine = replace(suite, stages=tuple(replace(stage, robot=str(robot)) for stage in suite.stages))
    monkeypatch.setattr("agora.learning.run.load_suite", lambda name: mine if name == suite.name else load_suite(name))
    (tmp_path / "run").mkdir()
    begun(tmp_path / "run", training)
    robot.write_text(f"{robot.read_text()}# heavier\n")
    with pytest.raises(ResultsError, match=r"mine\.yaml was changed since the training started; put the file back"):
        Run(tmp_path / "run", training, 1, resume=True)


@pytest.mark.parametrize(
    ("old", "words"),
    [
        (
            "0.1.0, code ",
            r"package agora-nav was 0\.1\.0, code 00\w+ and is .*: agora/seeds\.py \(changed\) since the training started",
        ),
        ("torch: ", r"torch was 00\S+ when the training started and is now \S+; install the earlier version"),
        ("numpy: ", r"numpy was 00\S+ when the training started and is now \S+; install the earlier version"),
    ],
)
def test_a_training_is_not_resumed_with_other_code_or_other_versions_of_what_computes_it(tmp_path, training, old, words):
    record = begun(tmp_path, training) / "training.yaml"
    for file, text in ((record, old), (tmp_path / "code.txt", "")):
        listed = file.read_text().splitlines(keepends=True)
        at = next(k for k, line in enumerate(listed) if (text or "  agora/seeds.py") in line)
        listed[at] = listed[at].replace(text, f"{text}00") if text else f"00{listed[at]}"
        file.write_text("".join(listed))
    with pytest.raises(ResultsError, match=words):
        Run(tmp_path, training, 1, resume=True)


def test_the_weights_of_a_teacher_are_among_the_files_of_a_training(tmp_path, training):
    taught = replace(training, trainer=Named.of("trainers", "value_learning", **TINY | {"teacher": "sarl"}))
    written = load(begun(tmp_path, taught) / "training.yaml", dict)
    assert "configs/policies/sarl.safetensors" in written["inputs"]
    assert "configs/policies/cadrl.safetensors" in inputs(Named.of("trainers", "cloning", lessons=Lessons("cadrl")))


def test_a_training_of_before_that_kept_no_digests_is_not_resumed(tmp_path, training):
    record = begun(tmp_path, training) / "training.yaml"
    written = load(record, dict)
    assert {"inputs", "packages"} <= written.keys()
    record.write_text(dump({key: value for key, value in written.items() if key != "inputs"}))
    with pytest.raises(ResultsError, match="was started by a version of Agora that did not record inputs; start again"):
        Run(tmp_path, training, 1, resume=True)


def test_the_policy_that_is_kept_is_the_best_by_validation(tmp_path, training, monkeypatch):
    found = iter([Result("v", 10, 6, 4, 0, 9.0), Result("v", 10, 5, 5, 0, 3.0), Result("v", 10, 6, 4, 0, 8.0)])
    monkeypatch.setattr("agora.learning.run.play", lambda *_, **__: next(found))
    run = Run(tmp_path, training, 1)
    kept = []
    for forward in (0.1, 0.2, 0.3):
        run.validate(policy(forward), 5, 0.5)
        kept.append((tmp_path / POLICY).read_bytes())
    run.close()
    assert kept[0] == kept[1] != kept[2]  # more success counts first, then less time


def test_episodes_are_counted_by_their_ends():
    suite = load_suite("demo")
    result = play(suite, "crossing", make("planners", "go_to_goal"))
    assert result.episodes == suite.stage("crossing").episodes
    assert result.reached + result.collided + result.left + result.late == result.episodes
    half = Result("x", 8, 4, 3, 1, 2.5, left=0)
    assert half.success[0] == 0.5 and half.success[1:] == pytest.approx((0.2152, 0.7848), abs=1e-4)
    assert str(half) == "success 0.500 [0.215, 0.785], collisions 0.375, 2.50 s"
    assert "collisions 0.375, left the map 0.125, 2.50 s" in str(replace(half, left=1))
    assert "collisions or left the map 0.375, 2.50 s" in str(replace(half, left=None))


def test_who_leaves_the_map_has_not_collided(monkeypatch):
    ends = [Outcome.REACHED, Outcome.OUT_OF_MAP, Outcome.WALL_COLLISION, Outcome.OUT_OF_MAP, Outcome.TIMEOUT]
    robots = [SimpleNamespace(outcome=outcome, time=[0.0, 7.5], failure="") for outcome in ends]
    monkeypatch.setattr("agora.learning.run.Episodes", lambda *_, **__: [(None, robots)])
    result = play(load_suite("demo"), "crossing", make("planners", "go_to_goal"))
    assert result == Result("crossing", 5, 1, 1, 1, 7.5, 0, left=2, walls=1)
    assert shares_of(Counter(outcome.label for outcome in ends)) == {
        "success": 0.2, "collisions": 0.2, "left_map": 0.4, "timeouts": 0.2
    }  # fmt: skip


def test_a_card_says_where_leaving_the_map_is_in_its_collisions():
    card = load_policy_card("sarl")
    (first, *_), seed = card.seeds[0].results, card.seeds[0]
    for left, words in ((None, "| in collisions |"), (3, "| 0.6 % |")):
        shown = replace(card, seeds=(replace(seed, results=(replace(first, left=left),)),)).page("curve.png")
        assert "| collisions | left the map |" in shown and words in shown
    assert Outcome.REACHED.label == "reached"


def test_a_training_ends_with_a_record_and_a_card_that_say_what_was_measured(tmp_path, training):
    training = replace(training, planner="sarl")
    *_, trained = train(training, tmp_path / "seed_4", 4)
    run = trained.run
    record = record_of(run)
    assert record_of(run) == record  # read, not played again
    assert (
        record.curve and record.results[0].episodes == load_suite("demo").stage("crossing").episodes and "commit" in record.made_on
    )
    other = replace(record, seed=5, results=(Result("crossing", 3, 3, 0, 0, 4.5),))
    said = load(tmp_path / "seed_4" / "training.yaml", dict)["training"]
    said["published"] = [{"stage": "crossing", "success": 0.9, "source": "a paper", "seconds": None}]
    card = PolicyCard(said, (record, other))
    card.save(tmp_path)
    page = (tmp_path / "card.md").read_text()
    assert "2 seeds were trained; the policy in this folder is that of seed 4" in page
    assert "| `crossing` | seed 5 | 3 | 100.0 % [43.9, 100.0] | 0.0 % |" in page
    assert "| `crossing` | published: a paper |  | 90 % |" in page
    assert "| `demonstrations` | 6 |" in page and (tmp_path / "curve.png").stat().st_size > 1000
    assert load(tmp_path / "card.yaml", PolicyCard) == card
    off = (Result("square", 8, 2, 5, 0, 4.0, left=1, walls=4), Result("ward", 8, 8, 0, 0, 4.0, left=0, walls=0))
    warning = replace(card, training=said | {"elsewhere": "grounds"}, elsewhere=off).page("x.png")
    assert "Elsewhere\n: it reaches its goal in `square` 2 of 8 (4 meet walls), `ward` 8 of 8." in warning
    assert "| `square` | 8 | 25.0 % [7.1, 59.1] | 1 | 4 | 1 | 0 | 0 |" in warning and "The suite `grounds`" in warning
    stopped = PolicyCard(said, (record, replace(record, seed=6, results=(), stopped=True))).page("x.png")
    assert "seed 4" in stopped and "| seed 6 |" not in stopped
    assert f"The training with seed 6 was stopped after {record.steps:,} steps; its policy is the best in validation" in stopped


def test_a_policy_is_played_on_grounds_that_it_was_not_trained_on(tmp_path):
    policy(0.5).save(tmp_path / "policy.safetensors")
    results = played_elsewhere(make("planners", "policy", file=str(tmp_path / "policy.safetensors")), "demo")
    assert [(r.stage, r.episodes) for r in results] == [(s.name, s.count) for s in load_suite("demo").stages]
    for r in results:
        assert r.reached + r.collided + r.late + r.left + r.failed == r.episodes and r.walls <= r.collided
    assert sum(r.walls for r in results) > 0
    assert played_elsewhere(None, "") == ()


def test_a_planner_that_always_fails_elsewhere_is_said_to(tmp_path):
    class Fails:
        declares = Declaration()

        def act(self, observation, memory):
            raise ValueError("no")

    assert all((r.failed, r.reached) == (r.episodes, 0) for r in played_elsewhere(Fails(), "demo"))


def test_the_card_of_sarl_says_what_it_reaches_beside_what_was_published():
    card = load_policy_card("sarl")
    invisible = card.seeds[0].results[0]
    assert (invisible.stage, invisible.episodes) == ("invisible", 500) and invisible.success[0] >= 0.95
    assert "published: C. Chen et al. 2019" in card.page("x.png")
    assert isinstance(card.seeds[0], SeedRecord)
    with pytest.raises(UnknownNameError, match="no policy card called 'sarll'"):
        load_policy_card("sarll")


def test_a_validation_is_a_stage_or_all_stages_of_another_suite():
    suite = load_suite("social_training")
    assert validation_of("square", suite) == [(suite, "square")]
    places = validation_of("social_validation", suite)
    assert len(places) == 12 and {one.name for one, _ in places} == {"social_validation"}
    with pytest.raises(InputError, match="squar.*square"):
        validation_of("squar", suite)


def test_outcomes_of_several_stages_add_up():
    one = Result("a", 4, 3, 1, 0, 10.0, left=0, walls=1)
    other = Result("b", 6, 1, 2, 2, 20.0, failed=1, left=1, walls=0)
    both = Result.together("both", [one, other, Result("c", 2, 0, 1, 1)])
    assert both == Result("both", 12, 4, 4, 3, 12.5, failed=1, left=1, walls=1)
    assert Result.together("none", [Result("a", 1, 0, 1, 0), Result("b", 1, 0, 0, 1)]).seconds is None
    assert Result.together("alone", [one]) is one
