"""The command line: a file for each command or family of commands. Commands import the parts they need when they run."""
