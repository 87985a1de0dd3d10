"""The command line: one file per command or family of commands. Commands import the parts they need when they run."""
