"""The only upward calls: what a lower app tells whoever is above it, inside the transaction that changed the state."""

from django.dispatch import Signal

turn_started = Signal()  # turn
turn_finished = Signal()  # turn; its state is done, failed or stopped
turn_activity = Signal()  # turn, what: a short line about what it does now; sent outside transactions, at most twice a second
