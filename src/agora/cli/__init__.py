"""The command line, with one file per command or family of commands. Commands import the modules they need when they run."""
