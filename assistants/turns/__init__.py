"""The durable turn: a row in the database that whoever is alive carries on."""
