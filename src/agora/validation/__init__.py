"""Validation of crowd models against known facts about pedestrians: flows, RiMEA test cases, and recorded crowds."""
