"""Which files an agent's tool is about to change, from the data that its client gives a
hook.

Pure: it reads nothing but the call itself. It never guesses: a target that is not
written out in the call is ignored, and the guard sees the change afterwards.
"""
