"""What several commands print: tables, lines, progress bars, money, evidence and what was looked up."""
