"""The pure core: values and rules, with no I/O, no clock and no randomness of its own."""
