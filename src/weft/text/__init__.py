"""Text in, text out: nothing here touches a file, a model or a database."""
