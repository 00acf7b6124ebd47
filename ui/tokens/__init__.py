"""The Tokens screen: any text, cut while it is typed.

Reading order: ``setup``, ``examples``, ``decode_box``. No other screen imports this one.
"""
