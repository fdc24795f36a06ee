# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""What the processes of a bench use."""

import os


def ticks(pids):
    """The processor seconds that processes and all that they started have used."""
    used, parents = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(name)] = int(fields[1])
        used[int(name)] = sum(int(fields[place]) for place in (11, 12))

    def belongs(pid):
        while pid and pid not in pids:
            pid = parents.get(pid, 0)
        return bool(pid)

    return sum(time for pid, time in used.items() if belongs(pid)) / os.sysconf("SC_CLK_TCK")
