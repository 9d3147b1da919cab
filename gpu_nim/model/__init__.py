"""Plain data and checks that every room may use: rules, digests, memory, errors, arguments, notation."""
