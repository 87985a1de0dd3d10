"""Simulated pedestrians, which crowd models (`models`) move, and whose goals and speeds behaviours (`behaviours`) set.

`shared` contains code shared by several models and behaviours. `function` turns a function that operates on arrays into a crowd
model.
"""
