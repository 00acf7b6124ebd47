"""What several screens place: each takes its values as arguments and draws.

Belongs here: widgets and pictures that know no screen, so that any page can place them. Does not
belong here: the session state of a screen, and arithmetic, which is ``bpe_core.analysis``.
"""
