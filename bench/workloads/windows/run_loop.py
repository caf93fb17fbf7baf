"""Windows as a bare Python loop that takes the same steps by hand: everything inline, no call of a function."""

import time

from bench.program import parse, report

CHUNK = 10_000


def tumbling(n: int) -> tuple[int, int, int]:
    half = n // 2
    windows: dict[int, dict[int, tuple[int, int]]] = {}
    emitted = counted = total = 0
    for base in range(0, half, CHUNK):
        for part in (0, half):
            for i in range(part + base, part + min(base + CHUNK, half)):
                record = (i % 1000, i, (i % half) // 10)
                key = record[0]
                stamp = record[2]
                start = stamp - stamp % 10_000
                table = windows.get(start)
                if table is None:
                    table = windows[start] = {}
                known = table.get(key)
                if known is None:
                    table[key] = (1, record[1])
                else:
                    table[key] = (known[0] + 1, known[1] + record[1])
        watermark = min(base + CHUNK, half) // 10 - 2
        if base + CHUNK >= half:
            watermark = 1 << 62
        for start in [each for each in windows if each + 10_000 - 1 <= watermark]:
            for result in windows.pop(start).values():
                emitted += 1
                counted += result[0]
                total += result[1]
    return emitted, counted, total


def sessions(n: int) -> tuple[int, int, int]:
    half = n // 2
    open_sessions: dict[int, tuple[int, int, int]] = {}
    emitted = counted = total = 0
    for base in range(0, half, CHUNK):
        for part in (0, half):
            for i in range(part + base, part + min(base + CHUNK, half)):
                millis = (i % half) // 10
                record = (i % 1000, i, millis // 8_000 * 10_000 + millis % 8_000)
                key = record[0]
                stamp = record[2]
                known = open_sessions.get(key)
                if known is not None and stamp <= known[0]:
                    end = stamp + 1_000
                    open_sessions[key] = (end if end > known[0] else known[0], known[1] + 1, known[2] + record[1])
                else:
                    if known is not None:
                        emitted += 1
                        counted += known[1]
                        total += known[2]
                    open_sessions[key] = (stamp + 1_000, 1, record[1])
    for known in open_sessions.values():
        emitted += 1
        counted += known[1]
        total += known[2]
    return emitted, counted, total


def main() -> None:
    options = parse(__doc__, records=10_000_000, sessions=0)
    n = options.records
    started = time.perf_counter()
    emitted, counted, total = (sessions if options.sessions else tumbling)(n)
    report(n, time.perf_counter() - started, emitted=emitted, counted=counted, total=total)


if __name__ == "__main__":
    main()
