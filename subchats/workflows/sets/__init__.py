"""The product's own workflows, by what they are about."""
