// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc

/// An HTTP server in a process of its own that plays map services, and servers that misbehave.
///
/// Its paths are in ``script``. It ends with the fixture.
public final class PlayedServer: @unchecked Sendable {
    // Written in init only.
    private let process: Process
    private let input = Pipe()
    /// `http://127.0.0.1:<port>`.
    public let url: String

    /// Starts it, on that port or any that is free, and waits until it listens.
    public init(port: Int = 0) throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-u", "-c", Self.script, "\(port)"]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            line += more
        }
        guard let port = Int(String(decoding: line, as: UTF8.self).split(separator: "\n")[0]) else {
            throw CocoaError(.fileReadUnknown)
        }
        url = "http://127.0.0.1:\(port)"
    }

    deinit {
        // It ends when its standard input does.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The port it listens on.
    public var port: Int { url.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// Kills it, and waits until it is gone.
    public func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Requests so far: one line each, `METHOD path?query | authorization | body`.
    public func log() throws -> [String] {
        let (data, _) = try Self.get(url + "/_log")
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Lets every request to `/gate` be answered, now and later.
    public func openGate() throws { _ = try Self.get(url + "/_open") }

    /// Largest number of concurrent requests to `/gate`.
    public func gatePeak() throws -> Int? {
        Int(String(decoding: try Self.get(url + "/_peak").0, as: UTF8.self))
    }

    private static func get(_ url: String) throws -> (Data, Int32) {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-s", "--noproxy", "*", url]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        curl.waitUntilExit()
        return (data, curl.terminationStatus)
    }

    private static let script = #"""
        import http.server, json, os, sys, threading, urllib.parse as up
        log, flaky, lock = [], {}, threading.Lock()
        gate, inside, peak, together = threading.Event(), 0, 0, threading.Barrier(8)

        CAPS130 = '''<?xml version="1.0"?><WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms">
        <Service><Name>WMS</Name></Service><Capability><Request><GetFeatureInfo><Format>text/plain</Format>
        <Format>%s</Format></GetFeatureInfo></Request>
        <Layer><Title>All</Title><CRS>EPSG:4326</CRS><CRS>EPSG:3857</CRS><CRS>EPSG:2154</CRS>
        <EX_GeographicBoundingBox><westBoundLongitude>-5</westBoundLongitude><eastBoundLongitude>10</eastBoundLongitude>
        <southBoundLatitude>41</southBoundLatitude><northBoundLatitude>52</northBoundLatitude></EX_GeographicBoundingBox>
        <BoundingBox CRS="EPSG:4326" minx="41" miny="-5" maxx="52" maxy="10"/>
        <Layer queryable="1"><Name>roads</Name><Title>Roads</Title><Attribution><Title>Road office</Title></Attribution></Layer>
        <Layer queryable="1"><Name>ns:towns</Name><Title>Towns</Title></Layer>
        <Layer><Name>paper</Name><Title>Paper</Title></Layer></Layer></Capability></WMS_Capabilities>'''
        CAPS111 = '''<?xml version="1.0" encoding="ISO-8859-1"?>
        <!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd">
        <WMT_MS_Capabilities version="1.1.1"><Service><Name>OGC:WMS</Name></Service><Capability><Request>
        <GetFeatureInfo><Format>application/vnd.ogc.gml</Format></GetFeatureInfo></Request>
        <Layer queryable="1"><Name>roads</Name><Title>Stra\xdfen</Title><SRS>EPSG:4326 EPSG:32631</SRS>
        <LatLonBoundingBox minx="-5" miny="41" maxx="10" maxy="52"/></Layer></Capability></WMT_MS_Capabilities>'''

        def place(q):
            # The middle of the pixel that is asked, x first: OGC 06-042, 6.7.4 and 7.4.3.
            later = q["VERSION"] == "1.3.0"
            crs = q["CRS" if later else "SRS"]
            a, b, c, d = map(float, q["BBOX"].split(","))
            if later and crs == "EPSG:4326": a, b, c, d = b, a, d, c
            i, j = (int(q["I"]), int(q["J"])) if later else (int(q["X"]), int(q["Y"]))
            w, h = int(q["WIDTH"]), int(q["HEIGHT"])
            return crs, a + (i + 0.5) * (c - a) / w, d - (j + 0.5) * (d - b) / h, (c - a) / w

        def png(width, height, color): return packed(width, height, (b"".join(color(i, j) for i in range(width)) for j in range(height)))

        def packed(width, height, rows):
            import struct, zlib
            rows = b"".join(b"\0" + row for row in rows)
            def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")

        def ground(x, y, cell):
            # What the world looks like: cells of one colour each, every seventh clear.
            i, j = int(x // cell), int(y // cell)
            return bytes((i * 53 % 256, j * 97 % 256, (i + j) * 31 % 256, 0 if (i + 2 * j) % 7 == 0 else 255))

        def drawn(box, width, height, cell):
            # Rows that go through the same cells are the same.
            a, b, c, d = box
            rows = {}
            def row(j):
                y = d - (j + 0.5) * (d - b) / height
                if y // cell not in rows:
                    rows[y // cell] = b"".join(ground(a + (i + 0.5) * (c - a) / width, y, cell) for i in range(width))
                return rows[y // cell]
            return packed(width, height, map(row, range(height)))

        def converted(picture, form):
            # WebP without loss; JPEG with as little as there can be, and without alpha.
            import subprocess, tempfile
            options = {"webp": ["-co", "LOSSLESS=YES"], "jpeg": ["-co", "QUALITY=100", "-b", "1", "-b", "2", "-b", "3"]}[form]
            with tempfile.TemporaryDirectory() as folder:
                with open(folder + "/in.png", "wb") as file: file.write(picture)
                subprocess.run(["gdal_translate", "-q", "-of", form.upper(), *options, folder + "/in.png", folder + "/out"], check=True)
                with open(folder + "/out", "rb") as file: return file.read()

        def wms_map(q):
            later = q["VERSION"] == "1.3.0"
            crs = q["CRS" if later else "SRS"]
            a, b, c, d = map(float, q["BBOX"].split(","))
            if later and crs == "EPSG:4326": a, b, c, d = b, a, d, c
            return drawn((a, b, c, d), int(q["WIDTH"]), int(q["HEIGHT"]), 1 if crs == "EPSG:4326" else 1e5)

        GML = '''<?xml version="1.0"?><msGMLOutput xmlns:gml="http://www.opengis.net/gml"><roads_layer>
        <gml:name>roads</gml:name><roads_feature><gml:boundedBy><gml:Box><gml:coordinates>1,2 3,4</gml:coordinates>
        </gml:Box></gml:boundedBy><NAME>A &amp; B</NAME><X>%r</X><Y>%r</Y></roads_feature></roads_layer></msGMLOutput>'''

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *a): pass
            def send(self, body, kind="application/json", status=200, **headers):
                body = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items(): self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            def do_POST(self): self.do_GET()
            def do_GET(self):
                url = up.urlsplit(self.path)
                n = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(n).decode()
                q = dict(up.parse_qsl(url.query, keep_blank_values=True))
                form = dict(up.parse_qsl(body, keep_blank_values=True))
                path = url.path
                if path == "/_log": return self.send("\n".join(log), "text/plain")
                if path == "/_open": gate.set()
                if path in ("/_open", "/_peak"): return self.send(str(peak), "text/plain")
                with lock: log.append(f"{self.command} {self.path} | {self.headers.get('Authorization')} | {body}")
                answer = getattr(self, "play_" + path.strip("/").split("/")[0].replace("-", "_"), None)
                if answer is None: return self.send("nothing here", "text/plain", 404)
                answer(path, q, form)
            def play_points(self, path, q, form):
                if self.headers.get("Authorization") != "Bearer geheim": return self.send("no", "text/plain", 401)
                features = [{"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Point", "coordinates": [2 + i, 2]}} for i, name in enumerate(q["names"].split(","))]
                return self.send(json.dumps({"type": "FeatureCollection", "features": features}), "application/geo+json")
            def play_arcgis(self, path, q, form):
                guarded = "guarded" in path
                if guarded and form.get("token") != "geheim":
                    return self.send(json.dumps({"error": {"code": 499, "message": "Token Required", "details": []}}))
                ref = {"wkid": 102100, "latestWkid": 3857}
                box = {"xmin": -1e6, "ymin": 5e6, "xmax": 1e6, "ymax": 7e6, "spatialReference": ref}
                if path.endswith("MapServer"):
                    answer = {"currentVersion": 10.91, "mapName": "Played", "capabilities": "Map" if "mute" in path else "Map,Query,Data", "spatialReference": ref,
                        "fullExtent": box, "layers": [{"id": 0, "name": "Points"}, {"id": 3, "name": "Lines"}]}
                    if "tiled" in path or "mute" in path: answer["tileInfo"] = {"lods": [{"level": 0}]}
                    if "cached" in path: answer["tileInfo"] = {"rows": 100, "cols": 160, "dpi": 96, "origin": {"x": -1500000, "y": 7300000}, "spatialReference": ref,
                        "lods": [{"level": 4, "resolution": 8000.0, "scale": 3e7}, {"level": 5, "resolution": 4000.0, "scale": 1.5e7}, {"level": 7, "resolution": 1000.0, "scale": 4e6}]}
                    return self.send(json.dumps(answer))
                if path.endswith("identify"):
                    p = json.loads(form["geometry"])
                    a, b, c, d = map(float, form["mapExtent"].split(","))
                    w, h, dpi = map(float, form["imageDisplay"].split(","))
                    return self.send(json.dumps({"results": [{"layerId": n, "layerName": name, "displayFieldName": "NAME", "value": name,
                        "attributes": {"ZZ": "first", "OBJECTID": 40 + n, "NAME": name + " here", "pixel": (c - a) / w, "asked": form["layers"],
                            "tolerance": form["tolerance"], "middle": (a + c) / 2 - p["x"], "sr": form["sr"]},
                        "geometryType": "esriGeometryPoint", "geometry": {"x": p["x"] + n * (c - a) / w, "y": p["y"], "spatialReference": ref}}
                        for n, name in ((0, "Points"), (3, "Lines"))]}))
                if "/tile/" in path:
                    z, y, x = (int(part) for part in path.split("/")[-3:])
                    # Nothing in one column of the level in the middle.
                    if z not in (4, 5, 7) or z == 5 and x == 2: return self.send("no tile", "text/plain", 404)
                    side = {4: 8000, 5: 4000, 7: 1000}[z]
                    left, top = -1500000 + x * 160 * side, 7300000 - y * 100 * side
                    return self.send(drawn((left, top - 100 * side, left + 160 * side, top), 160, 100, 1e5), "image/png")
                if path.endswith("legend"):
                    import base64
                    swatch = lambda n: {"label": f"kind {n}" if n else "", "url": "x", "contentType": "image/png", "width": 20, "height": 20 + n,
                        "imageData": base64.b64encode(png(20, 20 + n, lambda i, j: bytes((n, i, j, 255)))).decode() if "mute" not in path else "R0lGODlh"}
                    return self.send(json.dumps({"layers": [{"layerId": k, "layerName": name, "legend": [swatch(n) for n in range(k + 1)]} for k, name in ((0, "Points"), (3, "Lines"))]}))
                if path.endswith("export"):
                    box = tuple(map(float, form["bbox"].split(",")))
                    return self.send(drawn(box, *map(int, form["size"].split(",")), 1e5), "image/png")
                if path.endswith("query"):
                    import re
                    g, most = json.loads(form["geometry"]), int(form.get("resultRecordCount", 150))
                    where = re.sub(r"NOT IN \(([^)]*)\)", r"not in [\1]", form["where"]).replace(" AND ", " and ")
                    where = where.replace("1=1", "True").replace("KIND =", "i % 2 ==").replace("OBJECTID", "(i + 1)")
                    kept = []
                    for i in range(400):
                        x, y = (i % 20) * 1000.0, 6e6 + (i // 20) * 1000.0
                        if "x" in g: inside = (x, y) == (g["x"], g["y"])
                        elif "xmin" in g: inside = g["xmin"] <= x <= g["xmax"] and g["ymin"] <= y <= g["ymax"]
                        else:
                            xs, ys = [c[0] for r in g["rings"] for c in r], [c[1] for r in g["rings"] for c in r]
                            inside = min(xs) <= x <= max(xs) and min(ys) <= y <= max(ys)
                        if inside and eval(where):
                            kept.append({"attributes": {"OBJECTID": i + 1, "NAME": f"n{i}", "KIND": i % 2, "SEEN": 1600000000000}, "geometry": {"x": x, "y": y}})
                    return self.send(json.dumps({"spatialReference": ref, "features": kept[:most], "exceededTransferLimit": len(kept) > most}))
                field = lambda n, t: {"name": n, "type": "esriFieldType" + t, "alias": n}
                more = {}
                if "paged" in path: more = {"maxRecordCount": 150, "advancedQueryCapabilities": {"supportsPagination": True}, "copyrightText": "Played surveyors",
                    "drawingInfo": {"transparency": 0, "labelingInfo": None, "renderer": {"type": "uniqueValue", "field1": "KIND", "uniqueValueInfos": [
                        {"value": "1", "label": "odd", "symbol": {"type": "esriSMS", "style": "esriSMSSquare", "color": [200, 0, 80, 255], "size": 6, "xoffset": 0}}],
                        "defaultSymbol": {"type": "esriSMS", "style": "esriSMSCircle", "color": [0, 90, 200, 255], "size": 9}}}}
                self.send(json.dumps({**more, "currentVersion": 10.91, "name": "Played points", "type": "Feature Layer", "geometryType": "esriGeometryPoint",
                    "extent": box, "displayField": "NAME", "capabilities": "Query", "fields": [field("NAME", "String"), field("OBJECTID", "OID"),
                    field("KIND", "SmallInteger"), field("SEEN", "Date"), field("SHAPE", "Geometry")]}))
            def play_features(self, path, q, form):
                # /features/KIND/FeatureServer/0: points by rising object id, of servers that are good or not.
                kind, whole = path.split("/")[2], 3000
                if not path.endswith("query"):
                    fields = [{"name": "OBJECTID", "type": "esriFieldTypeOID"}, {"name": "POP", "type": "esriFieldTypeInteger"}, {"name": "NOTE", "type": "esriFieldTypeString"}]
                    return self.send(json.dumps({"name": "Points", "geometryType": "esriGeometryPoint", "capabilities": "Map" if kind == "mute" else "Query", "maxRecordCount": 1000,
                        "advancedQueryCapabilities": {"supportsPagination": kind != "plain"}, "fields": fields,
                        "extent": {"xmin": 0, "ymin": 0, "xmax": 90, "ymax": 1, "spatialReference": {"wkid": 4326}}}))
                if kind in ("hang", "huge", "break", "drip", "denied"): return getattr(self, "play_" + kind)(path, q, form)
                if kind == "html": return self.send("<html>Sign in</html>", "text/html")
                if kind == "token": return self.send(json.dumps({"error": {"code": 499, "message": "Token Required", "details": []}}))
                if kind == "nothing": return self.send("{}")
                if kind == "empty": return self.send(json.dumps({"features": [], "exceededTransferLimit": True}))
                if "returnCountOnly" in form: return self.send(json.dumps({"count": -5 if kind == "negative" else whole}))
                if "returnIdsOnly" in form: return self.send(json.dumps({"objectIdFieldName": "OBJECTID", "objectIds": [*range(1, whole + 1)] + ([5] if kind == "twice" else [])}))
                after = int(form["where"].split("OBJECTID > ")[-1]) if "OBJECTID > " in form["where"] else 0
                if kind == "half" and after > 0: return self.play_break(path, q, form)
                if kind == "again": after = 0
                ids = [int(i) for i in form["objectIds"].split(",")] if "objectIds" in form else [*range(after + 1, after + 1 + min(1000, int(form.get("resultRecordCount", 1000))))]
                if kind != "endless": ids = [i for i in ids if i <= whole]
                if kind == "twice": ids = ids[:5] + ids[:1]
                def feature(i):
                    point = {"paths": [[[0, 0], [1, 1]]]} if kind == "shape" and i == 7 else {"x": i % 90, "y": "what" if kind == "place" and i == 7 else 1}
                    note = "x" * 100000 if kind == "heavy" else f"n{i}"
                    return {"attributes": {"OBJECTID": 1 << 40 if kind == "large" and i == 7 else i, "POP": "many" if kind == "text" and i == 7 else i % 7, "NOTE": note}, "geometry": point}
                self.send(json.dumps({"spatialReference": {"wkid": 2154 if kind == "moved" else 4326}, "features": [feature(i) for i in ids], "exceededTransferLimit": kind == "endless" or bool(ids) and ids[-1] < whole and "objectIds" not in form}))
            def play_tiles(self, path, q, form): self.send(b"\x89PNG\r\n", "image/png")
            def play_xyz(self, path, q, form):
                z, x, y = (int(part.split(".")[0]) for part in path.split("/")[2:])
                # Nothing east of the first meridian in one row, and no level beyond 9.
                if z > 9 or z > 0 and x >= 1 << z - 1 and y == 1 << z - 2: return self.send("no tile", "text/plain", 404)
                side = 40075016.685578488 / (1 << z)
                left, top = x * side - 20037508.342789244, 20037508.342789244 - y * side
                form = path.split(".")[-1]
                picture = drawn((left, top - side, left + side, top), 256, 256, 1e5)
                self.send(picture if form == "png" else converted(picture, form), "image/" + form)
            def play_webp(self, path, q, form):
                if q.get("REQUEST") == "GetMap": return self.send(converted(wms_map(q), q["FORMAT"].split("/")[1]), q["FORMAT"])
                kinds = "".join(f"<Format>image/{kind}</Format>" for kind in ("gif", path.strip("/")))
                self.send((CAPS130 % "text/html").replace("<Request>", "<Request><GetMap>" + kinds + "</GetMap>"), "text/xml")
            play_jpeg = play_webp
            def play_lying(self, path, q, form):
                # Describes itself, then sends what says of itself that it is a hundred thousand pixels wide.
                if q.get("REQUEST") == "GetCapabilities": return self.play_wms(path, q, form)
                import struct, zlib
                whole = bytearray(png(1, 1, lambda i, j: b"1234"))
                whole[16:24] = struct.pack(">II", 100000, 100000)
                whole[29:33] = struct.pack(">I", zlib.crc32(bytes(whole[12:29])))
                self.send(bytes(whole), "image/png")
            def play_garbage(self, path, q, form):
                if q.get("REQUEST") == "GetCapabilities": return self.play_wms(path, q, form)
                self.send(b"\x89PNG\r\n\x1a\n but then other things", "image/png")
            def play_cut(self, path, q, form):
                if q.get("REQUEST") == "GetCapabilities": return self.play_wms(path, q, form)
                self.send(wms_map(q)[:-200], "image/png")
            def play_ok(self, path, q, form): self.send(json.dumps({"q": q, "form": form}))
            def play_gate(self, path, q, form):
                # Many may come; none leaves before the gate is open.
                global inside, peak
                with lock: inside, peak = inside + 1, max(peak, inside + 1)
                gate.wait(600)
                with lock: inside -= 1
                self.send("{}")
            def play_hang(self, path, q, form): threading.Event().wait(600)
            def play_drip(self, path, q, form):
                self.send_response(200); self.send_header("Content-Length", "1000000"); self.end_headers()
                try:
                    while True: self.wfile.write(b"."); threading.Event().wait(0.05)
                except OSError: pass
            def play_huge(self, path, q, form):
                self.send_response(200); self.send_header("Content-Length", str(1 << 30)); self.end_headers()
                try:
                    for _ in range(1 << 14): self.wfile.write(b"x" * (1 << 16))
                except OSError: pass
            def play_headers(self, path, q, form):
                try:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                    while True: self.wfile.write(b"X-Pad: " + b"x" * 1000 + b"\r\n")
                except OSError: pass
            def play_bomb(self, path, q, form):
                import zlib
                packer = zlib.compressobj(9, zlib.DEFLATED, 31)
                body = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
                self.send(body, **{"Content-Encoding": "gzip"})
            def play_break(self, path, q, form):
                self.send_response(200); self.send_header("Content-Length", "1000"); self.end_headers()
                self.wfile.write(b"{"); self.wfile.flush(); self.close_connection = True
            def play_loop(self, path, q, form): self.send("", status=302, Location="/loop?again")
            def play_moved(self, path, q, form): self.send("", status=307, Location="/ok?moved=1")
            def play_away(self, path, q, form):
                port = self.server.server_address[1]
                self.send("", status=302, Location=f"http://localhost:{port}/ok")
            def play_to(self, path, q, form): self.send("." * int(q.get("bytes", "0")), status=302, Location=q["url"])
            def play_file(self, path, q, form): self.send("", status=302, Location="file:///etc/passwd")
            def play_denied(self, path, q, form): self.send("who are you?", "text/plain", 401)
            def play_flaky(self, path, q, form):
                with lock: flaky[path] = flaky.get(path, 0) + 1
                if flaky[path] < 3: return self.send("busy", "text/plain", 503)
                self.send("{}")
            def play_guarded(self, path, q, form):
                if self.headers.get("Authorization") != "Basic dXNlcjpnZWhlaW0=": return self.play_denied(path, q, form)
                self.play_wms(path, q, form)
            def play_exception(self, path, q, form):
                if q.get("REQUEST") == "GetCapabilities": return self.play_wms(path, q, form)
                self.send('<ServiceExceptionReport version="1.3.0"><ServiceException code="LayerNotDefined">No such\n layer</ServiceException></ServiceExceptionReport>', "text/xml")
            def play_half(self, path, q, form):
                # Describes itself, then never answers.
                if q.get("REQUEST") == "GetCapabilities": return self.play_wms(path, q, form)
                self.play_hang(path, q, form)
            def play_trickle(self, path, q, form):
                # Describes itself, then sends a byte now and then.
                self.play_wms(path, q, form) if q.get("REQUEST") == "GetCapabilities" else self.play_drip(path, q, form)
            def play_flood(self, path, q, form):
                # Describes itself, then sends a gigabyte.
                self.play_wms(path, q, form) if q.get("REQUEST") == "GetCapabilities" else self.play_huge(path, q, form)
            def play_together(self, path, q, form):
                if q.get("REQUEST") == "GetFeatureInfo": together.wait()
                self.play_wms(path, q, form)
            def play_text(self, path, q, form):
                if q.get("REQUEST") == "GetCapabilities": return self.send(CAPS130 % "text/html", "text/xml")
                self.send("GetFeatureInfo results:\n\n  Search returned no results.\n" if "roads" in q["QUERY_LAYERS"] else "height = 12", "text/plain")
            def play_wms111(self, path, q, form):
                if q.get("REQUEST") == "GetCapabilities": return self.send(CAPS111.encode("latin-1"), "application/vnd.ogc.wms_xml")
                if q.get("REQUEST") == "GetMap": return self.send(wms_map(q), "image/png")
                crs, x, y, _ = place(q)
                self.send(GML % (x, y), q["INFO_FORMAT"])
            def play_wms(self, path, q, form):
                if q.get("REQUEST") == "GetCapabilities": return self.send(CAPS130 % "application/json", "text/xml")
                if q.get("REQUEST") == "GetMap": return self.send(wms_map(q), "image/png")
                if q.get("REQUEST") == "GetLegendGraphic": return self.send(png(10 + len(q["LAYER"]), 7, lambda i, j: bytes((i, j, 9, 255))), q["FORMAT"])
                crs, x, y, pixel = place(q)
                n = crs.split(":")[1]
                features = [{"type": "Feature", "id": f"{name}.{10 + k}", "properties":
                    {"z": 1, "name": f"{name} here", "x": x, "y": y, "pixel": pixel, "crs": crs},
                    "geometry": {"type": "Point", "coordinates": [x + k * pixel, y]}}
                    for k, name in enumerate(q["QUERY_LAYERS"].replace("ns:", "").split(","))]
                if path.endswith("/many"): features *= 200
                self.send(json.dumps({"type": "FeatureCollection", "features": features,
                    "crs": {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{n}"}}}))

        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
        server.daemon_threads = True
        print(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        os._exit(0)
        """#
}
