"""The terminal screen: a guest of the engine's handle, which owns everything that is kept."""
