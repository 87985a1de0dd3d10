"""Simulated pedestrians: crowd models (`models`) move them, behaviours (`behaviours`) decide where they want to go and how fast.

`shared` holds what several of them are made of; `function` makes a crowd model of one function over arrays.
"""
