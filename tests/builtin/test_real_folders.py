"""The engine on files that it was not made for: what the installed packages bring along."""

import sysconfig
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage

from tests.builtin.house import House, Staff, read_folder
from tests.builtin.test_promises import returned_texts, verbatim_lines

PACKAGES = Path(sysconfig.get_paths()["purelib"])
GUIDES = PACKAGES / "pydantic_ai" / ".agents" / "skills" / "building-pydantic-ai-agents"
READER = Staff("reader", "Reader", "Reads")

pytestmark = pytest.mark.skipif(not GUIDES.is_dir(), reason="the package brings no guides in this version")


@pytest.fixture(scope="module")
def folder() -> dict[str, str]:
    licences = PACKAGES.glob("*.dist-info/licenses/LICENSE*")
    documents = {
        f"licences/{path.parts[-3].split('-')[0]}.txt": path.read_text(errors="replace") for path in licences if path.is_file()
    }
    return documents | read_folder(GUIDES, lambda name: name.endswith(".md"))


@pytest.mark.parametrize(
    ("question", "quoted", "source"),
    [
        (
            "What does the Apache license say about trademarks?",
            "6. Trademarks. This License does not grant permission",
            "— licences/",
        ),
        ("How do I test an agent without calling a real model?", "TestModel", "— references/"),
        ("What is FunctionModel for?", "FunctionModel", "— references/"),
        ("What may I do with the software under the MIT license?", "MIT License", "— licences/"),
    ],
)
async def test_a_question_about_real_files_is_answered_from_them(
    folder: dict[str, str], question: str, quoted: str, source: str
) -> None:
    house = House((READER,), folder)

    answer = await house.turn("reader", [], question)

    assert quoted in "\n".join(verbatim_lines(answer))
    assert source in answer


async def test_every_line_quoted_from_real_files_is_verbatim(folder: dict[str, str]) -> None:
    house = House((READER,), folder)
    history: list[ModelMessage] = []
    questions = (
        "What does the Apache license say about patents?",
        "and about trademarks?",
        "more",
        "Which hooks are there?",
        "How many retries are allowed by default?",
        "summarise TESTING-AND-DEBUGGING.md",
        "open TOOLS-CORE.md",
        "more",
        "What is a toolset and how do I add an MCP server?",
        "license",
        "the second",
        "liability",
        "streaming",
    )

    answers = [await house.turn("reader", history, question) for question in questions]

    source, lines = returned_texts(house), verbatim_lines("\n".join(answers))
    assert len(lines) > 40
    assert [line for line in lines if line not in source] == []


async def test_what_no_file_says_is_not_made_up(folder: dict[str, str]) -> None:
    answer = await House((READER,), folder).turn("reader", [], "What is the capital of France?")

    assert answer.startswith("I found nothing about “capital” and “France” in the documents.")


async def test_a_word_that_is_everywhere_is_asked_back(folder: dict[str, str]) -> None:
    house = House((READER,), folder)

    answer = await house.turn("reader", [], "streaming")

    assert answer == ""
    assert house.log[-1][1] == "ask_clarifying_question"
    assert 2 <= len(house.log[-1][2]["options"]) <= 6
