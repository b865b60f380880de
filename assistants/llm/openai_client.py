"""OpenAI's client, but what is asked is sent as it was made, without a look at each part of each message."""

from functools import cached_property
from typing import Any

from openai import AsyncOpenAI, AsyncStream, NotGiven, Omit, not_given
from openai._base_client import make_request_options
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types.chat import ChatCompletion, ChatCompletionChunk


class Client(AsyncOpenAI):
    """The library compares all of a request with its own declarations, to rename and rewrite what wants it. For chats nothing
    does, and the longer a conversation, the longer would all streams stand still for that."""

    @cached_property
    def chat(self) -> AsyncChat:
        return _Chat(self)


class _Chat(AsyncChat):
    @cached_property
    def completions(self) -> AsyncCompletions:
        return _Completions(self._client)


class _Completions(AsyncCompletions):
    async def create(  # type: ignore[override]
        self,
        *,
        stream: bool = False,
        extra_headers: Any = None,
        extra_query: Any = None,
        extra_body: Any = None,
        timeout: Any = not_given,
        **body: Any,
    ) -> ChatCompletion | AsyncStream[ChatCompletionChunk]:
        """Asks for one answer, with the parameters of the library's own method."""
        given = {name: value for name, value in body.items() if not isinstance(value, NotGiven | Omit)}
        return await self._post(
            "/chat/completions",
            body={"stream": stream, **given},
            options=make_request_options(
                extra_headers=extra_headers,
                extra_query=extra_query,
                extra_body=extra_body,
                timeout=timeout,
                security={"bearer_auth": True},
            ),
            cast_to=ChatCompletion,
            stream=stream,
            stream_cls=AsyncStream[ChatCompletionChunk],
        )
