"""The commands: one module for each family, each in three moves (parse, ask, print).

May use every room below. A rule that a second command needs does not belong here.
Errors that a user should see are raised and left to `main`, which prints them all.
"""
