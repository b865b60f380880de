"""PostgreSQL and Redis as private servers on this machine: found, set up in a folder of ours, and started on loopback."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistants.errors import CodedError

PACKAGED = Path("/usr/lib/postgresql")
ROLE = "taskmonkey"


@dataclass(frozen=True)
class Service:
    """How to start one server, where programs reach it, and what account it runs under (Popen's `user` and `group`)."""

    name: str
    command: list[str]
    url: str
    port: int
    account: dict[str, Any] = field(default_factory=dict)


def postgres(folder: Path, wanted: int) -> Service:
    """A PostgreSQL cluster in `folder`, made when it isn't there; only programs that know its password get in. It is for the
    wanted port, or any free one.

    Raises CodedError POSTGRES_MISSING where it isn't installed.
    """
    programs = find_postgres()
    if programs is None:
        fix = "Install it, on Debian and Ubuntu: apt install postgresql"
        raise CodedError("POSTGRES_MISSING", "PostgreSQL is not installed on this machine.", field="", fix=fix)
    folder.mkdir(parents=True, exist_ok=True)
    account = unprivileged(folder)
    key = folder.parent / "postgres.key"
    if not (folder / "data" / "PG_VERSION").exists():
        _make_cluster(programs, folder, key, account)
    # Looked for when it is about to be used: to make a cluster takes seconds, in which another team may have taken it.
    port = free_port(wanted)
    options = {"listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": "", "max_connections": "200"}
    command = [str(programs / "postgres"), "-D", str(folder / "data")]
    command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    url = f"postgres://{ROLE}:{key.read_text().strip()}@127.0.0.1:{port}/postgres"
    return Service("postgres", command, url, port, account)


def redis(folder: Path, wanted: int) -> Service:
    """A Redis that keeps nothing, on the wanted port or any free one: only hints go through it.

    Raises CodedError REDIS_MISSING where it isn't installed.
    """
    found = shutil.which("redis-server")
    if found is None:
        fix = "Install it, on Debian and Ubuntu: apt install redis-server"
        raise CodedError("REDIS_MISSING", "Redis is not installed on this machine.", field="", fix=fix)
    folder.mkdir(parents=True, exist_ok=True)
    account = unprivileged(folder)
    # In a file, since every account of the machine may read a command line.
    key, settings, port = secrets.token_urlsafe(24), folder / "redis.conf", free_port(wanted)
    lines = [f"port {port}", "bind 127.0.0.1", f"dir {folder}", 'save ""', "appendonly no", f"requirepass {key}"]
    settings.write_text("\n".join([*lines, "maxmemory 256mb", "maxmemory-policy noeviction", ""]))
    os.chmod(settings, 0o600)
    if account:
        os.chown(settings, account["user"], account["group"])
    return Service("redis", [found, str(settings)], f"redis://:{key}@127.0.0.1:{port}/0", port, account)


def find_postgres() -> Path | None:
    """The folder with `initdb` and `postgres`: the newest that Debian installed, else wherever they are found."""
    packaged = sorted(PACKAGED.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = str(packaged[-1]) if packaged else shutil.which("initdb")
    folder = Path(found).resolve().parent if found else None
    return folder if folder and (folder / "postgres").exists() else None


def unprivileged(folder: Path) -> dict[str, Any]:
    """The account a server runs under: this one, or, since PostgreSQL refuses root, its own or nobody's; it gets the folder."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    for above in folder.resolve().parents:
        if not os.stat(above).st_mode & 0o001:
            fix = f"Let other accounts pass through {above} (chmod o+x), or don't run this as root."
            raise CodedError("FOLDER_CLOSED", f"{user.pw_name} can't reach {folder}.", field="TASKMONKEY_HOME", fix=fix)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def free_port(wanted: int) -> int:
    """The wanted port of 127.0.0.1, or any free one if that is taken."""
    for port in (wanted, 0):
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(trial.getsockname()[1])
    raise AssertionError("a machine without a free port")


def _make_cluster(programs: Path, folder: Path, key: Path, account: dict[str, Any]) -> None:
    key.touch(mode=0o600)
    key.write_text(secrets.token_urlsafe(24))
    pwfile = folder / "initial.key"
    pwfile.touch(mode=0o600)
    pwfile.write_text(key.read_text())
    if account:
        os.chown(pwfile, account["user"], account["group"])
    make = [str(programs / "initdb"), "--auth=scram-sha-256", f"--pwfile={pwfile}", "--encoding=UTF8", "--locale=C.UTF-8"]
    try:
        subprocess.run(
            [*make, f"--username={ROLE}", f"--pgdata={folder / 'data'}"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **account,
        )
    finally:
        pwfile.unlink()
