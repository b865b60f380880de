"""The admin's page of a team's own workflows: steps in rows, and the graph that they make."""
