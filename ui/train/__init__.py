"""The Train screen: a text and a size are chosen, and the merges are watched being made.

Reading order: ``corpus_picker``, ``setup``, ``progress``, ``downloads``. No other screen imports
this one.
"""
