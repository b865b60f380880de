"""What a person does with conversations: find, name, share, copy, put away and delete them."""
