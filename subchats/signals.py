"""What a delegation tells those above it, inside its transaction: plans and workflows keep in step with it."""

from django.dispatch import Signal

delegated = Signal()  # delegation, turn (the caller's); its sub-chat was just opened
# delegation, result (a SubChatResult), turn (the caller's, locked); its report is in, a fan-out's caller reads all together
delivered = Signal()
