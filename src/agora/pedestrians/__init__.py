"""Simulated pedestrians: crowd models (`models`) move them, and behaviours (`behaviours`) set their goals and speeds.

`shared` contains code that several models and behaviours use. `function` turns a function that operates on arrays into a crowd
model.
"""
