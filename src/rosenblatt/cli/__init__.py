"""The command `rosenblatt`: one file per verb."""
