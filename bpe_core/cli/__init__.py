"""The command line: `python -m bpe_core`, installed as `mergescope`.

`commands` (what each command does), `options` (what can be typed), `main` (exit codes and signals),
`training` (from options to a result), `tokenizers` (by path or name), `files` (text in, whole files
out), `ids` (on disk), `merge_log`, `facts` (what `inspect` tells), `terminal` (notes and the
progress line), `errors`.

Does not belong here: anything that a program would call, which has `Tokenizer` and `Trainer`.
"""
