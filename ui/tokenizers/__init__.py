"""Tokenizers as a visitor meets them: chosen, brought in, taken home.

Reading order: ``shelf`` (which there are), ``picker`` (choosing one, or why it cannot be read),
``importing`` with ``import_dialog`` (bringing one in), ``proof`` with ``export_dialog`` (taking one
home). Does not belong here: the formats (``bpe_core.formats``) and what one screen shows.
"""
