"""The command `rosenblatt`: a file a verb."""
