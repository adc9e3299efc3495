"""Makes notes.db, for trying the connector."""

import sqlite3
from contextlib import closing

NOTES = [
    ("fog bell", "Ines Penrow", "1905-07-06", "The bell at Merrow Point is to be rung every two minutes in fog."),
    ("tide gauge", "Orlo Finch", "1899-02-02", "The gauge at the Inner Mole must be wound on Mondays."),
]

with closing(sqlite3.connect("notes.db")) as database, database:
    database.execute("CREATE TABLE IF NOT EXISTS note (name PRIMARY KEY, author, changed, text)")
    database.executemany("INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?)", NOTES)
print(f"{len(NOTES)} notes in notes.db")
