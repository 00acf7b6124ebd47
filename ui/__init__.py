"""The app around the engine: router, state, jobs, look and components.

Reading order: ``main`` (what runs on every visit), ``state`` (what a visitor owns), ``jobs``
(training in a thread), then page by page: ``corpus_picker``, ``training_setup``,
``training_view`` and ``downloads`` (Train), ``tokens_setup`` and its neighbors (Tokens),
``compare_*`` and ``charts`` (Compare); ``components`` (the pictures that move), ``theme`` and
``words``. No tokenizer algorithm lives here; that is ``bpe_core``.
"""
