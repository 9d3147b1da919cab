"""Long work: growths with checkpoints, clusters."""
