# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""shapely in bulk: shapely-bulk.py POSITIONS LAYER ROUNDS prints the processor seconds of the median round and
the count of pairs found. Rings are read with pyogrio."""

import struct
import sys
import time

import numpy
import pyogrio
import shapely

with open(sys.argv[1], "rb") as file:
    (count,) = struct.unpack("<I", file.read(4))
    positions = numpy.fromfile(file, dtype="<f8").reshape(count, 2)
_, _, wkb, _ = pyogrio.raw.read(sys.argv[2], columns=[])
geometries = shapely.from_wkb(wkb)
tree = shapely.STRtree(geometries)
shapely.prepare(geometries)


def ask():
    points = shapely.points(positions)
    inputs, hits = tree.query(points)
    inside = shapely.intersects_xy(geometries[hits], positions[inputs, 0], positions[inputs, 1])
    return int(inside.sum())


pairs = ask()
times = []
for _ in range(int(sys.argv[3])):
    start = time.process_time()
    ask()
    times.append(time.process_time() - start)
print(sorted(times)[len(times) // 2], pairs)
