"""Worlds, scenarios and suites that users store on a server; users edit or draw them in the web interface, or import them from
files.
"""
