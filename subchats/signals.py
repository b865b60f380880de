"""What a delegation tells those above it, inside its transaction: plans and workflows keep in step with it."""

from django.dispatch import Signal

delegated = Signal()  # delegations (of one call), turn (the caller's); their sub-chats were just opened
# delegation, result (a SubChatResult), turn (the caller's, locked); its report is in, a fan-out's caller reads all together
delivered = Signal()
