"""Research in two tiers: an orchestrator that judges, explorers that read, and evidence that is checked."""
