"""Tools that look beyond one store: into all stores that the caller may see, or into a
graph database.

Like the other tools, they are a few lines each; `wc_observe.answers` computes the
answers.
"""
