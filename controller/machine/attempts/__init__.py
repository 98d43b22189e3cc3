"""One attempt at dealing: its card loop, its entries, its recovery and its release."""
