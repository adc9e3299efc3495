"""What chunks say: mentions and links, by whatever means."""
