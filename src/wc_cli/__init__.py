"""The ``wc`` command: everything that has an effect."""
