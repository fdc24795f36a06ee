// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

/// The records of one commit in their canonical bytes, with the offsets of their columns.
struct NewRecords {
    /// The columns of one record.
    struct Place {
        let streamPosition: Int64
        let schema: Int64
        /// Bytes of the record, from its beginning on.
        let type: Range<Int>
        let metadata: Range<Int>
        let data: Range<Int>
    }

    /// The id's bytes in every record.
    static let id = 24..<40

    private(set) var records: CanonicalRecords
    private(set) var places: [Place] = []
    /// Neighbours of one stream.
    private(set) var streams: [(name: StreamName, records: Range<Int>)] = []
    /// Their ids.
    var ids: RecentIDs
    /// The time of all records; nil for an empty commit.
    private(set) var time: Timestamp?

    /// An empty commit with capacity for the records of a batch.
    init(roomFor batch: [AppendBytes]) {
        var (count, byteCount) = (0, 0)
        for append in batch {
            count += append.events.count
            byteCount += append.bytes.count
        }
        // A record repeats the name of the stream, which an append has once.
        records = CanonicalRecords(byteCapacity: byteCount + 80 * count, capacity: count)
        places.reserveCapacity(count)
        ids = RecentIDs(capacity: count)
    }

    mutating func add(
        _ event: AppendBytes.Event, of append: AppendBytes, stream: StreamName, at position: Int64,
        streamPosition: Int64, time: Timestamp
    ) {
        records.append { writer in
            append.write(
                event, of: stream, at: position, streamPosition: streamPosition, time: time,
                to: &writer)
        }
        self.time = time
        ids.append(event.id)
        if let last = streams.indices.last, streams[last].name == stream {
            streams[last].records = streams[last].records.lowerBound..<records.count
        } else {
            streams.append((stream, records.count - 1..<records.count))
        }
        let end = records.range(records.count - 1).count
        // From the id to its end an event has the same bytes in an append as in a record, so
        // offsets count from the end.
        let shift = end - event.data.upperBound
        func moved(_ range: Range<Int>) -> Range<Int> {
            range.lowerBound + shift..<range.upperBound + shift
        }
        places.append(
            Place(
                streamPosition: streamPosition, schema: Int64(event.schema),
                type: moved(event.type), metadata: moved(event.metadata), data: moved(event.data)))
    }

    /// Neighbours of one category.
    var runs: [CommittedBatch.Run] {
        var runs: [CommittedBatch.Run] = []
        for (stream, records) in streams {
            if let last = runs.last, stream.isOf(category: last.category) {
                runs[runs.count - 1].records = last.records.lowerBound..<records.upperBound
            } else {
                runs.append(CommittedBatch.Run(category: stream.category, records: records))
            }
        }
        return runs
    }
}
