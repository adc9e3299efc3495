"""Writes the mails that Outlook saves (.msg), for tests: a compound file, as [MS-CFB] and [MS-OXMSG] describe it."""

from __future__ import annotations

import struct
from pathlib import Path

_SECTOR, _MINI = 512, 64
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_SMALL = 4096

Storage = dict[str, "bytes | Storage"]


Person = tuple[str, str]  # name and address


def write_msg(
    path: Path,
    subject: str,
    body: str,
    sender: Person,
    to: Person,
    attachments: dict[str, bytes | Storage] | None = None,
) -> Path:
    """A mail with one recipient. An attachment is a file, or a mail that `attached_mail` has made."""
    path.write_bytes(_compound(_mail(subject, body, sender, to, attachments or {}, is_attached=False)))
    return path


def attached_mail(
    subject: str, body: str, sender: Person, to: Person, attachments: dict[str, bytes | Storage] | None = None
) -> Storage:
    """A mail to attach to another."""
    return _mail(subject, body, sender, to, attachments or {}, is_attached=True)


def _mail(
    subject: str, body: str, sender: Person, to: Person, attachments: dict[str, bytes | Storage], *, is_attached: bool
) -> Storage:
    texts = {0x0037: subject, 0x1000: body, 0x0C1A: sender[0], 0x5D01: sender[1], 0x0C1F: sender[1]}
    header = struct.pack("<8x4I", 1, len(attachments), 1, len(attachments)) + (b"" if is_attached else bytes(8))
    root = _with_texts(texts, header)
    sent = struct.pack("<II", 0x00390040, 6) + struct.pack("<Q", (1_794_996_000 + 11_644_473_600) * 10_000_000)
    root["__properties_version1.0"] = bytes(root["__properties_version1.0"]) + sent  # type: ignore[arg-type]
    recipient = _with_texts({0x3001: to[0], 0x39FE: to[1]}, bytes(8), {0x0C15: 1})
    root["__recip_version1.0_#00000000"] = recipient
    for n, (name, data) in enumerate(attachments.items()):
        if isinstance(data, dict):
            attached = _with_texts({0x3001: name}, bytes(8), {0x3705: 5})
            attached["__substg1.0_3701000D"] = data
            entry = struct.pack("<IIII", 0x3701000D, 6, 0xFFFFFFFF, 4)
            attached["__properties_version1.0"] = bytes(attached["__properties_version1.0"]) + entry  # type: ignore[arg-type]
        else:
            attached = _with_texts({0x3707: name}, bytes(8), {0x3705: 1}, {0x3701: data})
        root[f"__attach_version1.0_#{n:08X}"] = attached
    return root


def _with_texts(
    texts: dict[int, str], header: bytes, numbers: dict[int, int] | None = None, binary: dict[int, bytes] | None = None
) -> Storage:
    storage: Storage = {}
    properties = header
    values = [(pid, 0x001F, text.encode("utf-16-le")) for pid, text in texts.items()]
    values += [(pid, 0x0102, data) for pid, data in (binary or {}).items()]
    for pid, kind, data in values:
        storage[f"__substg1.0_{pid:04X}{kind:04X}"] = data
        properties += struct.pack("<IIII", pid << 16 | kind, 6, len(data) + (2 if kind == 0x1F else 0), 0)
    for pid, number in (numbers or {}).items():
        properties += struct.pack("<IIII", pid << 16 | 0x0003, 6, number, 0)
    storage["__properties_version1.0"] = properties
    return storage


def _compound(root: Storage) -> bytes:
    """The bytes of a compound file. Siblings are a list, which readers take for a very lopsided tree."""
    entries: list[list[object]] = [["Root Entry", 5, _FREE, _FREE, _END, 0]]  # name, kind, right, child, start, size
    contents: dict[int, bytes] = {}

    def add(storage: Storage) -> int:
        first = last = _FREE
        for name, what in storage.items():
            at = len(entries)
            is_storage = isinstance(what, dict)
            entries.append([name, 1 if is_storage else 2, _FREE, _FREE, 0 if is_storage else _END, 0])
            if isinstance(what, dict):
                entries[at][3] = add(what)
            else:
                contents[at] = what
            if last == _FREE:
                first = at
            else:
                entries[last][2] = at
            last = at
        return first

    entries[0][3] = add(root)
    sectors: list[bytes] = []
    fat: list[int] = []

    def place(data: bytes) -> int:
        count = -(-len(data) // _SECTOR)
        start = len(sectors)
        for n in range(count):
            sectors.append(data[n * _SECTOR : (n + 1) * _SECTOR].ljust(_SECTOR, b"\0"))
            fat.append(start + n + 1 if n < count - 1 else _END)
        return start if count else _END

    mini, mini_fat = b"", []
    for at, data in contents.items():
        entries[at][5] = len(data)
        if not data:
            continue
        if len(data) >= _SMALL:
            entries[at][4] = place(data)
            continue
        start, count = len(mini) // _MINI, -(-len(data) // _MINI)
        entries[at][4] = start
        mini += data.ljust(count * _MINI, b"\0")
        mini_fat += [start + n + 1 if n < count - 1 else _END for n in range(count)]
    entries[0][4], entries[0][5] = place(mini), len(mini)
    mini_fat_bytes = b"".join(struct.pack("<I", one) for one in mini_fat)
    mini_fat_at = place(mini_fat_bytes.ljust(-(-len(mini_fat_bytes) // _SECTOR) * _SECTOR, b"\xff"))
    directory = b"".join(_entry(*one) for one in entries)  # type: ignore[arg-type]
    directory_at = place(directory)
    fat_sectors = 1
    while (len(fat) + fat_sectors) * 4 > fat_sectors * _SECTOR:
        fat_sectors += 1
    fat_at = [len(sectors) + n for n in range(fat_sectors)]
    table = b"".join(struct.pack("<I", one) for one in [*fat, *[_FAT] * fat_sectors])
    header = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIII", 0, fat_sectors, directory_at, 0, _SMALL, mini_fat_at)
    header += struct.pack("<III", -(-len(mini_fat_bytes) // _SECTOR), _END, 0)
    header += b"".join(struct.pack("<I", one) for one in [*fat_at, *[_FREE] * (109 - fat_sectors)])
    return header + b"".join(sectors) + table.ljust(fat_sectors * _SECTOR, b"\xff")


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    written = name.encode("utf-16-le") + b"\0\0"
    data = written.ljust(64, b"\0") + struct.pack("<HBB", len(written), kind, 1)
    return data + struct.pack("<III16xI16xIQ", _FREE, right, child, 0, start, size)
