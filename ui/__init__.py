"""The app around the engine, by screen. No tokenizer algorithm lives here; that is ``bpe_core``.

The map, which is also the reading order:

- ``main`` is what runs on every visit: the frame of the page, then a script of ``pages/``.
- ``session/`` is what a visitor owns, and the training that runs for him.
- ``server/`` answers HTTP requests beside the pages.
- ``tokenizers/``: choosing a tokenizer, bringing one in, taking one home.
- ``instruments/``: what several screens place.
- ``train/``, ``tokens/``, ``compare/``, ``vocabulary/``: one folder per screen. None imports
  another's, so that a screen can be changed without looking at the others.
- ``components/``: the pictures that move, each with its JavaScript.
- Small things all of them use: ``samples``, ``limits``, ``theme``, ``words``.
"""
