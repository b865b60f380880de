"""Addresses in every spelling that leads inside, or that two readers may take for different ones."""

import ipaddress
from collections.abc import Iterator

INSIDE_V4 = """127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.254 0.0.0.0 0.0.0.1 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200
100.127.255.254 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.254 192.0.0.1 192.0.0.192
192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.254 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255""".split()
INSIDE_V6 = """:: ::1 ::2 fe80::1 febf::1 fec0::1 fc00::1 fd00:ec2::254 fdff::1 ff02::1 ff05::2 100::1 2001::1 2001:2::1
2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe:: 3fff::1 5f00::1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
64:ff9b:1::7f00:1 ::ffff:0:127.0.0.1 ::127.0.0.1 4000::1""".split()
PUBLIC = "8.8.8.8 1.1.1.1 93.184.216.34 172.15.0.1 172.32.0.1 100.128.0.1 2606:4700:4700::1111 2a00:1450:4001::1".split()

NAMES = """localhost LOCALHOST localhost. localhost.localdomain ip6-localhost ip6-loopback localhost%00 localhost%2e
%6c%6f%63%61%6c%68%6f%73%74 loc%61lhost local host -localhost localhost- .localhost localhost.. a..b *""".split(" ")
ODD_DIGITS = ["①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "１２７。０。０。１", "127.0.0.1\u200b",
              "\u200b127.0.0.1",
              "127.0.0.1.", "127.0.0.1..", "127..0.1", "127.0.0.01", "127.0.0.1%20", "127.0.0.1%00", "%31%32%37.0.0.1",
              "127%2e0%2e0%2e1",
              "127.0.0.1,8.8.8.8", "127.0.0.1#", "0", "1", "127", "00000177.0.0.1", "0x", "0x7f", "1e9"]  # fmt: skip


def spellings(address: str) -> Iterator[str]:
    """One IPv4 address in the ways in which some resolver somewhere reads it."""
    value = int(ipaddress.IPv4Address(address))
    a, b, c, d = address.split(".")
    yield from (address, f"{address}.", str(value), hex(value), f"0{value:o}", f"0x{value:08X}", f"000{value:o}")
    yield from (f"{a}.{value & 0xFFFFFF}", f"{a}.{b}.{value & 0xFFFF}", ".".join(hex(int(each)) for each in (a, b, c, d)))
    yield from (".".join(f"0{int(each):o}" for each in (a, b, c, d)), f"{hex(int(a))}.{b}.0{int(c):o}.{d}")
    yield from (f"[::ffff:{address}]", f"[::ffff:{value >> 16:x}:{value & 0xFFFF:x}]", f"[0:0:0:0:0:ffff:{address}]")
    yield from (f"[::{address}]", f"[64:ff9b::{address}]", f"[2002:{value >> 16:x}:{value & 0xFFFF:x}::]")


def forms(port: int) -> Iterator[str]:
    """Every form with this port, each of which must be refused without a connection."""
    hosts = [each for address in INSIDE_V4 for each in spellings(address)]
    hosts += [f"[{address}]" for address in INSIDE_V6] + [
        "[::1%25lo]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[::1",
        "::1",
        "[]",
    ]
    hosts += NAMES + ODD_DIGITS
    yield from (f"http://{host}:{port}/" for host in hosts)
    yield from (f"https://{host}:{port}/" for host in ("127.0.0.1", "localhost", "[::1]", "2130706433"))
    inside, good = f"127.0.0.1:{port}", "good.example"
    yield from (
        f"http://{good}\\@{inside}/", f"http://{good}@{inside}/", f"http://{good}:80@{inside}/", f"http://{inside}\\@{good}/",
        f"http://{good}%5c@{inside}/", f"http://{good}#@{inside}/", f"http://{good}?@{inside}/", f"http://@{inside}/",
        f"http://user:pass@{inside}/", f"http://{good} @{inside}/", f"http://{good}\t@{inside}/", f"http://{good}\n@{inside}/",
        f"http://{inside}\\.{good}/", f"http://{inside}/\\{good}", f"http:\\\\{inside}/", f"http:/{inside}/", f"http:{inside}/",
        f"http:///{inside}/", f"//{inside}/", f"{inside}/", inside, f"\\\\{inside}\\x", f" http://{inside}/",
        f"http://{inside}/ ",
        f"\thttp://{inside}/", f"http://{inside}\x00.{good}/", f"http://{inside}\r\nHost: {good}/", f"ht\ntp://{inside}/",
        f"HTTP://{inside}/", f"hTTp://LocalHost:{port}/", f"http://{inside}:80/", f"http://127.0.0.1:0{port}/", f"http://127.0.0.1:+{port}/",
        f"http://{good}:{port}@127.0.0.1/", f"http://127.0.0.1:{port}:80/", f"http://[{inside}]/", f"http://[::1]{good}:{port}/",
        f"file://{inside}/etc/passwd", "file:///etc/passwd", f"gopher://{inside}/_GET", f"ftp://{inside}/", f"dict://{inside}/",
        f"ldap://{inside}/", f"tftp://{inside}/", f"ws://{inside}/", f"wss://{inside}/", f"jar:http://{inside}!/", f"unix://{inside}/",
        "data:text/html,hi", "javascript:alert(1)", "about:blank", f"view-source:http://{inside}/", f"url:http://{inside}/",
        f"http+unix://{inside}/", f"netdoc://{inside}/", f"blob:http://{inside}/", "", "http://", "http://:80/", "://", "http://%",
        "x" * 5000, f"http://{inside}/{'x' * 5000}",
    )  # fmt: skip
