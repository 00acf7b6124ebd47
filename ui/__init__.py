"""The app around the engine: router, state, jobs, look and components.

Reading order: ``main`` (what runs on every visit), ``state`` (what a visitor owns), ``jobs``
(training in a thread), ``corpus_picker`` and ``training_setup`` (the setup row), ``theme``, and
``components`` (the pictures that move). No tokenizer algorithm lives here; that is ``bpe_core``.
"""
