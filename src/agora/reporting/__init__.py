"""From the rows of runs to numbers and pages: statistics, tables, charts, reports, comparisons, tables for papers.

The package is not called ``report``, because `agora.report` is a function, that of `agora.reporting.report`: a package of that name
would replace it as an attribute of `agora` as soon as anything imported the package.
"""
