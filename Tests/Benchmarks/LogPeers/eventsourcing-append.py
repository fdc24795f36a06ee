# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Durable appends with the eventsourcing library: FILE CLIENTS SECONDS EVENTS BYTES.

Clients are threads that each append EVENTS events to an aggregate of their own and wait until that is
done. Prints one JSON object.
"""

import json
import sys
import threading
import time
from uuid import uuid4

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

path, clients, seconds, count, size = sys.argv[1:]
clients, seconds, count, size = int(clients), float(seconds), int(count), int(size)
datastore = SQLiteDatastore(path, pool_size=clients)
recorder = SQLiteApplicationRecorder(datastore)
recorder.create_table()
state = b"x" * size
times = []
began = time.monotonic()


def client():
    aggregate, version, mine = uuid4(), 0, []
    while True:
        start = time.monotonic_ns()
        if start > (began + seconds) * 1e9:
            times.extend(mine)
            return
        recorder.insert_events(
            [StoredEvent(aggregate, version + index, "job.chunk.leased", state) for index in range(count)]
        )
        version += count
        mine.append(time.monotonic_ns() - start)


threads = [threading.Thread(target=client) for _ in range(clients)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
times.sort()
print(
    json.dumps(
        {
            "perSecond": len(times) * count / (time.monotonic() - began),
            "p50": times[len(times) // 2] / 1e3,
            "p99": times[len(times) * 99 // 100] / 1e3,
        }
    )
)
