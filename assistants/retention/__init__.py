"""How long things are kept, and what a person takes along or leaves behind."""
