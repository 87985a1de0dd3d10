"""A real roscore and real nodes for the tests of the graph.

The workspace is the devel space that is sourced, else ``build/ros/devel`` of the checkout (``make ros``). Without rospy the tests
of this folder are not collected; with ``CI=true`` they fail instead. Nodes run on simulated time, the tests on the wall's.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xmlrpc.client import ServerProxy

import pytest
from tests.ros.csharp import build
from tests.ros.prepared import Prepared

_PAUSE = threading.Event()
_PATIENCE = 300.0  # s: a handshake of rospy that hangs is given up after 60, and the machine may be busy
_DEVEL = Path(__file__).parents[2] / "build" / "ros" / "devel"


def _source(space: Path) -> None:
    """Take over the environment of a catkin space, as ``setup.bash`` would."""
    out = subprocess.run(["bash", "-c", f". '{space}/setup.bash' && env -0"], check=True, capture_output=True, text=True).stdout
    fresh = dict(line.split("=", 1) for line in out.split("\0") if "=" in line)
    known = set(sys.path)
    sys.path[1:1] = [p for p in fresh.get("PYTHONPATH", "").split(os.pathsep) if p and p not in known]
    os.environ.update(fresh)


def _found(package: str) -> bool:
    """Return whether a package can be imported; the folder of the sources, which an editable install shows as a namespace, is
    none.
    """
    spec = importlib.util.find_spec(package)
    return spec is not None and spec.origin is not None


if not _found("agora_msgs") and (_DEVEL / "setup.bash").exists():
    _source(_DEVEL)
if not (_found("rospy") and _found("agora_msgs")):
    if os.environ.get("CI") == "true":
        raise RuntimeError("the ROS tests need rospy and a built workspace: run make ros")
    collect_ignore_glob = ["test_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Rospy leaves its sockets to the garbage collector."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed .socket:ResourceWarning")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs against a real upstream, unless the variable that its module calls ``REAL`` says how to start it."""
    absent = [
        i
        for i in items
        if "real" in getattr(i, "fixturenames", ()) and not os.environ.get(getattr(getattr(i, "module", None), "REAL", ""))
    ]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


def wait_until(condition: Callable[[], Any], what: str, seconds: float = _PATIENCE) -> Any:
    """Return the result of a condition once it is true; fail with ``what`` was waited for."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            pytest.fail(f"waited {seconds:g} s in vain for {what}")
        _PAUSE.wait(0.01)
    return answer


@dataclass
class Master:
    """A roscore. ``env`` is what a process needs to reach it."""

    uri: str
    env: dict[str, str]


@dataclass
class Node:
    """A node of the workspace that was started for a test; ``log`` is what it has said so far."""

    name: str
    process: Prepared
    output: Path

    @property
    def log(self) -> str:
        return self.output.read_text(errors="replace")

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def said(self, *words: str) -> str:
        """The log, once it has all these words: it may come after the answer that a node gave."""
        wait_until(lambda: all(each in self.log for each in words), f"{self.name} to say {', '.join(map(repr, words))}")
        return self.log

    def send(self, number: int) -> None:
        """Send a signal, if the process is there."""
        if self.running:
            os.killpg(self.process.pid, number)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal and wait until the process is gone."""
        self.send(number)
        self.bury()

    def bury(self) -> None:
        """Wait until a process that was told to end is gone."""
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


@dataclass
class Heard:
    """Messages of a topic, in the order of their coming."""

    topic: str
    messages: list[Any] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: int) -> Any:
        return self.messages[index]

    def wait(self, count: int = 1, seconds: float = _PATIENCE) -> list[Any]:
        """The messages, once there are ``count``."""
        wait_until(lambda: len(self) >= count, f"{count} messages on {self.topic}, of which {len(self)} came", seconds)
        return self.messages

    def wait_for(self, condition: Callable[[Any], bool], what: str, seconds: float = _PATIENCE) -> Any:
        """The first message that a condition holds for."""
        wait_until(lambda: any(map(condition, list(self.messages))), f"{what} on {self.topic}", seconds)
        return next(message for message in self.messages if condition(message))


@dataclass
class Graph:
    """The nodes and subscribers of a test in one namespace; all of them end with it."""

    master: Master
    namespace: str
    folder: Path
    nodes: list[Node] = field(default_factory=list)
    ends: list[Any] = field(default_factory=list)

    def name(self, name: str) -> str:
        """A name of the graph, absolute."""
        return name if name.startswith("/") else f"{self.namespace}/{name}"

    def launch(self, package: str, node: str, name: str = "", remap: dict[str, str] | None = None, **params: Any) -> Node:
        """Start a node; ``params`` are its private parameters."""
        import rospy
        from roslib.packages import find_node

        found = find_node(package, node)
        assert found, f"{package} has no node {node}: build the workspace again"
        name = name or node
        for key, value in params.items():
            rospy.set_param(f"{self.namespace}/{name}/{key}", value)
        remaps = [f"{a}:={b}" for a, b in (remap or {}).items()]
        output = self.folder / f"{name}.{len(self.nodes)}.log"
        process = Prepared(found[0], [f"__name:={name}", f"__ns:={self.namespace}", *remaps], self.master.env, output)
        self.nodes.append(Node(name, process, output))
        return self.nodes[-1]

    def param(self, name: str, value: Any) -> None:
        """Set a parameter of the graph's namespace."""
        import rospy

        rospy.set_param(self.name(name), value)

    def hear(self, topic: str, kind: Any) -> Heard:
        """Collect the messages of a topic from now on."""
        import rospy

        heard = Heard(self.name(topic))
        self.ends.append(rospy.Subscriber(heard.topic, kind, heard.messages.append, queue_size=10_000, tcp_nodelay=True))
        return heard

    def heard_from(self, node: str, topic: str) -> None:
        """Wait until a node sends a topic to this process: a subscriber of rospy has its connection a moment before."""
        import rosgraph
        import rospy

        me, name = rospy.get_name(), self.name(topic)
        bus = ServerProxy(rosgraph.Master(me).lookupNode(self.name(node)))
        wait_until(lambda: any(row[1] == me and row[4] == name for row in bus.getBusInfo(me)[2]), f"{node} sends {topic}")

    def publisher(self, topic: str, kind: Any, latch: bool = False, listeners: int = 1) -> Any:
        """A publisher that ``listeners`` in other processes have connected to."""
        import rospy

        publisher = rospy.Publisher(self.name(topic), kind, queue_size=100, latch=latch, tcp_nodelay=True)
        self.ends.append(publisher)
        others = lambda: sum(one.endpoint_id != rospy.get_name() for one in list(publisher.impl.connections))  # noqa: E731
        wait_until(lambda: others() >= listeners, f"{listeners} listeners of {publisher.name}")
        return publisher

    def serve(self, service: str, kind: Any, handler: Callable[[Any], Any]) -> Any:
        """Offer a service from the test; ``shutdown()`` of what is returned takes it away."""
        import rospy

        offered = rospy.Service(self.name(service), kind, handler)
        self.ends.append(offered)
        return offered

    def call(self, service: str, kind: Any, *arguments: Any, seconds: float = _PATIENCE, **fields: Any) -> Any:
        """Call a service as soon as it is there."""
        import rospy

        name = self.name(service)
        try:
            rospy.wait_for_service(name, seconds)
        except rospy.ROSException:
            said = "\n".join(f"{node.name}: {node.log[-2000:]}" for node in self.nodes)
            pytest.fail(f"nobody offers {name} after {seconds:g} s\n{said}")
        self._wait_for_connections()
        with ThreadPoolExecutor(1) as caller:
            answer = caller.submit(rospy.ServiceProxy(name, kind), *arguments, **fields)
            while not wait([answer], seconds).done:  # who answers may wait for a node that has crashed
                if crashed := [node for node in self.nodes if (node.process.poll() or 0) > 0]:
                    for node in self.nodes:
                        node.kill()
                    pytest.fail("\n".join(f"{node.name} has crashed: {node.log[-2000:]}" for node in crashed))
            return answer.result()

    def _wait_for_connections(self) -> None:
        """Wait until every running node sends this process the topics that it hears: a node may send a message only once."""
        import rosgraph
        import rospy

        heard = {end.name for end in self.ends if isinstance(end, rospy.Subscriber)}
        running = {self.name(node.name) for node in self.nodes if node.running}
        published, _, _ = rosgraph.Master(rospy.get_name()).getSystemState()
        for topic, nodes in published:
            for node in running.intersection(nodes) if topic in heard else ():
                self.heard_from(node, topic)

    def close(self) -> None:
        """Take everything away again.

        Also what the master knows of nodes that were killed. It would go on calling them, and once a node has their port as its
        door for messages, such a call (``POST ...``) keeps it from all others for a minute.
        """
        import rosgraph
        import rosnode
        import rospy

        for node in reversed(self.nodes):
            node.send(signal.SIGINT)
        for node in self.nodes:
            node.bury()
        if self.namespace:
            rosnode.cleanup_master_blacklist(rosgraph.Master(rospy.get_name()), rosnode.get_node_names(self.namespace))
        for end in self.ends:
            end.shutdown("test is over") if isinstance(end, rospy.Service) else end.unregister()
        if self.namespace and rospy.has_param(self.namespace):
            rospy.delete_param(self.namespace)


@pytest.fixture(scope="session")
def kernels() -> None:
    """Compile the kernels of every graph: in a fresh checkout that takes minutes, which no test is to wait for."""
    from agora.nodes.warm import warm

    warm()


@pytest.fixture(scope="session")
def master(tmp_path_factory: pytest.TempPathFactory, kernels: None) -> Iterator[Master]:
    """A roscore on a free port with a home of its own; the test process is a node of it."""
    import rospy

    home = tmp_path_factory.mktemp("ros")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {
        "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
        "ROS_IP": "127.0.0.1",
        "ROS_HOME": str(home),
        "ROS_LOG_DIR": str(home / "log"),
        "PYTHONUNBUFFERED": "1",
    }
    os.environ.update(own)
    os.environ.pop("ROS_HOSTNAME", None)
    core = subprocess.Popen(
        ["roscore", "-p", str(port)],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: _answers(port), "roscore")
        rospy.init_node("tests", anonymous=True, disable_signals=True)
        rospy.set_param("/use_sim_time", True)
        yield Master(own["ROS_MASTER_URI"], dict(os.environ))
        rospy.signal_shutdown("tests are over")
    finally:
        os.killpg(core.pid, signal.SIGINT)
        core.wait(20)


def _answers(port: int) -> bool:
    import rosgraph

    try:
        rosgraph.Master("/tests", f"http://127.0.0.1:{port}").getPid()
    except OSError:
        return False
    return True


@pytest.fixture
def graph(master: Master, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Graph]:
    """A namespace of its own on the roscore, empty again after the test."""
    number = request.session.stash.setdefault(_NUMBER, 0) + 1
    request.session.stash[_NUMBER] = number
    made = Graph(master, f"/t{number}", tmp_path)
    yield made
    made.close()


@pytest.fixture(name="wait_until")
def wait_until_fixture() -> Callable[..., Any]:
    """``wait_until(condition, what, seconds=300)``: what the condition returns once it is true, or a failure that says ``what``."""
    return wait_until


@pytest.fixture
def launch_node(graph: Graph) -> Callable[..., Node]:
    """``launch_node(package, node, name="", remap=None, **private_parameters)`` in the test's namespace."""
    return graph.launch


_NUMBER = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def csharp_player(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unity's player in C#, without Unity: a program for Mono."""
    return build(tmp_path_factory.mktemp("unity") / "player.exe")
