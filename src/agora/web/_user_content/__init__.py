"""Worlds, scenarios and suites that users keep on a server: edited on pages, drawn, or imported from files."""
