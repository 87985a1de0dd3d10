"""Contract suites: what every component must keep, whoever wrote it. Call one from a test of your own.

def test_my_planner_keeps_the_contract():
check_planner(MyPlanner())
"""

from agora.testing.errors import ContractError
from agora.testing.planners import check_planner
from agora.testing.scenes import Move, observation

__all__ = ["ContractError", "Move", "check_planner", "observation"]
