"""How wide a kernel's accesses to memory are: read off the machine code itself, since no disassembler need be there."""

import collections
import struct

# Of processors from sm_70 on: instructions of 16 bytes, whose lowest 12 bits say what they do.
WHAT = {0x381: "load", 0x981: "load", 0x386: "store", 0x986: "store", 0x3BA: "bulk copy"}
BITS = {0: 8, 1: 8, 2: 16, 3: 16, 4: 32, 5: 64, 6: 128}


def sections(elf):
    """Names and bytes of an object's sections."""
    first, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    table = [struct.unpack_from("<IIQQQQ", elf, first + i * size) for i in range(count)]
    for name, _, _, _, offset, length in table:
        begin = table[names][4] + name
        yield elf[begin:elf.index(b"\0", begin)].decode(), elf[offset:offset + length]


def accesses(data):
    """("load" or "store", bits) to how often, of an object somewhere in the data; bulk copies have no bits."""
    found = collections.Counter()
    for name, code in sections(data[data.index(b"\x7fELF"):]):
        if not name.startswith(".text."):
            continue
        for at in range(0, len(code), 16):
            low, high = struct.unpack_from("<QQ", code, at)
            what = WHAT.get(low & 0xFFF)
            if what == "bulk copy":
                found[what, 0] += 1
            elif what in ("load", "store"):
                found[what, BITS.get(high >> 9 & 7, 0)] += 1
    return found
