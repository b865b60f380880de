"""The addresses of pages and commands."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from assistants import views

urlpatterns = [
    path("", views.home, name="home"),
    path("login/", LoginView.as_view(template_name="assistants/login.html", redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("enter/<str:uid>/<str:token>/", views.enter, name="enter"),
    path("c/", views.open_thread, name="open_thread"),
    path("c/<str:chat_id>/", views.thread, name="thread"),
    path("c/<str:chat_id>/events/", views.thread_events, name="thread_events"),
    path("c/<str:chat_id>/send/", views.send_message, name="send_message"),
    path("question/<uuid:call_id>/", views.answer_question, name="answer_question"),
    path("turn/<int:turn_id>/stop/", views.stop_turn, name="stop_turn"),
    path("turn/<int:turn_id>/retry/", views.retry_turn, name="retry_turn"),
    path("healthz", views.healthz, name="healthz"),
]
