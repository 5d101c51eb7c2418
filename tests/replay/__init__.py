"""Replaying real histories against the whole program: cases from files, and pages from an archive."""
