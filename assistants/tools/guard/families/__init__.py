"""The rules by family, written from descriptions of the attacks; each has a hit and a near miss in the tests."""
