"""What is killed comes back, and nothing is lost, doubled or paid for twice."""
