"""Values as text for a terminal: tables, lines and progress bars. Commands decide what to show, modules here how."""
