"""The addresses of what a person does with sub-chats."""

from django.urls import path

from subchats import research_views, views

urlpatterns = [
    path("c/<str:chat_id>/send-back/", views.send_back, name="send_back"),
    path("c/<str:chat_id>/run-again/", views.run_again, name="run_again"),
    path("plan/<uuid:call_id>/", views.decide_plan, name="decide_plan"),
    path("c/<str:chat_id>/workflow/", views.mark_step, name="mark_step"),
    path("c/<str:chat_id>/workflow/again/", views.run_from_step, name="run_from_step"),
    path("c/<str:chat_id>/evidence/<int:evidence_id>/", research_views.evidence, name="evidence"),
    path("c/<str:chat_id>/results/<str:feedback_id>/", research_views.give_feedback, name="give_feedback"),
]
