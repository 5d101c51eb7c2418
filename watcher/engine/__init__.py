"""The engine owns the program: it decides what is checked, checks it, and tells what is on disk."""
