"""The Compare screen: what each size buys, one text cut several ways, languages side by side.

Reading order: ``choices`` with ``texts`` (what is compared), ``curves`` and ``marks``, ``measures``
and ``tables`` (the numbers in words and rows), ``cuts``, ``languages``. No other screen imports
this one.
"""
