"""The process that converts: limits itself, then takes file after file from its input and answers on its output."""

import json
import os
import resource
import sys
from collections.abc import Callable
from typing import BinaryIO

from ..formats import NotText
from ..prepare import prepare
from .converted import Converted, Unreadable

MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 30
OPEN_FILES = 64


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Reads the lengths of a path and of a file, then both; writes the lengths of an answer's two parts, then both; again until
    the input ends."""
    while head := requests.readline():
        path_length, data_length = map(int, head.split())
        allow_cpu()
        head, texts = answer_to(requests.read(path_length).decode(), requests.read(data_length))
        answers.write(b"%d %d\n" % (len(head), len(texts)))
        answers.write(head)
        answers.write(texts)
        answers.flush()


def answer_to(path: str, data: bytes) -> tuple[bytes, bytes]:
    """A document as JSON and texts: each passage's lines, and how long each of the texts is, which follow without anything
    between them. Nothing has to be escaped in them, which would take a fifth of the time. Or the problem with it, and no texts.
    """
    made: object
    texts: list[str] = []
    try:
        ready = prepare(path, data, convert)
        texts = [ready.title, ready.text, ready.note]
        for cut, each in zip(ready.cuts, ready.columns, strict=True):
            texts += (cut.heading, cut.text, cut.anchor, each.title, each.heading, each.body, each.parts)
        made = ([(cut.first, cut.last) for cut in ready.cuts], [len(text) for text in texts])
    except NotText:
        made = {"problem": "not text"}
    except Unreadable as problem:
        made = {"problem": str(problem)}
    except MemoryError:
        made = {"problem": f"needs more than {MEMORY_BYTES // 1024**2} MB of memory"}
    except RecursionError:
        made = {"problem": "nested too deeply"}
    except Exception as error:
        # A library may stumble over a broken file in any way; that is the file's trouble and nobody else's.
        made = {"problem": f"damaged ({type(error).__name__})"}
    return json.dumps(made).encode(), "".join(texts).encode("utf-8", "replace")


def convert(ending: str, data: bytes) -> Converted:
    """A file that is no text, in sections. Raises Unreadable, or anything that a library raises."""
    return reader_of(ending)(data)


def reader_of(ending: str) -> Callable[[bytes], Converted]:
    """The reader of a kind of file, loaded when it is needed first."""
    if ending == ".pdf":
        from .pdf import read_pdf as read
    elif ending == ".docx":
        from .word import read_word as read
    elif ending == ".pptx":
        from .slides import read_slides as read
    elif ending == ".eml":
        from .mail import read_mail as read
    elif ending in (".docm", ".pptm"):
        return reader_of(ending[:-1] + "x")
    else:
        from .sheets import read_sheets as read
    return read


def limit_process() -> None:
    """Bounds memory and open files, forbids writing files and dumping memory (S38)."""
    for what, bound in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (bound, bound))


def allow_cpu() -> None:
    """Each file has the same time, whatever the ones before it took."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + CPU_SECONDS + 1, hard))


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not come between the answers.
    os.dup2(2, 1)
    limit_process()
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
