"""Where a worker listens: on this machine alone."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path


def listening(listen: str) -> tuple[socket.socket, Path | None]:
    """Returns a socket that listens, and its path where it is a Unix socket, which only this user may connect to.

    Raises:
        ValueError: when the address is none of this machine's own.
        OSError: when it is in use.
    """
    if listen.startswith("unix:") and len(listen) > 5:
        path = Path(listen[5:]).absolute()
        _remove_stale(path)
        server = socket.socket(socket.AF_UNIX)
        mask = os.umask(0o177)
        try:
            server.bind(str(path))
        except BaseException:
            server.close()
            raise
        finally:
            os.umask(mask)
        server.listen()
        return server, path
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        loopback = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
        number = int(port)
    except ValueError:
        loopback, number = None, -1
    if loopback is None or not colon or not loopback.is_loopback or not 0 <= number < 65536:
        raise ValueError(f"{listen}: expected unix:PATH or 127.0.0.1:PORT; a worker listens on this machine alone")
    server = socket.socket(socket.AF_INET6 if loopback.version == 6 else socket.AF_INET)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((str(loopback), number))
    except BaseException:
        server.close()
        raise
    server.listen()
    return server, None


def _remove_stale(path: Path) -> None:
    """Removes the socket of a worker that ended without doing so."""
    if not path.exists():
        return
    if not path.is_socket():
        raise OSError(f"{path} exists and is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise OSError(f"{path}: a worker listens there already")
