"""Runs the command: ``python -m wc_cli``."""

from wc_cli.start import main

if __name__ == "__main__":
    main()
