"""What wc knows: stores, threads, entries. Reads; cannot write."""
