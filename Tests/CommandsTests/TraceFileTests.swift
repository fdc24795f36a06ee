// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Testing

@testable import Commands

@Suite struct TraceFileTests {
    private func points(_ text: String) throws -> [TracePoint] {
        try TraceFile.points(Array(text.utf8), name: "trace")
    }

    private static let first = TracePoint(
        Coordinate(x: 1.5, y: 42.5), time: Timestamp(microseconds: 1_796_000_000_000_000))
    private static let second = TracePoint(
        Coordinate(x: 1.6, y: 42.5), time: Timestamp(microseconds: 1_796_000_001_500_000))

    @Test(arguments: [
        """
        <?xml version="1.0"?><gpx version="1.1"><wpt lat="0" lon="0"/><trk><trkseg>
        <trkpt lat="42.5" lon="1.5"><ele>3</ele><time>2026-11-30T00:53:20Z</time></trkpt>
        </trkseg><trkseg><trkpt lat="42.5" lon="1.6"><time>2026-11-30T00:53:21.5Z</time></trkpt>
        </trkseg></trk></gpx>
        """,
        """
        {"type":"Feature","properties":{"coordTimes":["2026-11-30T00:53:20Z",1796000001.5]},
        "geometry":{"type":"LineString","coordinates":[[1.5,42.5,9],[1.6,42.5]]}}
        """,
        """
        {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"time":1796000000},
        "geometry":{"type":"Point","coordinates":[1.5,42.5]}},{"type":"Feature","properties":
        {"timestamp":"2026-11-30T00:53:21.5Z"},"geometry":{"type":"Point","coordinates":[1.6,42.5]}}]}
        """,
        "Time;Lat;Lon\n1796000000;42.5;1.5\n2026-11-30T00:53:21.5Z;42.5;1.6\n",
    ])
    func `traces are read in each form`(_ text: String) throws {
        #expect(try points(text) == [Self.first, Self.second])
    }

    @Test func `a table has precisions and bearings`() throws {
        let read = try points("x,y,accuracy,heading\n1,2,8,90\n1,3,,\n")
        #expect(read.map(\.precision) == [8, nil] && read.map(\.bearing) == [90, nil])
    }

    @Test(arguments: [
        ("", "columns"), ("a,b\n1,2\n", "columns"), ("lon,lat\n1,2\n", "two or more"),
        ("lon,lat\n1,2\n200,2\n", "row 2"), ("lon,lat,time\n1,2,noon\n1,2,1\n", "noon"),
        ("<gpx><trk>", "line 1"), ("<kml/>", "kml"), ("{", "JSON"), ("{\"a\":1}", "type"),
        ("{\"type\":\"Polygon\",\"coordinates\":[]}", "Polygon"),
        ("{\"type\":\"LineString\",\"coordinates\":[[1],[2]]}", "position 1"),
    ])
    func `what is no trace is refused with its reason`(_ text: String, _ reason: String) {
        do {
            _ = try points(text)
            Issue.record("'\(text)' was read")
        } catch {
            let message = (error as? Failure)?.message ?? ""
            #expect(message.contains("'trace'") && message.contains(reason), "\(message)")
        }
    }
}
