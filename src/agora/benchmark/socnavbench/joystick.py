"""The simulator's side of the protocol with a SocNavBench joystick (CMU-TBD/SocNavBench 2724ea85).

The joystick connects to the simulator's socket; the simulator then connects to the joystick's socket and sends the list of
episodes. Each episode begins with a description of the world. The joystick replies with its name and ``ready``, then requests
states and sends commands until it receives the message that ends the episode.
"""

from __future__ import annotations

import math
import select
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NoReturn

from agora.benchmark.executors.outside import EpisodeLostError
from agora.errors import AgoraError, InputError, PlannerError
from agora.ranges import Within
from agora.wire import joystick as messages
from agora.wire.address import Address, connect
from agora.wire.joystick import Commands, JoystickWord, PlannerName, RenderMode
from agora.wire.mailbox import Letter, Mailbox, SenderGoneError, deliver, peer

_LISTENS = 5.0  # s, time within which a joystick that has connected must listen
_KNOCK = 0.01  # s, time between two attempts to connect, as in ``establish_handshake``
_ADDRESS = "/tmp/socnavbench_joystick"
_REPEATS = 50
_REFUSED = 10  # number of invalid messages per episode after which the planner counts as failed


@dataclass(frozen=True)
class Meeting:
    """The sockets and the rules of a session with a joystick.

    Attributes:
        address: common part of the two sockets' addresses: PATH for ``PATH_recv`` and ``PATH_send``, or HOST:PORT for the ports
            PORT and PORT + 1. SocNavBench defines its addresses in ``params/user_params.ini``, as ``recv_ID`` and ``send_ID``.
        recv: address at which the simulator listens, instead of the address derived from ``address``.
        send: address at which the joystick listens, instead of the address derived from ``address``.
        asynchronous: whether simulated time advances even without a new command; the last command is then repeated.
        repeats: maximum number of times per episode that a command is repeated, if asynchronous (``max_repeats``).
        patience: time without a message from the joystick after which the session ends, s, if not asynchronous. If the joystick's
            process ends, this is detected immediately. The default is long because SocNavBench's sampling planner computes for many
            minutes before its first message.
        render_mode: ``schematic`` for states without images, or ``full-render`` for states with images from a camera on the robot.
        camera: camera in full-render mode, given as parameters, ``key=value,key=value``, or as a robot's camera,
            ``ROBOT,key=value``. The default is the camera of the suite's robot or, if the robot has no camera, SocNavBench's
            camera.
    """

    address: str = _ADDRESS
    recv: str = ""
    send: str = ""
    asynchronous: bool = False
    repeats: Annotated[int, Within(0, 1_000_000)] = _REPEATS
    patience: Annotated[float, Within(0.0, 1e6, above=True)] = 3600.0
    render_mode: RenderMode = "schematic"
    camera: str = ""

    def __post_init__(self) -> None:
        if self.camera and self.render_mode == "schematic":
            raise InputError("camera: has no effect unless render_mode is full-render")
        if self.receives == self.sends:
            raise InputError(f"{self.sends}: the sockets of the simulator and the joystick must differ")
        if self.recv and self.send and self.address != _ADDRESS:
            raise InputError(f"address {self.address}: recv and send already name both sockets")
        if self.repeats != _REPEATS and not self.asynchronous:
            raise InputError(
                f"repeats {self.repeats}: has no effect unless asynchronous is true, because the clock waits for commands"
            )

    def unread(self) -> dict[str, str]:
        """Return the fields that have no effect because of the values of other fields, with the reasons."""
        return {"address": "with recv and send, which name both sockets"} if self.recv and self.send else {}

    @property
    def receives(self) -> Address:
        """The address at which the simulator listens."""
        return Address.of(self.recv, "recv") if self.recv else self._of_both("_recv", 0)

    @property
    def steered_by(self) -> str:
        """A description of which programs could have sent the commands instead of the joystick; it is added to every row."""
        return "" if self.receives.path else "any process on this machine: TCP does not identify the sender"

    @property
    def sends(self) -> Address:
        """The address at which the joystick listens."""
        return Address.of(self.send, "send") if self.send else self._of_both("_send", 1)

    def _of_both(self, ending: str, number: int) -> Address:
        common = Address.of(self.address)
        if common.path:
            return Address.of(common.path + ending)
        return Address.of(f"{common.host}:{common.port + number}")


class Joystick:
    """The connection to a joystick, with methods to wait for the joystick and to exchange messages with it.

    Args:
        meeting: the session's sockets and protocol rules.
        say: function that shows a line to the user.

    Attributes:
        gone: reason why the joystick no longer sends messages, or "".
    """

    def __init__(self, meeting: Meeting, say: Callable[[str], None]) -> None:
        self.meeting, self._say = meeting, say
        self.gone = ""
        self._process = 0
        self._refused = 0
        self._answers = meeting.sends
        self._socket: socket.socket | None = None
        self._mailbox = Mailbox(meeting.receives)

    def meet(self, episodes: Sequence[str]) -> None:
        """Wait until a joystick connects, connect back to it, and send it the list of episodes.

        Raises:
            EpisodeLostError: the joystick does not accept the list.
        """
        while self._socket is None:
            self._say(f"waiting for a joystick at {self._mailbox.address}")
            if self.meeting.steered_by:
                self._say(f"commands come from {self.meeting.steered_by}; the rows record this in steered_by")
            visitor = self._mailbox.visitor(math.inf)
            self._socket = self._connect(visitor or 0)
        self._mailbox.watch(self._process)
        self._tell(messages.names(episodes))

    def _connect(self, visitor: int) -> socket.socket | None:
        """Connect to the joystick of the process ``visitor``; return None if the joystick does not listen."""
        end = time.monotonic() + _LISTENS
        reason = "no process is listening there"
        while time.monotonic() < end:
            try:
                connection = connect(self._answers, self.meeting.patience)
            except OSError as error:
                reason = error.strerror or str(error)
            else:
                if (found := peer(connection)) in (0, visitor) or not visitor:
                    self._process = found or visitor
                    return connection
                connection.close()
                reason = f"process {found} is listening there"
            select.select([], [], [], _KNOCK)
        self._say(f"a client connected (process {visitor}), but the joystick's socket {self._answers} cannot be reached: {reason}")
        return None

    def begin(self, message: str) -> str:
        """Begin an episode, and return the name that the joystick gives its planner.

        Raises:
            EpisodeLostError: the joystick has disconnected, or does not become ready.
        """
        self._refused, name = 0, messages.UNKNOWN
        self._tell(message)
        while True:  # skip messages that the joystick sent before it received the end of the previous episode
            try:
                said = self.next(time.monotonic() + self.meeting.patience)
            except PlannerError as error:
                self._lose(str(error))
            match said:
                case PlannerName(told):
                    name = told
                case JoystickWord("ready"):
                    return name
                case None:
                    self._lose(f"it was not ready within {self.meeting.patience:g} s{self._unfinished()}")

    def next(self, until: float) -> JoystickWord | PlannerName | Commands | None:
        """Return the joystick's next message, or None if no message arrives before ``until``, a time on the clock of
        `time.monotonic`.

        Raises:
            EpisodeLostError: the joystick's process has ended. PlannerError: too many of the joystick's messages in this episode
                were invalid.
        """
        while True:
            try:
                letter = self._mailbox.wait(until)
            except SenderGoneError as error:
                self._lose(str(error))
            if letter is None:
                return None
            try:
                return self._read(letter)
            except InputError as error:
                self._refuse(letter, str(error))

    def command(self, until: float = math.inf) -> JoystickWord | PlannerName | Commands | None:
        """Return the joystick's next message, like `next`; unless asynchronous, the session ends if no message arrives within
        ``patience``.
        """
        if self.meeting.asynchronous:
            return self.next(until)
        said = self.next(time.monotonic() + self.meeting.patience)
        if said is None:
            self._lose(f"it sent no command for {self.meeting.patience:g} s{self._unfinished()}")
        return said

    def call_itself(self, before: str, now: str) -> None:
        """Make sure that the joystick still gives its planner the same name. Raises: EpisodeLostError: the name has changed."""
        if now != before:
            self._lose(f"it now names its planner {now!r}, but named it {before!r} before; use a separate run for each planner")

    def answer(self, message: str) -> None:
        """Send a state to the joystick. Raises: EpisodeLostError: the joystick does not receive the state."""
        self._tell(message)

    def end(self, message: str) -> None:
        """Announce the end of an episode.

        Raises:
            EpisodeLostError: the joystick did not receive the message, and in asynchronous mode it is unknown when the joystick was
                lost.
        """
        try:
            self._tell(message)
        except EpisodeLostError:
            if self.meeting.asynchronous:
                raise

    def _read(self, letter: Letter) -> JoystickWord | PlannerName | Commands:
        if letter.sender and self._process and letter.sender != self._process:
            raise InputError(
                f"it comes from process {letter.sender}, but the joystick is process {self._process}; only one may connect at "
                "a time"
            )
        if letter.problem:
            raise InputError(letter.problem)
        return messages.parse(letter.text)

    def _refuse(self, letter: Letter, reason: str) -> None:
        """Report an invalid message; too many invalid messages from the joystick itself count as a failure of its planner."""
        self._say(f"message refused: {reason}")
        if letter.sender in (0, self._process):
            self._refused += 1
        if self._refused >= _REFUSED:
            raise PlannerError(f"{self._refused} messages from the joystick were refused, most recently: {reason}")

    def _unfinished(self) -> str:
        begun = self._mailbox.begun
        return f"; {begun} of its messages are incomplete: a sender must close its connection after each message" if begun else ""

    def _tell(self, message: str) -> None:
        if self.gone:
            raise EpisodeLostError(self.gone)
        try:
            deliver(self._answers, message, self.meeting.patience, self._process)
        except (OSError, AgoraError) as error:
            self._lose(f"it does not listen at {self._answers}: {getattr(error, 'strerror', None) or error}")

    def _lose(self, reason: str) -> NoReturn:
        """Stop using the joystick because the connection is lost. Raises: EpisodeLostError: always."""
        self.gone = f"the joystick disconnected: {reason}"
        raise EpisodeLostError(self.gone)

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            self._socket.close()
        self._mailbox.close()
