"""Starting the graph and showing it."""
