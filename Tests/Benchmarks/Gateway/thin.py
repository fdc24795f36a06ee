# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""PostGIS behind the thinnest HTTP that answers keep-alive requests: a process for each processor, a
thread and a connection to the database for each client, one statement made once, its text sent as it comes.

usage: thin.py PORT DATABASE TABLE
GET /?xmin,ymin,xmax,ymax answers the features that meet the rectangle as GeoJSON.
"""

import os
import socket
import sys
import threading

import psycopg2

STATEMENT = """
PREPARE features(float8, float8, float8, float8) AS
SELECT '{"type":"FeatureCollection","features":[' || coalesce(string_agg(
    '{"type":"Feature","id":' || id || ',"properties":' ||
    json_build_object('name', name, 'class', class, 'rank', rank)::text ||
    ',"geometry":' || ST_AsGeoJSON(geom, 15) || '}', ','), '') || ']}'
FROM {table} WHERE ST_Intersects(geom, ST_MakeEnvelope($1, $2, $3, $4, 4326))
"""


def serve(client, database, table):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection = psycopg2.connect(database)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute(STATEMENT.replace("{table}", '"%s"' % table))
    data = b""
    with client, connection:
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                more = client.recv(65536)
                if not more:
                    return
                data += more
                continue
            box = data[:end].split(b" ", 2)[1].partition(b"?")[2].decode()
            data = data[end + 4:]
            cursor.execute("EXECUTE features(%s, %s, %s, %s)", box.split(","))
            body = cursor.fetchone()[0].encode()
            head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            try:
                client.sendall((head % len(body)).encode() + body)
            except (BrokenPipeError, ConnectionResetError):
                return


def main():
    port, database, table = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    for _ in range(os.cpu_count() - 1):
        if os.fork() == 0:
            break
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, database, table), daemon=True).start()


main()
