"""How long an answer may be: which of its items are shown, and in which form.

It knows how many characters an item takes and how much it matters, and decides. It
reads no files, and knows nothing of how the answer is written.
"""
