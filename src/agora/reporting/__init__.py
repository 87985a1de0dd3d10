"""Turns the rows of runs into statistics, tables, charts, reports, comparisons, and tables for papers.

The package is not called ``report``, because `agora.report` is a function (from `agora.reporting.report`). A package with that name
would replace the function `agora.report` as soon as the package was imported anywhere.
"""
