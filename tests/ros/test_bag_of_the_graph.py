"""The whole graph in lock step, recorded: its bags give the rows of the same episodes in this process, byte for byte."""

from __future__ import annotations

from std_msgs.msg import String
from tests.played import small_suite
from tests.suites import planners, results

from agora.benchmark.bench import Options, bench
from agora.benchmark.played import write_played
from agora.config import dump
from agora.datasets.bagfile import Bag
from agora.datasets.recorded import Unsaid, read_all
from agora_msgs.srv import PlayEpisode


def test_bags_of_a_suite_in_lock_step_give_the_rows_of_agora_bench(graph, tmp_path):
    suite = small_suite(tmp_path / "room", episodes=2)
    file = tmp_path / "small.yaml"
    file.write_text(dump(suite))
    settings = {"synchronous": True, "record_data": True, "local_planner": "go_to_goal", "suite": str(file)}
    for name, value in (settings | {"record_data_dir": str(tmp_path / "bags")}).items():
        graph.param(name, value)
    for package, node in (
        ("agora_simulators", "simulator"), ("agora_pedsim", "pedsim_simulator"), ("agora_navigation", "navigation"),
        ("agora_map_generator", "map_generator"),
    ):  # fmt: skip
        graph.launch(package, node, f"{node}_node" if node in ("simulator", "navigation") else node)
    graph.launch("agora_evaluation", "recorder", record_scans=True)
    closed = graph.hear("recorder/bag", String)
    graph.launch("agora_task_generator", "task_generator_server", manual=True)
    for episode in (1, 0):
        answer = graph.call("task_generator_server/play", PlayEpisode, str(file), "helbing", episode, seconds=60)
        assert answer.success, answer.message
        closed.wait(2 - episode, seconds=60)
    episodes = read_all([tmp_path / "bags"], Unsaid())
    assert [p.interrupted for p in episodes] == ["", ""]
    write_played(tmp_path / "there", episodes)
    bench(suite, planners("go_to_goal"), tmp_path / "here", Options(workers=0))
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    assert results(tmp_path / "here", tmp_path / "a") == results(tmp_path / "there", tmp_path / "b")
    scans = [m.decode() for m in Bag(episodes[0].source).messages() if m.connection.topic.endswith("/scan")]
    assert len(scans) > 10
