"""The board: threads by holder, as columns of cards.

`columns` groups threads by agent, `facts` reads what cards say beyond the row of a
thread, `cards` draws them, and `page` puts the columns on a page. Must not know HTTP.
"""
