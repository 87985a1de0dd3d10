"""Where on its path a robot is, and what it aims at there: `agora.core.path`, under the name that planners use."""

from agora.core.path import point_ahead as point_ahead
