"""Runs the command: ``python -m wc_observe``."""

from wc_observe.main import main

if __name__ == "__main__":
    main()
