"""Plain data and checks that every subpackage may use: rules, digests, memory, errors, arguments, notation."""
