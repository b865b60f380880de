"""How a tool is called: declared once, described to the model, checked at call time, run within limits."""
