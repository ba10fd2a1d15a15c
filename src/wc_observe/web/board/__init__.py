"""The board: threads by holder, as columns of cards.

`columns` groups threads by agent, `facts` reads what cards show beyond a thread's row,
`cards` draws the cards, and `page` lays out the columns. Must not know HTTP.
"""
