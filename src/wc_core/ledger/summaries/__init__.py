"""An entry in a sentence or two: its author's summary, a model's, or its own first
sentences.

Models' summaries are stored beside the log, see `kept`. This room only reads them;
`wc_cli.bridges.enrich` writes them.
"""
