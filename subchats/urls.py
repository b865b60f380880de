"""The addresses of what a person does with sub-chats."""

urlpatterns: list[object] = []
