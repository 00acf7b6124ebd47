"""What answers HTTP requests beside the pages.

Reading order: ``api`` (the routes), ``published`` (the tokenizers they may use), ``encoding`` (what
is answered), ``wire`` (the bytes of an answer). Does not belong here: anything of a session, which
a route does not have.
"""
