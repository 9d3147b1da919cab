"""Plain data and checks that every subpackage may use: rules, scenes, digests, memory, errors, arguments, files."""
