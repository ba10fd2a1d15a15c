"""What an entry says in a sentence or two: in its author's words, in those of a model,
or its own first sentences.

Summaries of models are kept beside the log, see `kept`. Reading them is all that is
done here; `wc_cli.enrich` writes them.
"""
