// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import SQLite
import Synchronization
import Testing

/// Geodatabases that are synchronised with a service that speaks Esri's forms.
@Suite struct SyncTests {
    private let folder: URL

    init() throws {
        folder = try PackageFiles.folder()
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
    }

    private typealias Row = ReplicaServer.Row

    private static let here = Row(name: "here", size: 1, day: 86_400_000, x: 10, y: 20)

    private func made(_ server: ReplicaServer) async throws -> Geodatabase {
        let task = GeodatabaseSyncTask(url: server.url)
        let area = Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .webMercator)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        parameters.addLayerOption(GenerateLayerOption(layerID: 1))
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "city.gpkg"))
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        return geodatabase
    }

    private func job(
        _ server: ReplicaServer, _ geodatabase: Geodatabase,
        _ direction: SyncDirection = .bidirectional, rollsBack: Bool = false
    ) -> SyncGeodatabaseJob {
        let parameters = SyncGeodatabaseParameters()
        parameters.geodatabaseSyncDirection = direction
        parameters.shouldRollbackOnFailure = rollsBack
        return GeodatabaseSyncTask(url: server.url).makeSyncGeodatabaseJob(
            parameters: parameters, geodatabase: geodatabase)
    }

    @discardableResult
    private func sync(
        _ server: ReplicaServer, _ geodatabase: Geodatabase,
        _ direction: SyncDirection = .bidirectional, rollsBack: Bool = false
    ) async throws -> [SyncLayerResult] {
        let job = job(server, geodatabase, direction, rollsBack: rollsBack)
        job.start()
        return try await job.output
    }

    private func table(_ geodatabase: Geodatabase, _ layer: Int = 0) throws
        -> GeodatabaseFeatureTable
    {
        try #require(geodatabase.featureTable(named: layer == 0 ? "Places" : "Remarks"))
    }

    private func features(
        _ geodatabase: Geodatabase, _ layer: Int = 0
    ) async throws -> [UUID: Feature] {
        let found = try await table(geodatabase, layer).queryFeatures(using: QueryParameters())
        return Dictionary(
            uniqueKeysWithValues: try found.features().map {
                (try #require($0.attributes["GlobalID"] as? UUID), $0)
            })
    }

    private func rows(_ geodatabase: Geodatabase, _ layer: Int = 0) async throws -> [UUID: Row] {
        try await features(geodatabase, layer).mapValues { feature in
            let point = feature.geometry as? Point
            return Row(
                name: feature.attributes["name"] as? String,
                size: feature.attributes["size"] as? Int64,
                day: (feature.attributes["day"] as? Date).map {
                    Int64(($0.timeIntervalSince1970 * 1_000).rounded())
                }, x: point?.x, y: point?.y)
        }
    }

    private func change(_ feature: Feature, to row: Row) {
        feature.setAttributeValue(row.name, forKey: "name")
        feature.setAttributeValue(row.size, forKey: "size")
        feature.setAttributeValue(
            row.day.map { Date(timeIntervalSince1970: Double($0) / 1_000) }, forKey: "day")
        if let x = row.x, let y = row.y {
            feature.geometry = Point(x: x, y: y, spatialReference: .webMercator)
        }
    }

    @discardableResult
    private func add(
        _ row: Row, to geodatabase: Geodatabase, _ layer: Int = 0
    ) async throws -> Feature {
        let table = try table(geodatabase, layer)
        let feature = table.makeFeature()
        change(feature, to: row)
        if layer == 1 { feature.geometry = nil }
        try await table.add(feature)
        return feature
    }

    // MARK: Geodatabases of JSON

    @Test(arguments: ReplicaServer.Style.allCases, [false, true])
    func `JSON becomes a GeoPackage with the fields of the service`(
        style: ReplicaServer.Style, isPerLayer: Bool
    ) async throws {
        let server = ReplicaServer {
            $0.style = style
            $0.isPerLayer = isPerLayer
        }
        let id = server.put(Self.here)
        let other = server.put(Row(name: nil, size: 1 << 60, day: nil, x: nil, y: nil))
        server.put(Self.here, in: 1)
        let geodatabase = try await made(server)
        #expect(geodatabase.syncID == "R1" && !geodatabase.hasLocalEdits())
        #expect(Geodatabase(fileURL: geodatabase.fileURL).syncID == "R1")
        let table = try table(geodatabase)
        #expect(table.geometryType == Point.self && table.spatialReference == .webMercator)
        #expect(
            table.fields.map { "\($0.name) \($0.alias) \($0.type?.rawValue.dropFirst(13) ?? "")" }
                == [
                    "OBJECTID OBJECTID OID", "GlobalID GlobalID GlobalID", "name Name of it String",
                    "size size BigInteger", "day day Date", "kept kept Double",
                ])
        #expect(try await rows(geodatabase) == server.rows())
        #expect(try await rows(geodatabase)[other]?.size == 1 << 60)
        #expect(try await rows(geodatabase, 1) == server.rows(1))
        #expect(try await features(geodatabase)[id]?.attributes["OBJECTID"] as? Int64 == 1)
        let box = QueryParameters()
        box.geometry = Envelope(
            xMin: 9, yMin: 19, xMax: 11, yMax: 21, spatialReference: .webMercator)
        #expect(try await table.queryFeatureCount(using: box) == 1)
        let file = try Connection(
            path: geodatabase.fileURL.path(percentEncoded: false), mode: .read)
        let asked = try #require(server.stub.requests("/City/FeatureServer/createReplica").last)
            .parameters
        #expect(asked["dataFormat"] == "json" && asked["layers"] == "0,1")
        #expect(asked["syncModel"] == (isPerLayer ? "perLayer" : "perReplica"))
        #expect(asked["async"] == String(style == .asynchronous))
        #expect(try file.integer("PRAGMA application_id") == 0x4750_4B47)
        #expect(try file.text("PRAGMA integrity_check") == "ok")
        #expect(try file.integer("SELECT count(*) FROM rtree_Places_geom") == 1)
        #expect(
            try file.text("SELECT title FROM gpkg_data_columns WHERE table_name = 'Places'")
                == "Name of it")
        #expect(throws: SQLiteError.self) {
            try Connection(path: geodatabase.fileURL.path(percentEncoded: false), mode: .write)
                .execute("INSERT INTO Places (GlobalID) VALUES ('{\(id.uuidString)}')")
        }
        // Nothing is left beside the file.
        let left = try FileManager.default.contentsOfDirectory(
            atPath: folder.path(percentEncoded: false))
        #expect(left == ["city.gpkg"])
    }

    @Test func `Esri's own files are refused by name`() async throws {
        let server = ReplicaServer { $0.style = .file }
        let file = folder.appending(path: "esri.geodatabase")
        let connection = try Connection(path: file.path(percentEncoded: false), mode: .create)
        try connection.execute("CREATE TABLE GDB_Items (a INTEGER)")
        server.stub.on(
            "/files/*", .bytes(try Data(contentsOf: file), type: "application/octet-stream"))
        let error = await #expect(throws: CairnError.self) { try await made(server) }
        #expect(error?.kind == .unsupported)
        #expect(error?.description.contains("mobile geodatabase") == true)
        #expect(
            !FileManager.default.fileExists(
                atPath: folder.appending(path: "city.gpkg").path(percentEncoded: false)))
    }

    @Test func `a layer without global ids is refused by name`() async throws {
        let server = ReplicaServer()
        server.stub.on(
            "/City/FeatureServer/1",
            json: #"{"id":1,"name":"Remarks","fields":[{"name":"a","type":"esriFieldTypeOID"}]}"#)
        let error = await #expect(throws: CairnError.self) { try await made(server) }
        #expect(error?.description.contains("layer 1 'Remarks' has no field of global ids") == true)
    }

    @Test func `an export is registered nowhere, and needs no global ids`() async throws {
        let server = ReplicaServer()
        server.put(Self.here)
        server.stub.on(
            "/City/FeatureServer/1",
            json: #"{"id":1,"name":"Remarks","fields":[{"name":"a","type":"esriFieldTypeOID"}]}"#)
        let task = GeodatabaseSyncTask(url: server.url)
        let parameters = GenerateGeodatabaseParameters()
        parameters.syncModel = .none
        for id in 0...1 { parameters.addLayerOption(GenerateLayerOption(layerID: id)) }
        let job = task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "export.gpkg"))
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        #expect(try await rows(geodatabase) == server.rows() && geodatabase.syncID == nil)
        #expect(geodatabase.featureTables.map(\.tableName) == ["Places", "Remarks"])
        let error = await #expect(throws: CairnError.self) { try await sync(server, geodatabase) }
        #expect(error?.description.contains("registered with no service") == true)
    }

    // MARK: Both ways

    @Test(arguments: ReplicaServer.Style.allCases, [false, true])
    func `edits of both sides are on both sides afterwards`(
        style: ReplicaServer.Style, isPerLayer: Bool
    ) async throws {
        let server = ReplicaServer {
            $0.style = style
            $0.isPerLayer = isPerLayer
        }
        let ids = (0..<4).map { _ in server.put(Self.here) }
        server.put(Self.here, in: 1)
        let geodatabase = try await made(server)
        let mine = try await features(geodatabase)
        let changed = try #require(mine[ids[0]])
        change(changed, to: Row(name: "mine", size: -5, day: -1, x: 1, y: 2))
        try await table(geodatabase).update(changed)
        try await table(geodatabase).delete(try #require(mine[ids[1]]))
        let added = try await add(Self.here, to: geodatabase)
        let short = try await add(Self.here, to: geodatabase)
        try await table(geodatabase).delete(short)
        try await add(Self.here, to: geodatabase, 1)
        server.put(Row(name: "theirs", size: nil, day: nil, x: 3, y: 4), ids[2])
        server.delete(ids[3])
        let theirs = server.put(Row(name: "new", size: 7, day: 8, x: 5, y: 6))
        #expect(geodatabase.hasLocalEdits())
        #expect(try await sync(server, geodatabase).isEmpty)
        #expect(!geodatabase.hasLocalEdits())
        #expect(try await rows(geodatabase) == server.rows())
        #expect(try await rows(geodatabase, 1) == server.rows(1))
        #expect(Set(server.rows().keys.map { $0 }).isSuperset(of: [ids[0], ids[2], theirs]))
        #expect(server.rows().count == 4 && server.rows(1).count == 2)
        let sent = try #require(server.requests.last)
        #expect(sent["replicaID"] == "R1" && sent["returnIdsForAdds"] == "true")
        // What was added and deleted here has never been there.
        let id = try #require(short.attributes["GlobalID"] as? UUID)
        #expect(sent["edits"]?.contains(id.uuidString) == false)
        #expect(sent["edits"]?.contains("OBJECTID") == false)
        // What the service keeps itself is not sent.
        #expect(sent["edits"]?.contains("kept") == false)
        // The feature that an app still holds is found by its global id.
        change(added, to: Row(name: "later", size: 2, day: 3, x: 4, y: 5))
        try await table(geodatabase).update(added)
        try await sync(server, geodatabase)
        let known = try #require(added.attributes["GlobalID"] as? UUID)
        #expect(server.rows()[known]?.name == "later")
        #expect(try await rows(geodatabase) == server.rows())
        // Nothing is sent, and nothing comes, that was there.
        try await sync(server, geodatabase)
        #expect(server.requests.last?["edits"] == "[]")
    }

    @Test func `features that were added have the object ids of the service`() async throws {
        let server = ReplicaServer { $0.nextObject = 500 }
        let geodatabase = try await made(server)
        server.put(Self.here)
        let added = try await add(Self.here, to: geodatabase)
        #expect(added.attributes["OBJECTID"] as? Int64 == 1)
        try await sync(server, geodatabase)
        let id = try #require(added.attributes["GlobalID"] as? UUID)
        let now = try await features(geodatabase)
        #expect(now[id]?.attributes["OBJECTID"] as? Int64 == 501)
        #expect(
            now.values.compactMap { $0.attributes["OBJECTID"] as? Int64 }.sorted() == [500, 501])
        let box = QueryParameters()
        box.geometry = Envelope(
            xMin: 9, yMin: 19, xMax: 11, yMax: 21, spatialReference: .webMercator)
        #expect(try await table(geodatabase).queryFeatureCount(using: box) == 2)
        try await table(geodatabase).delete(added)
        #expect(try await table(geodatabase).queryFeatureCount(using: box) == 1)
    }

    @Test func `global ids are known in either letter case, with and without braces`()
        async throws
    {
        let server = ReplicaServer { $0.spelling = { $0.uuidString.lowercased() } }
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        server.state.withLock { $0.spelling = { "{\($0.uuidString.lowercased())}" } }
        server.put(Row(name: "changed", size: 1, day: 2, x: 3, y: 4), id)
        let added = try await add(Self.here, to: geodatabase)
        try await sync(server, geodatabase)
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 2)
        server.state.withLock { $0.spelling = \.uuidString }
        server.delete(id)
        server.delete(try #require(added.attributes["GlobalID"] as? UUID))
        try await sync(server, geodatabase)
        #expect(try await rows(geodatabase).isEmpty)
    }

    @Test func `a direction takes its edits alone, and no change is passed over`() async throws {
        let server = ReplicaServer()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let mine = try #require(try await features(geodatabase)[id])
        change(mine, to: Row(name: "mine", size: 1, day: 2, x: 3, y: 4))
        try await table(geodatabase).update(mine)
        let theirs = server.put(Self.here)
        try await sync(server, geodatabase, .download)
        #expect(server.requests.last?["edits"] == nil && geodatabase.hasLocalEdits())
        #expect(server.rows()[id]?.name == "here")
        #expect(try await Set(rows(geodatabase).keys) == [id, theirs])
        #expect(try await rows(geodatabase)[id]?.name == "mine")
        let later = server.put(Self.here)
        try await sync(server, geodatabase, .upload)
        #expect(server.rows()[id]?.name == "mine" && !geodatabase.hasLocalEdits())
        #expect(try await rows(geodatabase)[later] == nil)
        try await sync(server, geodatabase)
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 3)
    }

    @Test func `a direction that the service does not offer fails the job`() async throws {
        let server = ReplicaServer { $0.hasDirections = false }
        let geodatabase = try await made(server)
        for direction in [SyncDirection.download, .upload, .none] {
            let error = await #expect(throws: CairnError.self) {
                try await sync(server, geodatabase, direction)
            }
            #expect(error?.kind == (direction == .none ? .invalidArgument : .unsupported))
        }
        #expect(server.requests.isEmpty)
        try await sync(server, geodatabase)
    }

    // MARK: Refused edits

    @Test func `refused edits come back and stay noted, the others are taken`() async throws {
        let server = ReplicaServer()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let mine = try #require(try await features(geodatabase)[id])
        mine.setAttributeValue("bad", forKey: "name")
        try await table(geodatabase).update(mine)
        let bad = try await add(Row(name: "bad", size: 1, day: 2, x: 3, y: 4), to: geodatabase)
        try await add(Self.here, to: geodatabase, 1)
        let results = try await sync(server, geodatabase)
        #expect(results.map(\.layerID) == [0] && results.map(\.tableName) == ["Places"])
        let edits = try #require(results.first?.editResults)
        #expect(edits.map(\.operation) == [.add, .update])
        #expect(edits.map(\.globalID) == [bad.attributes["GlobalID"] as? UUID, id])
        #expect(edits.allSatisfy { $0.error?.code == 1019 && $0.error?.message == "it is bad" })
        #expect(server.rows().count == 1 && server.rows(1).count == 1)
        #expect(try table(geodatabase).hasLocalEdits)
        #expect(!(try table(geodatabase, 1).hasLocalEdits))
        // Mended, they go.
        for feature in [mine, bad] {
            feature.setAttributeValue("good", forKey: "name")
            try await table(geodatabase).update(feature)
        }
        #expect(try await sync(server, geodatabase).isEmpty)
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 2)
    }

    @Test func `under rollback one refused edit changes nothing on either side`() async throws {
        let server = ReplicaServer()
        server.put(Self.here)
        let geodatabase = try await made(server)
        try await add(Self.here, to: geodatabase)
        let bad = try await add(Row(name: "bad", size: 1, day: 2, x: 3, y: 4), to: geodatabase)
        server.put(Self.here)
        let (here, there) = (try await rows(geodatabase), server.rows())
        let error = await #expect(throws: ServiceError.self) {
            try await sync(server, geodatabase, rollsBack: true)
        }
        #expect(error?.message == "an edit failed, all were rolled back")
        #expect(server.requests.last?["rollbackOnFailure"] == "true")
        #expect(try await rows(geodatabase) == here && server.rows() == there)
        #expect(geodatabase.hasLocalEdits())
        // Mended, all of it goes: what was refused is not sent again as it was.
        bad.setAttributeValue("good", forKey: "name")
        try await table(geodatabase).update(bad)
        try await sync(server, geodatabase, rollsBack: true)
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 4)
    }

    @Test(arguments: [
        #"{"status":"Failed"}"#,
        #"{"status":"Failed","error":{"code":1003,"message":"rolled back"}}"#,
        #"{"error":{"code":1003,"message":"rolled back"}}"#,
        #"""
        {"status":"Completed","replicaServerGen":900,"edits":[{"id":0,"addResults":[
        {"success":false,"error":{"code":1003,"description":"rolled back"}}]}]}
        """#,
    ])
    func `a job that the service rolled back changes nothing`(status: String) async throws {
        let server = ReplicaServer()
        let geodatabase = try await made(server)
        let mine = try await add(Self.here, to: geodatabase)
        let here = try await rows(geodatabase)
        let job = job(server, geodatabase, rollsBack: true)
        server.stub.on("/City/FeatureServer/synchronizeReplica") { [url = server.url] _ in
            .json(#"{"statusUrl":"\#(url)/jobs/8"}"#)
        }
        server.stub.on("/City/FeatureServer/jobs/8", json: status)
        job.start()
        let error = await #expect(throws: (any Error).self) { try await job.output }
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains(
                status.contains("1003") ? "rolled back" : "the server's job failed"))
        #expect(try await rows(geodatabase) == here && geodatabase.hasLocalEdits())
        // The next sends what there is then.
        mine.setAttributeValue("later", forKey: "name")
        try await table(geodatabase).update(mine)
        let next = self.job(server, geodatabase)
        next.start()
        _ = await next.result
        #expect(server.requests.last?["edits"]?.contains("later") == true)
        #expect(server.requests.last?["replicaServerGen"] == "100")
    }

    @Test func `a feature that was deleted there is deleted here, its edit comes back`()
        async throws
    {
        let server = ReplicaServer()
        let ids = [server.put(Self.here), server.put(Self.here)]
        let geodatabase = try await made(server)
        for id in ids {
            let mine = try #require(try await features(geodatabase)[id])
            mine.setAttributeValue("mine", forKey: "name")
            try await table(geodatabase).update(mine)
        }
        server.delete(ids[0])
        // Where nothing is sent, too.
        let first = try await sync(server, geodatabase, .download)
        #expect(first.first?.editResults.map(\.globalID) == [ids[0]])
        #expect(
            first.first?.editResults.first?.error?.message == "it was deleted on the service")
        #expect(try await Array(rows(geodatabase).keys) == [ids[1]])
        server.delete(ids[1])
        let second = try await sync(server, geodatabase)
        #expect(second.first?.editResults.map(\.globalID) == [ids[1]])
        #expect(try await rows(geodatabase).isEmpty && !geodatabase.hasLocalEdits())
    }

    // MARK: What goes wrong on the way

    @Test(arguments: ReplicaServer.Style.allCases)
    func `after a lost answer the same edits go with the old moment`(
        style: ReplicaServer.Style
    ) async throws {
        let server = ReplicaServer { $0.style = style }
        server.put(Self.here)
        let geodatabase = try await made(server)
        let added = try await add(Self.here, to: geodatabase)
        server.state.withLock { $0.losesAnswers = 1 }
        // The job repeats it.
        try await sync(server, geodatabase)
        let sent = server.requests
        #expect(sent.count == 2 && sent[0]["edits"] == sent[1]["edits"])
        #expect(sent[0]["replicaServerGen"] == sent[1]["replicaServerGen"])
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 2)

        // Another job, with a further edit between.
        let other = try await add(Self.here, to: geodatabase)
        server.state.withLock { $0.losesAnswers = 1 }
        let lost = job(server, geodatabase)
        await JobPatience.$own.withValue(.zero) {
            lost.start()
            await #expect(throws: TransportError.self) { try await lost.output }
        }
        other.setAttributeValue("later", forKey: "name")
        try await table(geodatabase).update(other)
        try await table(geodatabase).delete(added)
        try await sync(server, geodatabase)
        let again = server.requests.suffix(2).map { $0["edits"] }
        #expect(again.first == again.last)
        #expect(geodatabase.hasLocalEdits())
        try await sync(server, geodatabase)
        #expect(!geodatabase.hasLocalEdits())
        #expect(try await rows(geodatabase) == server.rows())
        #expect(server.rows().count == 2 && server.rows().values.contains { $0.name == "later" })
    }

    @Test func `killed between answer and transaction, the next synchronisation makes up for it`()
        async throws
    {
        let server = ReplicaServer()
        server.put(Self.here)
        let geodatabase = try await made(server)
        try await add(Self.here, to: geodatabase)
        let gate = StubGate()
        server.stub.on("/files/*", StubAnswer.json("{}").held(by: gate))
        var killed: SyncGeodatabaseJob? = job(server, geodatabase)
        killed?.start()
        await gate.arrived()
        killed?.pause()
        let ticket = try #require(killed?.toJSON())
        weak let left = killed
        killed = nil
        while left != nil || SyncClaim.isTaken(geodatabase.fileURL) { await Task.yield() }
        let again = ReplicaServer.files(server)
        server.stub.on("/files/*", again)
        let there = server.rows()
        // The job itself, in another process.
        let restored = try SyncGeodatabaseJob.fromJSON(ticket)
        restored.start()
        #expect(try await restored.output.isEmpty)
        #expect(server.requests.count == 1 && server.rows() == there)
        #expect(try await rows(geodatabase) == there && !geodatabase.hasLocalEdits())
        // Once more: the file has moved on.
        let late = try SyncGeodatabaseJob.fromJSON(ticket)
        late.start()
        let error = await #expect(throws: CairnError.self) { try await late.output }
        #expect(error?.kind == .invalidState)
        #expect(try await rows(geodatabase) == there)
    }

    @Test func `an answer of a moment that the file has left is not taken over`() async throws {
        let server = ReplicaServer()
        let geodatabase = try await made(server)
        let first = server.put(Self.here)
        let gate = StubGate()
        server.stub.on("/files/*", StubAnswer.json("{}").held(by: gate))
        var killed: SyncGeodatabaseJob? = job(server, geodatabase, .download)
        killed?.start()
        await gate.arrived()
        killed?.pause()
        let ticket = try #require(killed?.toJSON())
        weak let left = killed
        killed = nil
        while left != nil || SyncClaim.isTaken(geodatabase.fileURL) { await Task.yield() }
        server.stub.on("/files/*", ReplicaServer.files(server))
        server.put(Row(name: "newer", size: 1, day: 2, x: 3, y: 4), first)
        try await sync(server, geodatabase, .download)
        let late = try SyncGeodatabaseJob.fromJSON(ticket)
        late.start()
        let error = await #expect(throws: CairnError.self) { try await late.output }
        #expect(error?.kind == .invalidState)
        #expect(try await rows(geodatabase) == server.rows())
    }

    @Test func `an answer that came at once is asked for again by another process`()
        async throws
    {
        let server = ReplicaServer { $0.style = .file }
        let geodatabase = try await made(server)
        try await add(Self.here, to: geodatabase)
        let gate = StubGate()
        server.stub.on("/files/*", StubAnswer.json("{}").held(by: gate))
        var killed: SyncGeodatabaseJob? = job(server, geodatabase)
        killed?.start()
        await gate.arrived()
        killed?.pause()
        let ticket = try #require(killed?.toJSON())
        weak let left = killed
        killed = nil
        while left != nil || SyncClaim.isTaken(geodatabase.fileURL) { await Task.yield() }
        server.stub.on("/files/*", ReplicaServer.files(server))
        let restored = try SyncGeodatabaseJob.fromJSON(ticket)
        restored.start()
        #expect(try await restored.output.isEmpty)
        #expect(server.requests.count == 2)
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 1)
    }

    @Test func `an edit that is made meanwhile is not lost`() async throws {
        let server = ReplicaServer()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let added = try await add(Self.here, to: geodatabase)
        server.put(Row(name: "theirs", size: 1, day: 2, x: 3, y: 4), id)
        let gate = StubGate()
        server.state.withLock { $0.gate = gate }
        let job = job(server, geodatabase)
        job.start()
        await gate.arrived()
        // Of a feature that is on its way, of one that comes changed, and a new one.
        added.setAttributeValue("meanwhile", forKey: "name")
        try await table(geodatabase).update(added)
        let mine = try #require(try await features(geodatabase)[id])
        mine.setAttributeValue("mine", forKey: "name")
        try await table(geodatabase).update(mine)
        try await add(Self.here, to: geodatabase)
        server.state.withLock { $0.gate = nil }
        gate.open()
        #expect(try await job.output.isEmpty)
        #expect(geodatabase.hasLocalEdits())
        #expect(try await rows(geodatabase)[id]?.name == "mine")
        #expect(server.rows().count == 2)
        try await sync(server, geodatabase)
        #expect(try await rows(geodatabase) == server.rows() && server.rows().count == 3)
        #expect(
            Set(server.rows().values.compactMap(\.name)) == ["mine", "meanwhile", "here"])
    }

    @Test func `a geodatabase is synchronised by one job at a time`() async throws {
        let server = ReplicaServer()
        let geodatabase = try await made(server)
        let gate = StubGate()
        server.state.withLock { $0.gate = gate }
        let first = job(server, geodatabase)
        first.start()
        await gate.arrived()
        let second = await #expect(throws: CairnError.self) {
            try await sync(server, Geodatabase(fileURL: geodatabase.fileURL))
        }
        #expect(second?.kind == .invalidState)
        #expect(second?.description.contains("is being synchronised") == true)
        server.state.withLock { $0.gate = nil }
        gate.open()
        #expect(try await first.output.isEmpty)
        // Whatever the end of one was, the next may begin.
        server.stub.on("/City/FeatureServer/jobs/*", json: #"{"status":"Failed"}"#)
        await #expect(throws: CairnError.self) { try await sync(server, geodatabase) }
        server.stub.on("/City/FeatureServer/jobs/*", json: #"{"status":"Completed"}"#)
        #expect(try await sync(server, geodatabase).isEmpty)
    }

    @Test func `what an answer must not have is named, and nothing is taken over`()
        async throws
    {
        let server = ReplicaServer()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        try await add(Self.here, to: geodatabase)
        let here = try await rows(geodatabase)
        let feature = #"{"attributes":{"GlobalID":"\#(id)","name":"x"},"geometry":null}"#
        for (extra, words) in [
            (#"[{"id":7,"features":{"adds":[\#(feature)]}}]"#, "changes of the layer 7"),
            (
                #"[{"id":0,"features":{"updates":[\#(feature)],"deleteIds":["seven"]}}]"#,
                "'seven' is no global id"
            ),
            (
                #"[{"id":0,"features":{"updates":[\#(feature),{"attributes":{"name":"y"}}]}}]"#,
                "'' is no global id"
            ),
            (
                #"[{"id":0,"features":{"updates":[\#(feature)],"adds":[{"attributes":{"GlobalID":"\#(UUID())","size":"much"}}]}}]"#,
                "the field 'size' takes"
            ),
            (
                #"[{"id":0,"features":{"updates":[\#(feature)],"adds":[{"attributes":{"GlobalID":"\#(UUID())"},"geometry":{"paths":[[[1,2],[3,4]]]}}]}}]"#,
                "takes a geometry of the kind POINT"
            ),
        ] {
            server.state.withLock { $0.extra = extra }
            let job = job(server, geodatabase)
            job.start()
            let error = await #expect(throws: (any Error).self) { try await job.output }
            #expect("\(error.map { "\($0)" } ?? "")".contains(words))
            #expect(try await rows(geodatabase) == here && geodatabase.hasLocalEdits())
        }
        // A layer that the answer lacks has no changes; without geometry there is null.
        server.state.withLock {
            $0.extra = #"[{"id":0,"features":{"updates":[\#(feature)]}}]"#
        }
        try await sync(server, geodatabase)
        #expect(try await rows(geodatabase)[id] == Row(name: "x", size: 1, day: 86_400_000))
        #expect(!geodatabase.hasLocalEdits())
    }

    @Test func `a geodatabase that is registered with no service is refused`() async throws {
        let server = ReplicaServer()
        let geodatabase = try await made(server)
        try await GeodatabaseSyncTask(url: server.url).unregisterGeodatabase(geodatabase)
        #expect(geodatabase.syncID == nil)
        let error = await #expect(throws: CairnError.self) {
            try await sync(server, geodatabase)
        }
        #expect(error?.kind == .invalidState)
        // The note of an earlier release names the replica, and no moment.
        try "R0".write(
            to: geodatabase.fileURL.appendingPathExtension("replica"), atomically: true,
            encoding: .utf8)
        #expect(geodatabase.syncID == "R0")
        let old = await #expect(throws: CairnError.self) { try await sync(server, geodatabase) }
        #expect(old?.description.contains("by an earlier release") == true)
    }

    @Test func `an edit of a feature that another program removed is let go`() async throws {
        let server = ReplicaServer()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let mine = try #require(try await features(geodatabase)[id])
        mine.setAttributeValue("mine", forKey: "name")
        try await table(geodatabase).update(mine)
        let file = try Connection(
            path: geodatabase.fileURL.path(percentEncoded: false), mode: .write)
        // The triggers of the spatial index need functions that this connection has not.
        try file.execute("DROP TRIGGER rtree_Places_geom_delete; DELETE FROM Places")
        try await sync(server, geodatabase)
        #expect(server.requests.last?["edits"] == "[]" && !geodatabase.hasLocalEdits())
        #expect(server.rows()[id]?.name == "here")
        // A change there brings it back.
        server.put(Row(name: "there", size: 1, day: 2, x: 3, y: 4), id)
        try await sync(server, geodatabase)
        #expect(try await rows(geodatabase) == server.rows())
    }

    @Test func `edits that no synchronisation would send are named`() async throws {
        let server = ReplicaServer()
        server.put(Self.here, in: 1)
        let geodatabase = try await made(server)
        let file = try Connection(
            path: geodatabase.fileURL.path(percentEncoded: false), mode: .write)
        try await add(Self.here, to: geodatabase, 1)
        try file.execute(
            "UPDATE Remarks SET GlobalID = NULL; UPDATE cairn_edits SET global_id = NULL")
        let nameless = await #expect(throws: CairnError.self) {
            try await sync(server, geodatabase)
        }
        #expect(nameless?.description.contains("'Remarks': the feature 2 was edited") == true)
        try file.execute("DELETE FROM cairn_layers WHERE table_name = 'Remarks'")
        let foreign = await #expect(throws: CairnError.self) {
            try await sync(server, geodatabase)
        }
        #expect(foreign?.description.contains("the table 'Remarks' has edits") == true)
        #expect(server.requests.isEmpty && geodatabase.hasLocalEdits())
    }

    // MARK: Stories

    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var value = state
            value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
            return value ^ value >> 31
        }
    }

    private func anyRow(_ dice: inout Dice, _ layer: Int, mayBeBad: Bool) -> Row {
        // Numbers that the stub's reader gives back digit for digit.
        func side() -> Double { Double(Int.random(in: -1 << 30...1 << 30, using: &dice)) / 64 }
        let names: [String?] = mayBeBad ? ["a", "b", nil, "bad"] : ["a", "b", nil]
        return Row(
            name: names.randomElement(using: &dice) ?? nil,
            size: Bool.random(using: &dice) ? Int64.random(in: .min ... .max, using: &dice) : nil,
            day: Int64.random(in: -1_000_000_000_000...2_000_000_000_000, using: &dice),
            x: layer == 0 ? side() : nil, y: layer == 0 ? side() : nil)
    }

    @Test func `whatever happens, both sides are equal in the end: 100 stories`() async throws {
        for seed in 0..<100 {
            var dice = Dice(state: UInt64(seed))
            let style = ReplicaServer.Style.allCases[seed % 3]
            let server = ReplicaServer {
                $0.style = style
                $0.isPerLayer = seed % 2 == 0
            }
            for layer in 0...1 {
                for _ in 0..<3 {
                    server.put(anyRow(&dice, layer, mayBeBad: false), in: layer)
                }
            }
            let geodatabase = try await made(server)
            for _ in 0..<25 { try await step(server, geodatabase, &dice) }
            // What is refused for its name gets another.
            for layer in 0...1 {
                for feature in try await features(geodatabase, layer).values
                where feature.attributes["name"] as? String == "bad" {
                    feature.setAttributeValue("good", forKey: "name")
                    try await table(geodatabase, layer).update(feature)
                }
            }
            server.state.withLock { $0.losesAnswers = 0 }
            // The first may repeat what was lost.
            for _ in 0..<3 { try await sync(server, geodatabase) }
            #expect(!geodatabase.hasLocalEdits(), "story \(seed)")
            for layer in 0...1 {
                let (here, there) = (try await rows(geodatabase, layer), server.rows(layer))
                let differing = Set(here.keys).union(there.keys).filter { here[$0] != there[$0] }
                    .map {
                        "\($0): \(String(describing: here[$0])), there "
                            + "\(String(describing: there[$0]))"
                    }
                #expect(differing.isEmpty, "story \(seed), layer \(layer)")
            }
            geodatabase.close()
        }
    }

    private func step(
        _ server: ReplicaServer, _ geodatabase: Geodatabase, _ dice: inout Dice
    ) async throws {
        let layer = Int.random(in: 0...1, using: &dice)
        let mine = try await features(geodatabase, layer)
        let mineID = mine.keys.min { $0.uuidString < $1.uuidString }
        let theirs = server.rows(layer).keys.min { $0.uuidString < $1.uuidString }
        switch Int.random(in: 0..<8, using: &dice) {
        case 0:
            try await add(anyRow(&dice, layer, mayBeBad: true), to: geodatabase, layer)
        case 1:
            guard let feature = mineID.flatMap({ mine[$0] }) else { return }
            change(feature, to: anyRow(&dice, layer, mayBeBad: true))
            try await table(geodatabase, layer).update(feature)
        case 2:
            guard let feature = mineID.flatMap({ mine[$0] }) else { return }
            try await table(geodatabase, layer).delete(feature)
        case 3: server.put(anyRow(&dice, layer, mayBeBad: false), in: layer)
        case 4:
            guard let theirs else { return }
            server.put(anyRow(&dice, layer, mayBeBad: false), theirs, in: layer)
        case 5:
            guard let theirs else { return }
            server.delete(theirs, in: layer)
        default:
            let isLost = Int.random(in: 0..<3, using: &dice) == 0
            server.state.withLock { $0.losesAnswers = isLost ? 1 : 0 }
            let directions: [SyncDirection] = [.download, .upload, .bidirectional]
            let job = job(
                server, geodatabase, directions.randomElement(using: &dice) ?? .bidirectional,
                rollsBack: Bool.random(using: &dice))
            await JobPatience.$own.withValue(Bool.random(using: &dice) ? .zero : .seconds(60)) {
                job.start()
                _ = await job.result
            }
            switch job.error {
            case nil, is ServiceError, is TransportError: break
            case let error?: Issue.record(error)
            }
        }
    }
}
