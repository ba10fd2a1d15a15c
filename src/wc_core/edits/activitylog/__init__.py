"""The log of participants' activity, which git carries to other clones.

Formats, merging and reading. Knows neither git's transport nor the disk beyond reading,
and must not write.
"""
