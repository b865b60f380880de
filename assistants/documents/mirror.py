"""The text of a root's documents as files in the data directory, where they can be read and searched like files."""

import contextlib
import os
import shutil
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

# Behind every name, so that none is taken for the file that it stands for.
ENDING = ".md"


class Mirror:
    """One root's mirror: `mirrors/<root id>/<path>.md`. Paths are those of the documents, as `Folder` gives them."""

    def __init__(self, root_id: int) -> None:
        self.folder = Path(settings.HOME) / "mirrors" / str(root_id)
        self._made: set[str] = set()

    def write(self, path: str, text: str) -> None:
        """Puts a document's text there, whole or not at all. Raises OSError, such as for a name that is too long."""
        target = f"{self.folder}/{path}{ENDING}"
        above = target.rpartition("/")[0]
        if not self._made:
            # By themselves: of folders that are made together, only the last one gets the mode.
            for each in (self.folder.parent, self.folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
        if above not in self._made:
            os.makedirs(above, mode=0o700, exist_ok=True)
            self._made.add(above)
        # Beside the folders that hold documents, so that nobody lists it.
        unfinished = f"{self.folder}.{os.getpid()}.{threading.get_ident()}.unfinished"
        try:
            with open(unfinished, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            os.replace(unfinished, target)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise

    def remove(self, path: str) -> None:
        """Takes a document away, and the folders that are empty then."""
        target = self._file(path)
        with contextlib.suppress(OSError):
            target.unlink()
            self._made.clear()
            for above in target.parents:
                if above == self.folder:
                    break
                above.rmdir()

    def holds(self, path: str) -> bool:
        """Whether a document is there; one whose name is too long never is."""
        return os.path.isfile(self._file(path))

    def clear(self) -> None:
        """Takes everything away, and what was computed of it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (Path(settings.HOME) / "vectors" / f"{self.folder.name}.npz").unlink(missing_ok=True)

    def _file(self, path: str) -> Path:
        return self.folder / (path + ENDING)


def remove_mirror(sender: Any, instance: Any, **kwargs: Any) -> None:
    """A root that is deleted takes its mirror along."""
    transaction.on_commit(Mirror(instance.pk).clear)
