"""The only upward calls: what a lower app tells whoever is above it, inside the transaction that changed the state."""

from django.dispatch import Signal

turn_started = Signal()  # turn
turn_finished = Signal()  # turn; its state is done, failed or stopped
turn_interrupted = Signal()  # turn; a receiver answers with the ids of open calls that it brings to an end itself
thread_forked = Signal()  # source, fork, until (when the newest thing that was copied had happened)
demo_made = Signal()  # tenant, language; every app adds what it shows in the demo
packing = Signal()  # thread, data; every app adds what it keeps with a conversation to what is written into a file
unpacking = Signal()  # thread, data, ids; the same way back: `ids` say what the file's things are called here
person_leaving = Signal()  # user; every app removes what would stay of theirs once their conversations are gone
sweeping = Signal()  # asks every app to put right what a lost hint or a crash left undone
