"""Planners, in one package per kind: local planners, global planners, learned planners and interplanners.

Other modules combine planners (`guided`, `recovering`, `switch`), run planners in other processes (`contained`, `remote`), and
serve callers: they look up planners by name (`presets`), call them (`adapters`) and operate on their memories (`memory`).
"""
