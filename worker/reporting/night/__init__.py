"""The night's report: one model (`model.py`), gathered once, written in four formats.

What a night is, is in `window.py`. Everything is read with bounded statements from the roll-ups,
the rows that ended, and the evidence folder; nothing is changed.
"""
