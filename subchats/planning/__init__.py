"""Plans: what a turn means to do, checked in code before anything is handed over."""
