"""The addresses of what a person does with sub-chats."""

from django.urls import path

from subchats import views

urlpatterns = [
    path("c/<str:chat_id>/send-back/", views.send_back, name="send_back"),
    path("c/<str:chat_id>/run-again/", views.run_again, name="run_again"),
]
