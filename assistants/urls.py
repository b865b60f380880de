"""The addresses of pages and commands."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from assistants.views import calls, finding, messages, pages, sign_in, tables, threads, turns

urlpatterns = [
    path("", pages.home, name="home"),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("enter/<str:uid>/<str:token>/", sign_in.enter, name="enter"),
    path("preferences/", sign_in.save_preferences, name="save_preferences"),
    path("search/", finding.search, name="search"),
    path("inbox/", finding.inbox, name="inbox"),
    path("budget/", finding.budget, name="budget"),
    path("healthz", pages.healthz, name="healthz"),
    path("c/", messages.open_thread, name="open_thread"),
    path("c/<str:chat_id>/", pages.thread, name="thread"),
    path("c/<str:chat_id>/events/", pages.thread_events, name="thread_events"),
    path("c/<str:chat_id>/older/", pages.thread_older, name="thread_older"),
    path("c/<str:chat_id>/state/", pages.thread_state, name="thread_state"),
    path("c/<str:chat_id>/send/", messages.send_message, name="send_message"),
    path("c/<str:chat_id>/seen/", threads.mark_seen, name="mark_seen"),
    path("c/<str:chat_id>/rename/", threads.rename_thread, name="rename_thread"),
    path("c/<str:chat_id>/pin/", threads.pin_thread, name="pin_thread"),
    path("c/<str:chat_id>/archive/", threads.archive_thread, name="archive_thread"),
    path("c/<str:chat_id>/delete/", threads.delete_thread, name="delete_thread"),
    path("c/<str:chat_id>/share/", threads.share_thread, name="share_thread"),
    path("c/<str:chat_id>/unshare/", threads.unshare_thread, name="unshare_thread"),
    path("c/<str:chat_id>/tables/<str:pointer>/", tables.table, name="table"),
    path("c/<str:chat_id>/tables/<str:pointer>/<str:kind>/", tables.table_file, name="table_file"),
    path("message/<uuid:message_id>/edit/", messages.edit_message, name="edit_message"),
    path("message/<uuid:message_id>/show/", messages.show_branch, name="show_branch"),
    path("message/<uuid:message_id>/fork/", threads.fork_thread, name="fork_thread"),
    path("question/<uuid:call_id>/", messages.answer_question, name="answer_question"),
    path("call/<uuid:call_id>/decide/", turns.decide_call, name="decide_call"),
    path("call/<uuid:call_id>/chart/", tables.chart, name="chart"),
    path("call/<uuid:call_id>/withheld/", calls.withheld, name="withheld"),
    path("call/<uuid:call_id>/arguments/", calls.arguments, name="call_arguments"),
    path("call/<uuid:call_id>/approve/", calls.approve_call, name="approve_call"),
    path("call/<uuid:call_id>/reject/", calls.reject_call, name="reject_call"),
    path("turn/<int:turn_id>/stop/", turns.stop_turn, name="stop_turn"),
    path("turn/<int:turn_id>/retry/", turns.retry_turn, name="retry_turn"),
    path("turn/<int:turn_id>/now/", turns.send_now, name="send_now"),
    path("turn/<int:turn_id>/steer/", turns.steer, name="steer"),
    path("turn/<int:turn_id>/more/", turns.top_up, name="top_up"),
    path("turn/<int:turn_id>/unqueue/", turns.unqueue, name="unqueue"),
]
