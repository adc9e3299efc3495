"""Output that several commands share: tables, lines, progress bars, money, evidence and lookup results."""
