"""What answers HTTP requests beside the pages.

Belongs here: the routes (``api``), and the tokenizers they may use (``published``). Does not
belong here: anything of a session, which a route does not have.
"""
