"""What an admin sets up and looks after for researches."""
