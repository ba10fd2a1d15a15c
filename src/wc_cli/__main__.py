"""Runs the command: ``python -m wc_cli``."""

from wc_cli.main import main

if __name__ == "__main__":
    main()
