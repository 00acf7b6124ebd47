"""What a visitor owns, and what runs for him while he looks.

Reading order: ``state`` (trained tokenizers, the training that goes on), ``jobs`` (one training in
a thread), ``keys`` (every key of the session state and of the widgets). Does not belong here:
widgets.
"""
