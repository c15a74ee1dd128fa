"""Checks requests and parts of answers, JSON on stdin, against the types of the official OpenAI client."""

import json
import sys
from typing import get_type_hints

from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionChunk,
    ChatCompletionContentPartParam,
    ChatCompletionMessageToolCallParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionToolMessageParam,
    ChatCompletionToolParam,
    ChatCompletionUserMessageParam,
)
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

MESSAGES = {
    "system": ChatCompletionSystemMessageParam,
    "user": ChatCompletionUserMessageParam,
    "assistant": ChatCompletionAssistantMessageParam,
    "tool": ChatCompletionToolMessageParam,
}


def check(kind, value):
    """Validates a value, without coercions, and refuses fields that its type does not have."""
    TypeAdapter(kind).validate_python(value, strict=True)
    if isinstance(value, dict) and hasattr(kind, "__total__"):
        unknown = set(value) - set(get_type_hints(kind))
        assert not unknown, f"{kind.__name__} has no {sorted(unknown)}"


def check_request(request):
    # Iterables are validated lazily by pydantic, so each of their items is checked.
    check(CompletionCreateParamsStreaming, request)
    for message in request["messages"]:
        check(MESSAGES[message["role"]], message)
        if isinstance(message.get("content"), list):
            for part in message["content"]:
                check(ChatCompletionContentPartParam, part)
        for call in message.get("tool_calls", []):
            check(ChatCompletionMessageToolCallParam, call)
    for tool in request.get("tools", []):
        check(ChatCompletionToolParam, tool)


given = json.load(sys.stdin)
for request in given["requests"]:
    check_request(request)
for chunk in given["chunks"]:
    ChatCompletionChunk.model_validate(chunk)
print(f"{len(given['requests'])} requests and {len(given['chunks'])} chunks are valid")
