"""Simulated pedestrians: crowd models (`models`) move them, and behaviours (`behaviours`) set their goals and speeds.

`shared` holds parts that several models and behaviours use. `function` turns a function over arrays into a crowd model.
"""
