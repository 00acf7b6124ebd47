"""The Vocabulary screen: every token, where each comes from, and what state they are in.

Reading order: ``query`` and ``filters`` (what is asked for), ``listing`` (what is shown), ``panel``
(the biography beside it), ``look``. No other screen imports this one.
"""
