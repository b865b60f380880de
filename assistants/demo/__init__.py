"""The demo tenant: people, assistants, documents, and the scripts that can play its story without a model."""
