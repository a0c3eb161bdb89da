"""What programs for Legate ask it for, answered by Heddle."""

__version__ = "26.06.00"
