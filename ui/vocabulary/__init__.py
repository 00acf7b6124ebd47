"""The Vocabulary screen: every token, where each comes from, and what state they are in.

Reading order: ``facts`` (what is known of a tokenizer, worked out once), ``query`` and ``filters``
(what is asked for), ``listing`` (what is shown), ``panel`` with ``life`` (the biography beside it),
``health``, ``overlap``, ``look``. No other screen imports this one.
"""
