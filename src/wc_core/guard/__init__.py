"""Which files a tool of an agent is about to change, from what its client tells a hook.

Pure: it reads nothing but the call itself, apart from asking whether a path is a
folder. It never guesses: a target that is not written out in the call is none, and the
guard sees the change afterwards.
"""
