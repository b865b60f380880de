"""The client that reaches the public internet and nothing else."""
