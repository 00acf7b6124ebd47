"""What a visitor owns, and what runs for him while he looks.

Reading order: ``state`` (trained tokenizers, the training that goes on), ``jobs`` (one training in
a thread). Does not belong here: widgets, and what one screen alone remembers.
"""
