"""The version, in the one place that the package, its files and its wheel read it from."""

__version__ = "0.1.0.dev0"
