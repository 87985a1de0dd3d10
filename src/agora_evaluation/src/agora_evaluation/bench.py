"""Runs a suite through a running graph: ``agora bench SUITE --planner ros`` starts this as ``rosrun agora_evaluation bench``.

The service ``task_generator_server/play`` starts each episode, the recorder node records it, and this node reads its bag once the
bag is closed. The robots are driven by the navigation that the graph was started with: ``navigation:=external`` (any program that
publishes ``cmd_vel``), mbf or agora. The node does not command robots, and measures waiting times by the wall clock.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import rosgraph
import rospy
import yaml
from std_msgs.msg import String

from agora.benchmark.bench import bench
from agora.benchmark.events import Advanced
from agora.benchmark.executors.outside import EpisodeLostError, Outside
from agora.benchmark.request import Request
from agora.benchmark.results.run_folder import episodes_kept
from agora.cli.stopping import raise_caught, stoppable
from agora.core.recording import Recording
from agora.datasets.rosbag import read_episode
from agora.errors import AgoraError, InputError, StoppedError
from agora.node_logic.arguments import Arguments, arguments_of
from agora.tasks.suite import load_suite
from agora_msgs.msg import EpisodeStatus
from agora_msgs.srv import PlayEpisode

_START = 60.0  # s, maximum time for the graph to start
_SILENCE = 60.0  # s, maximum time without messages about an episode's status, bag or robots
PLAY = "task_generator_server/play"


class Graph:
    """A running ROS graph in which episodes are run; ``suite`` is a name or path, as passed to the task generator."""

    def __init__(self, suite: str) -> None:
        self._suite = suite
        self._news = threading.Condition()
        self._bag, self._given_up, self._heard = "", EpisodeStatus(), time.monotonic()
        rospy.Subscriber("recorder/bag", String, self._on_bag, queue_size=10)
        rospy.Subscriber("task_generator_server/given_up", EpisodeStatus, self._on_given_up, queue_size=10)
        rospy.Subscriber("simulator/robots", rospy.AnyMsg, self._on_robots, queue_size=1)
        for service in (PLAY, "recorder/begin"):
            try:
                rospy.wait_for_service(service, _START)
            except rospy.ROSException as error:
                raise InputError(
                    f"no node offered {rospy.resolve_name(service)} within {_START:g} s: start the graph with "
                    "record_data:=true, e.g. "
                    "roslaunch agora_bringup start_arena.launch record_data:=true navigation:=external"
                ) from error
        self._play = rospy.ServiceProxy(PLAY, PlayEpisode)

    def play(self, stage: str, episode: int) -> list[Recording]:
        """Run an episode and return a recording of each robot.

        Raises:
            EpisodeLostError: the episode did not end. InputError: the graph rejected the episode, or ran another one.
        """
        before = self._bag
        try:
            answer = self._play(self._suite, stage, episode)
        except rospy.ServiceException as error:
            raise EpisodeLostError(f"the task generator is no longer available: {error}") from error
        raise_caught()  # rospy's sockets may have caught a signal
        if not answer.success:
            raise InputError(f"the task generator refuses {stage}/{episode}: {answer.message}")
        path = self._closed(answer.number, before)
        played = read_episode(path)
        if (played.stage, played.episode) != (stage, episode):
            raise InputError(f"{path}: contains {played.entry}; expected {stage}/{episode}: is another client using this graph?")
        if played.interrupted:
            raise EpisodeLostError(played.interrupted)
        if played.by_hand:
            raise EpisodeLostError(
                f"the goal of {', '.join(played.by_hand)} was set by hand, so this is not an episode of the suite"
            )
        return [robot.recording for robot in played.robots]

    def _closed(self, number: int, before: str) -> Path:
        """Return the bag of a reset once it is closed and complete. The task generator repeats an interrupted episode."""
        self._heard = time.monotonic()
        with self._news:
            while not rospy.is_shutdown():
                if self._bag != before and _number_of(self._bag) == number:
                    before = self._bag
                    if not read_episode(Path(before)).interrupted:
                        return Path(before)
                if self._given_up.number == number and self._given_up.reason:
                    raise EpisodeLostError(self._given_up.reason)
                if time.monotonic() - self._heard > _SILENCE:
                    raise EpisodeLostError(f"the episode sent no messages for {_SILENCE:g} s")
                self._news.wait(0.5)
                raise_caught()
        raise EpisodeLostError("the graph was shut down")

    def _on_bag(self, message: String) -> None:
        with self._news:
            self._bag, self._heard = message.data, time.monotonic()
            self._news.notify_all()

    def _on_given_up(self, status: EpisodeStatus) -> None:
        with self._news:
            self._given_up = status
            self._news.notify_all()

    def _on_robots(self, message: rospy.AnyMsg) -> None:
        self._heard = time.monotonic()


def _number_of(bag: str) -> int:
    """Return the number of the reset from a bag's name, in which the number of the attempt may follow."""
    parts = Path(bag).stem.split("_")
    numbers = [int(part) for part in parts[-2:] if part.isdigit()]
    return numbers[-1] if numbers else -1


def check_launch(command: str, suite: str) -> None:
    """Check that roslaunch arguments have an effect on the episodes of a suite.

    Raises:
        InputError: an argument has no effect, because the suite determines it.
    """
    given = dict(word.split(":=", 1) for word in shlex.split(command) if ":=" in word)
    for name in ("episodes", "seed", "suite"):
        if given.get(name):
            raise InputError(f"--ros-launch: {name}:={given[name]} has no effect: agora bench requests the episodes; leave it out")
    values = {name: yaml.safe_load(text) for name, text in given.items() if text}
    arguments_of(values | {"suite": suite, "record_data": True}, Arguments, "--ros-launch")


@contextmanager
def launched(command: str, suite: str) -> Iterator[None]:
    """Run roslaunch with the given arguments while this context is active, and shut it down at the end; do nothing if there are no
    arguments.

    Args:
        command: arguments of roslaunch.
        suite: suite whose episodes the graph will run.

    Raises:
        InputError: roslaunch exits before the graph is up; a graph is already running, for example from a run that was killed; or
            an argument has no effect on the suite's episodes.
    """
    if not command:
        yield
        return
    check_launch(command, suite)
    if _offered(PLAY):
        raise InputError(
            f"a graph is already running at {os.environ.get('ROS_MASTER_URI')}: leave out --ros-launch to use it, or stop it"
        )
    process = subprocess.Popen(["roslaunch", *shlex.split(command)], start_new_session=True, stdout=sys.stderr)
    try:
        end = time.monotonic() + _START
        while not _offered(PLAY) and process.poll() is None and time.monotonic() < end:
            rospy.rostime.wallsleep(0.1)
        if process.poll() is not None:
            raise InputError(f"roslaunch {command}: exited with status {process.returncode}; its output is above")
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(30)


def _offered(service: str) -> bool:
    """Return whether a ROS master knows a node that offers a service."""
    try:
        rosgraph.Master("/bench").lookupService(rospy.resolve_name(service))
    except (OSError, rosgraph.MasterException):
        return False
    return True


def main() -> int:
    """Run the node. Return 0 if the suite was run, 2 after an error, and 130 or 143 after a signal; the reason is printed in one
    line.
    """
    parser = argparse.ArgumentParser(prog="bench", description="Run a suite through a running ROS graph.")
    parser.add_argument("suite")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--label", default="ros")
    parser.add_argument("--launch", default="", help="arguments for roslaunch, which is then started")
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args(rospy.myargv()[1:])
    try:
        suite = load_suite(given.suite)
        with launched(given.launch, given.suite):
            if not rosgraph.is_master_online():
                raise InputError(f"no roscore at {os.environ.get('ROS_MASTER_URI')}: start the graph first, or give --ros-launch")
            rospy.init_node("bench", anonymous=True)
            graph = Graph(str(Path(given.suite).absolute()) if Path(given.suite).is_file() else given.suite)
            request = Request.outside(suite, given.label, given.output, Outside(graph.play), resume=given.resume)
            with stoppable(lambda: episodes_kept(given.output)):  # in place of rospy's own handlers
                for event in bench(request):
                    if isinstance(event, Advanced):
                        sys.stderr.write(f"{event.done} of {event.total} episodes\n")
    except StoppedError as stopped:
        sys.stderr.write(f"{stopped}\n")
        return stopped.code
    except AgoraError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0
