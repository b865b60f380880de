"""The pages on which a team is set up and looked after."""
