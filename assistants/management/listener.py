"""The port that the site answers on, without anything of Django: whoever opens it for a server stays small."""

import errno
import socket

from assistants.errors import CodedError

HOST, PORT, BACKLOG = "127.0.0.1", 8000, 1024


def listen(host: str, port: int) -> socket.socket:
    """Opens the socket that the server will answer on (IPv4; port 0 takes any free one).

    Raises CodedError PORT_TAKEN, PORT_FORBIDDEN or HOST_UNKNOWN, with what to do about it.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _explain(error, host=host, port=port) from error
    return listener


def _explain(error: OSError, *, host: str, port: int) -> CodedError:
    if error.errno == errno.EADDRINUSE:
        fix = f"Stop the program that uses it, or choose another port: make run PORT={port + 1}"
        return CodedError("PORT_TAKEN", f"Port {port} is already in use on {host}.", field="port", fix=fix)
    if error.errno == errno.EACCES:
        fix = "Choose a port from 1024 up."
        return CodedError("PORT_FORBIDDEN", f"This account may not open port {port}.", field="port", fix=fix)
    fix = "Use 127.0.0.1, 0.0.0.0 or another IPv4 address of this machine."
    return CodedError("HOST_UNKNOWN", f"Can't listen on {host}: {error.strerror or error}.", field="host", fix=fix)
