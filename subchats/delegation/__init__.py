"""One delegation service behind every tool that hands work to another assistant."""
