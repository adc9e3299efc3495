"""Access to the server and to the database: API keys, the audit log, stored responses, and SQL roles."""
