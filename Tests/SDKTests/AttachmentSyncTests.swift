// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Synchronization
import Testing

/// Attachments in geodatabases, synchronised with a service that speaks Esri's forms.
@Suite struct AttachmentSyncTests {
    private let folder: URL

    private typealias Row = ReplicaServer.Row
    private typealias Attached = ReplicaServer.Attached

    init() throws {
        folder = try PackageFiles.folder()
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
    }

    private static let here = Row(name: "here", size: 1, day: 86_400_000, x: 10, y: 20)

    private func server(_ change: (inout ReplicaServer.State) -> Void = { _ in }) -> ReplicaServer {
        ReplicaServer {
            $0.hasAttachments = true
            change(&$0)
        }
    }

    private func making(
        _ server: ReplicaServer, _ change: (GenerateGeodatabaseParameters) -> Void = { _ in }
    ) async throws -> GenerateGeodatabaseJob {
        let task = GeodatabaseSyncTask(url: server.url)
        let area = Envelope(xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .webMercator)
        let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
        parameters.returnsAttachments = true
        change(parameters)
        return task.makeGenerateGeodatabaseJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "city.gpkg"))
    }

    private func made(
        _ server: ReplicaServer, _ change: (GenerateGeodatabaseParameters) -> Void = { _ in }
    ) async throws -> Geodatabase {
        let job = try await making(server, change)
        job.start()
        let geodatabase = try await job.output
        try await geodatabase.load()
        return geodatabase
    }

    @discardableResult
    private func sync(
        _ server: ReplicaServer, _ geodatabase: Geodatabase,
        _ direction: SyncDirection = .bidirectional, rollsBack: Bool = false
    ) async throws -> [SyncLayerResult] {
        let parameters = SyncGeodatabaseParameters()
        parameters.geodatabaseSyncDirection = direction
        parameters.shouldRollbackOnFailure = rollsBack
        let job = GeodatabaseSyncTask(url: server.url).makeSyncGeodatabaseJob(
            parameters: parameters, geodatabase: geodatabase)
        job.start()
        return try await job.output
    }

    private func table(_ geodatabase: Geodatabase) throws -> GeodatabaseFeatureTable {
        try #require(geodatabase.featureTable(named: "Places"))
    }

    private func features(_ geodatabase: Geodatabase) async throws -> [UUID: ArcGISFeature] {
        let found = try await table(geodatabase).queryFeatures(using: QueryParameters())
        return Dictionary(
            uniqueKeysWithValues: try found.features().map {
                (
                    try #require($0.attributes["GlobalID"] as? UUID),
                    try #require($0 as? ArcGISFeature)
                )
            })
    }

    /// The attachments of the file, in an order of their own.
    private func attached(_ geodatabase: Geodatabase) async throws -> [Attached] {
        var all: [Attached] = []
        for (id, feature) in try await features(geodatabase) {
            for attachment in try await feature.attachments {
                let data = try await attachment.data
                #expect(attachment.size == data.count)
                all.append(
                    Attached(
                        parent: id, name: attachment.name, type: attachment.contentType,
                        data: data))
            }
        }
        return Self.sorted(all)
    }

    private static func sorted(_ files: some Sequence<Attached>) -> [Attached] {
        files.sorted {
            ($0.parent.uuidString, $0.name, $0.data.count, $0.data.base64EncodedString()) < (
                $1.parent.uuidString, $1.name, $1.data.count, $1.data.base64EncodedString()
            )
        }
    }

    private func there(_ server: ReplicaServer) -> [Attached] {
        Self.sorted(server.attached().values)
    }

    private func picture(_ parent: UUID, _ name: String, _ text: String) -> Attached {
        Attached(parent: parent, name: name, data: Data(text.utf8))
    }

    // MARK: Taking along

    @Test(arguments: ReplicaServer.Style.allCases, [false, true])
    func `attachments are taken along, by URL or in the answer`(
        style: ReplicaServer.Style, areEmbedded: Bool
    ) async throws {
        let server = server {
            $0.style = style
            $0.areEmbedded = areEmbedded
        }
        let ids = [server.put(Self.here), server.put(Self.here)]
        server.attach(picture(ids[0], "a.jpg", "one"))
        server.attach(picture(ids[0], "b.jpg", "two, longer"))
        let geodatabase = try await made(server)
        let asked = try #require(server.stub.requests("/City/FeatureServer/createReplica").last)
        #expect(asked.parameters["returnAttachments"] == "true")
        #expect(asked.parameters["attachmentsSyncDirection"] == "bidirectional")
        #expect(asked.parameters["dataFormat"] == "json")
        let feature = try #require(try await features(geodatabase)[ids[0]])
        #expect(try table(geodatabase).hasAttachments && feature.canEditAttachments)
        let found = try await feature.attachments
        #expect(found.map(\.name) == ["a.jpg", "b.jpg"] && found.map(\.size) == [3, 11])
        #expect(!found[0].hasFetchedData)
        #expect(try await attached(geodatabase) == there(server))
        #expect(!geodatabase.hasLocalEdits())
        // No server is asked for what is in the file; nothing is left beside it.
        #expect(
            server.stub.requests.filter { $0.path.hasPrefix("/attached/") }.count
                == (areEmbedded ? 0 : 2))
        let left = try FileManager.default.contentsOfDirectory(
            atPath: folder.path(percentEncoded: false))
        #expect(left == ["city.gpkg"])
    }

    @Test func `a geodatabase without attachments says so`() async throws {
        for isThere in [false, true] {
            let server = ReplicaServer { $0.hasAttachments = isThere }
            let id = server.put(Self.here)
            let geodatabase = try await made(server) { $0.returnsAttachments = !isThere }
            let feature = try #require(try await features(geodatabase)[id])
            #expect(!feature.canEditAttachments)
            #expect(!(try table(geodatabase).hasAttachments))
            let error = await #expect(throws: CairnError.self) { try await feature.attachments }
            #expect(error?.kind == .unsupported)
            #expect(error?.description.contains("'Places' in '") == true)
            await #expect(throws: CairnError.self) {
                try await feature.addAttachment(
                    named: "a", contentType: "text/plain", data: Data())
            }
            geodatabase.close()
        }
    }

    @Test(arguments: [
        (StubAnswer.bytes(Data("<html>".utf8), type: "text/html"), "found a page of HTML"),
        (.error(403, "not for you"), "not for you"),
        (.bytes(Data("twelve bytes".utf8), type: "image/jpeg"), "memoryLimit is 8"),
        (StubAnswer.bytes(Data("one".utf8), type: "image/jpeg").cut(after: 1), "broke off"),
        (
            .bytes(Data("one".utf8), type: "image/jpeg", headers: [("Content-Length", "9")]),
            "the file ended after 3 bytes"
        ),
    ])
    func `where an attachment cannot be taken along there is no geodatabase`(
        answer: StubAnswer, words: String
    ) async throws {
        let server = server()
        server.attach(picture(server.put(Self.here), "a.jpg", "one"))
        server.stub.on("/attached/*", answer)
        let clock = StubClock(skipsWaits: true)
        try await clock.run {
            try await JobPatience.$own.withValue(.zero) {
                try await AttachmentLimit.$own.withValue(8) {
                    let job = try await making(server)
                    job.start()
                    let error = await #expect(throws: (any Error).self) { try await job.output }
                    #expect("\(error.map { "\($0)" } ?? "")".contains(words))
                }
            }
        }
        let left = try FileManager.default.contentsOfDirectory(
            atPath: folder.path(percentEncoded: false))
        #expect(left.isEmpty)
    }

    @Test(arguments: [
        (#"{"name":"a","url":"ftp://x/y","globalId":"G","parentGlobalId":"P"}"#, "no URL of a"),
        (#"{"name":"a","data":"%%%","globalId":"G","parentGlobalId":"P"}"#, "data in base64"),
        (#"{"name":"a","globalId":"G","parentGlobalId":"P"}"#, "data in base64 or a url"),
        (#"{"name":"a","data":"YQ==","parentGlobalId":"P"}"#, "'a' has no globalId"),
    ])
    func `an attachment that an answer must not have is named`(
        json: String, words: String
    ) async throws {
        let server = server()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let text = json.replacing(#""G""#, with: #""\#(UUID())""#)
            .replacing(#""P""#, with: #""\#(id)""#)
        server.state.withLock { $0.extra = #"[{"id":0,"attachments":{"adds":[\#(text)]}}]"# }
        let error = await #expect(throws: (any Error).self) { try await sync(server, geodatabase) }
        #expect("\(error.map { "\($0)" } ?? "")".contains(words))
        #expect(try await attached(geodatabase).isEmpty)
        server.state.withLock { $0.extra = nil }
        #expect(try await sync(server, geodatabase).isEmpty)
    }

    // MARK: Both ways

    @Test(arguments: [false, true])
    func `edits of both sides are on both sides afterwards`(areEmbedded: Bool) async throws {
        let server = server { $0.areEmbedded = areEmbedded }
        let ids = (0..<3).map { _ in server.put(Self.here) }
        let files = (0..<4).map { server.attach(picture(ids[0], "\($0).jpg", "file \($0)")) }
        server.attach(picture(ids[2], "lost.jpg", "lost"))
        let geodatabase = try await made(server)
        let mine = try await features(geodatabase)
        let first = try #require(mine[ids[0]])
        let found = try await first.attachments
        try await first.updateAttachment(
            found[0], named: "mine.png", contentType: "image/png", data: Data("mine".utf8))
        #expect(found[0].name == "mine.png" && found[0].hasFetchedData)
        try await first.deleteAttachment(found[1])
        let added = try await mine[ids[1]]?.addAttachment(
            named: "new.txt", contentType: "text/plain", data: Data("new".utf8))
        #expect((added?.id ?? 0) > 0)
        let short = try await first.addAttachment(
            named: "short.txt", contentType: "text/plain", data: Data("short".utf8))
        try await first.deleteAttachment(short)
        // Of a feature that is new itself.
        let table = try table(geodatabase)
        let new = try #require(
            table.makeFeature(
                attributes: ["name": "new"],
                geometry: Point(x: 1, y: 2, spatialReference: .webMercator)) as? ArcGISFeature)
        try await table.add(new)
        try await new.addAttachment(
            named: "of it.txt", contentType: "text/plain", data: Data("of it".utf8))
        try await table.delete(try #require(mine[ids[2]]))
        #expect(geodatabase.hasLocalEdits() && table.hasLocalEdits)

        server.attach(picture(ids[0], "theirs.jpg", "theirs, changed"), files[2])
        server.detach(files[3])
        server.attach(picture(ids[1], "theirs too.jpg", "new there"))
        #expect(try await sync(server, geodatabase).isEmpty)
        #expect(!geodatabase.hasLocalEdits() && !table.hasLocalEdits)
        #expect(try await attached(geodatabase) == there(server))
        #expect(
            Set(server.attached().values.map(\.name)) == [
                "mine.png", "new.txt", "of it.txt", "theirs.jpg", "theirs too.jpg",
            ])
        let sent = try #require(server.requests.last?["edits"])
        #expect(
            !sent.contains("short.txt") && sent.contains(Data("mine".utf8).base64EncodedString()))
        // Nothing is sent, and nothing comes, that was there.
        try await sync(server, geodatabase)
        #expect(server.requests.last?["edits"] == "[]")
        #expect(try await attached(geodatabase) == there(server))
    }

    @Test func `attachments go one way, or none, as the geodatabase was made`() async throws {
        for direction in [AttachmentSyncDirection.upload, .none] {
            let server = server()
            let id = server.put(Self.here)
            server.attach(picture(id, "there.jpg", "there"))
            let geodatabase = try await made(server) {
                $0.returnsAttachments = direction == .none
                $0.attachmentSyncDirection = direction
            }
            let asked = try #require(
                server.stub.requests("/City/FeatureServer/createReplica").last)
            #expect(asked.parameters["attachmentsSyncDirection"] == direction.rawValue)
            let feature = try #require(try await features(geodatabase)[id])
            if direction == .none {
                #expect(try await feature.attachments.map(\.name) == ["there.jpg"])
                #expect(!feature.canEditAttachments)
                let error = await #expect(throws: CairnError.self) {
                    try await feature.addAttachment(
                        named: "a", contentType: "text/plain", data: Data())
                }
                #expect(error?.kind == .unsupported)
                #expect(error?.description.contains("attachmentSyncDirection is none") == true)
            } else {
                #expect(try await feature.attachments.isEmpty)
                try await feature.addAttachment(
                    named: "mine.txt", contentType: "text/plain", data: Data("mine".utf8))
            }
            server.attach(picture(id, "later.jpg", "later"))
            // A service that sends them all the same is not followed.
            server.state.withLock { $0.attachmentDirection = "bidirectional" }
            #expect(try await sync(server, geodatabase).isEmpty)
            let names = try await feature.attachments.map(\.name)
            #expect(names == (direction == .none ? ["there.jpg"] : ["mine.txt"]))
            #expect(server.attached().count == (direction == .none ? 2 : 3))
            geodatabase.close()
        }
    }

    @Test func `directions that cannot be are refused by name`() async throws {
        let server = server { $0.hasAttachmentDirections = false }
        let upload = try await making(server) {
            $0.returnsAttachments = false
            $0.attachmentSyncDirection = .upload
        }
        upload.start()
        let error = await #expect(throws: CairnError.self) { try await upload.output }
        #expect(error?.kind == .unsupported)
        #expect(error?.description.contains("has no attachmentSyncDirection") == true)
        let both = try await making(server) {
            $0.returnsAttachments = false
            $0.attachmentSyncDirection = .bidirectional
        }
        both.start()
        let second = await #expect(throws: CairnError.self) { try await both.output }
        #expect(second?.kind == .invalidArgument)
        #expect(GenerateGeodatabaseParameters().attachmentSyncDirection == .none)
    }

    @Test func `an export has its attachments to read`() async throws {
        let server = server()
        let id = server.put(Self.here)
        server.attach(picture(id, "a.jpg", "one"))
        let geodatabase = try await made(server) { $0.syncModel = .none }
        let feature = try #require(try await features(geodatabase)[id])
        #expect(try await attached(geodatabase) == there(server))
        #expect(geodatabase.syncID == nil && !feature.canEditAttachments)
    }

    @Test func `an offline map takes attachments along where its overrides ask for them`()
        async throws
    {
        let server = server()
        server.attach(picture(server.put(Self.here), "a.jpg", "one"))
        let map = Map(spatialReference: .webMercator)
        let layer = FeatureLayer(
            featureTable: ServiceFeatureTable(url: server.url.appending(path: "0")))
        map.addOperationalLayer(layer)
        let task = OfflineMapTask(onlineMap: map)
        let parameters = try await task.makeDefaultGenerateOfflineMapParameters(
            areaOfInterest: Envelope(
                xMin: 0, yMin: 0, xMax: 9, yMax: 9, spatialReference: .webMercator))
        let overrides = try await task.makeGenerateOfflineMapParameterOverrides(
            parameters: parameters)
        try #require(
            overrides.generateGeodatabaseParameters[OfflineMapParametersKey(layer: layer)]
        ).returnsAttachments = true
        let job = task.makeGenerateOfflineMapJob(
            parameters: parameters, downloadDirectory: folder.appending(path: "map"),
            overrides: overrides)
        job.start()
        let result = try await job.output
        let taken = try #require(result.offlineMap.operationalLayers.first as? FeatureLayer)
        let found = try await taken.featureTable.queryFeatures(using: QueryParameters())
        let feature = try #require(found.features().first as? ArcGISFeature)
        let attachment = try #require(try await feature.attachments.first)
        #expect(try await attachment.data == Data("one".utf8) && attachment.name == "a.jpg")
    }

    // MARK: What goes wrong on the way

    @Test func `refused attachments come back and stay noted, the others are taken`()
        async throws
    {
        let server = server()
        let ids = [server.put(Self.here), server.put(Self.here)]
        let geodatabase = try await made(server)
        let mine = try await features(geodatabase)
        let feature = try #require(mine[ids[0]])
        let bad = try await feature.addAttachment(
            named: "bad", contentType: "text/plain", data: Data("bad".utf8))
        try await mine[ids[1]]?.addAttachment(
            named: "good", contentType: "text/plain", data: Data("good".utf8))
        let before = geodatabase.hasLocalEdits()
        let rolled = await #expect(throws: ServiceError.self) {
            try await sync(server, geodatabase, rollsBack: true)
        }
        #expect(before && rolled?.code == 1003 && server.attached().isEmpty)
        let results = try await sync(server, geodatabase)
        let edit = try #require(results.first?.editResults.first)
        #expect(results.count == 1 && results[0].editResults.count == 1)
        #expect(edit.globalID == ids[0] && edit.error == nil && edit.didCompleteWithErrors)
        #expect(edit.attachmentResults.map(\.operation) == [.add])
        #expect(edit.attachmentResults.map(\.objectID) == [Int64(bad.id)])
        #expect(
            (edit.attachmentResults.first?.error as? ServiceError)?.message == "it is not taken")
        #expect(server.attached().values.map(\.name) == ["good"])
        #expect(try table(geodatabase).hasLocalEdits && geodatabase.hasLocalEdits())
        // Mended, it goes; deleted, it is forgotten.
        try await feature.updateAttachment(
            bad, named: "mended", contentType: "text/plain", data: Data("mended".utf8))
        #expect(try await sync(server, geodatabase).isEmpty && !geodatabase.hasLocalEdits())
        #expect(try await attached(geodatabase) == there(server) && server.attached().count == 2)
    }

    @Test func `what was deleted there is deleted here, an edit of it comes back`()
        async throws
    {
        let server = server()
        let ids = [server.put(Self.here), server.put(Self.here)]
        let files = ids.map { server.attach(picture($0, "a.jpg", "one")) }
        let geodatabase = try await made(server)
        for id in ids {
            let feature = try #require(try await features(geodatabase)[id])
            try await feature.updateAttachment(
                #require(try await feature.attachments.first), named: "mine",
                contentType: "text/plain", data: Data("mine".utf8))
        }
        server.detach(files[0])
        server.delete(ids[1])
        let results = try await sync(server, geodatabase, .download)
        let edits = try #require(results.first?.editResults)
        #expect(Set(edits.compactMap(\.globalID)) == Set(ids))
        #expect(
            edits.allSatisfy {
                ($0.attachmentResults.first?.error as? ServiceError)?.message
                    == "it was deleted on the service"
            })
        #expect(try await attached(geodatabase).isEmpty && !geodatabase.hasLocalEdits())
    }

    @Test func `more than fits waits for the next synchronisation`() async throws {
        let server = server()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let feature = try #require(try await features(geodatabase)[id])
        for name in ["1234567", "abcdefg", "tuvwxyz"] {
            try await feature.addAttachment(
                named: name, contentType: "text/plain", data: Data(name.utf8))
        }
        try await AttachmentLimit.$own.withValue(15) {
            try await sync(server, geodatabase)
            #expect(server.attached().count == 2 && geodatabase.hasLocalEdits())
        }
        // One goes, however little fits.
        try await AttachmentLimit.$own.withValue(1) { try await sync(server, geodatabase) }
        #expect(server.attached().count == 3 && !geodatabase.hasLocalEdits())
        #expect(try await attached(geodatabase) == there(server))
    }

    @Test func `after a lost answer the same attachments go again`() async throws {
        let server = server()
        let id = server.put(Self.here)
        let geodatabase = try await made(server)
        let feature = try #require(try await features(geodatabase)[id])
        let first = try await feature.addAttachment(
            named: "first", contentType: "text/plain", data: Data("first".utf8))
        let second = try await feature.addAttachment(
            named: "second", contentType: "text/plain", data: Data("second".utf8))
        server.state.withLock { $0.losesAnswers = 1 }
        await JobPatience.$own.withValue(.zero) {
            _ = await #expect(throws: TransportError.self) { try await sync(server, geodatabase) }
        }
        // What is changed meanwhile goes with the synchronisation after that.
        try await feature.updateAttachment(
            first, named: "later", contentType: "text/plain", data: Data("later".utf8))
        try await feature.deleteAttachment(second)
        try await sync(server, geodatabase)
        let sent = server.requests.map { $0["edits"] }
        #expect(sent.count == 2 && sent[0] == sent[1] && geodatabase.hasLocalEdits())
        #expect(try await feature.attachments.map(\.name) == ["later"])
        try await sync(server, geodatabase)
        #expect(try await attached(geodatabase) == there(server))
        #expect(server.attached().values.map(\.name) == ["later"])
        #expect(!geodatabase.hasLocalEdits())
    }

    @Test func `an attachment of another feature is not changed`() async throws {
        let server = server()
        let ids = [server.put(Self.here), server.put(Self.here)]
        server.attach(picture(ids[0], "a.jpg", "one"))
        let geodatabase = try await made(server)
        let mine = try await features(geodatabase)
        let attachment = try #require(try await mine[ids[0]]?.attachments.first)
        let other = try #require(mine[ids[1]])
        let error = await #expect(throws: CairnError.self) {
            try await other.deleteAttachment(attachment)
        }
        #expect(error?.kind == .invalidArgument)
        #expect(error?.description.contains("has no attachment 'a.jpg'") == true)
        await #expect(throws: CairnError.self) {
            try await other.updateAttachment(
                attachment, named: "b", contentType: "text/plain", data: Data())
        }
        #expect(!geodatabase.hasLocalEdits())
        // What has gone has no bytes any more.
        try await mine[ids[0]]?.deleteAttachment(attachment)
        let gone = await #expect(throws: CairnError.self) { try await attachment.data }
        #expect(gone?.description.contains("no attachment 'a.jpg' (1) any more") == true)
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

    @Test func `whatever happens, both sides are equal in the end: 20 stories`() async throws {
        for seed in 0..<20 {
            var dice = Dice(state: UInt64(seed))
            let style = ReplicaServer.Style.allCases[seed % 3]
            let server = server {
                $0.style = style
                $0.areEmbedded = seed % 2 == 0
            }
            for _ in 0..<3 {
                let id = server.put(Self.here)
                server.attach(picture(id, "a.jpg", "first"))
            }
            let geodatabase = try await made(server)
            for _ in 0..<25 { try await step(server, geodatabase, &dice) }
            for feature in try await features(geodatabase).values {
                for attachment in try await feature.attachments where attachment.name == "bad" {
                    try await feature.updateAttachment(
                        attachment, named: "good", contentType: "text/plain", data: Data())
                }
            }
            server.state.withLock { $0.losesAnswers = 0 }
            // The first may repeat what was lost.
            for _ in 0..<3 { try await sync(server, geodatabase) }
            #expect(!geodatabase.hasLocalEdits(), "story \(seed)")
            #expect(
                try await Set(features(geodatabase).keys) == Set(server.rows().keys),
                "story \(seed)")
            let (here, there) = (try await attached(geodatabase), there(server))
            #expect(here == there, "story \(seed)")
            geodatabase.close()
        }
    }

    private func step(
        _ server: ReplicaServer, _ geodatabase: Geodatabase, _ dice: inout Dice
    ) async throws {
        let mine = try await features(geodatabase)
        let feature = mine.min { $0.key.uuidString < $1.key.uuidString }?.value
        let theirs = server.rows().keys.min { $0.uuidString < $1.uuidString }
        let attached = server.attached().keys.min { $0.uuidString < $1.uuidString }
        let name = ["a.jpg", "b.jpg", "bad"].randomElement(using: &dice) ?? ""
        let text = "bytes \(Int.random(in: 0..<1_000_000, using: &dice))"
        switch Int.random(in: 0..<10, using: &dice) {
        case 0:
            try await feature?.addAttachment(
                named: name, contentType: "text/plain", data: Data(text.utf8))
        case 1:
            guard let attachment = try await feature?.attachments.first else { return }
            try await feature?.updateAttachment(
                attachment, named: name, contentType: "text/plain", data: Data(text.utf8))
        case 2:
            guard let attachment = try await feature?.attachments.last else { return }
            try await feature?.deleteAttachment(attachment)
        case 3:
            let new = try table(geodatabase).makeFeature(attributes: ["name": "new"])
            try await table(geodatabase).add(new)
            try await (new as? ArcGISFeature)?.addAttachment(
                named: name, contentType: "text/plain", data: Data(text.utf8))
        case 4:
            if let feature { try await table(geodatabase).delete(feature) }
        case 5:
            guard let theirs else { return }
            server.attach(picture(theirs, "theirs", text))
        case 6:
            guard let attached, let file = server.attached()[attached] else { return }
            server.attach(picture(file.parent, "changed", text), attached)
        case 7: if let attached { server.detach(attached) }
        case 8: if let theirs, Bool.random(using: &dice) { server.delete(theirs) }
        default:
            let isLost = Int.random(in: 0..<3, using: &dice) == 0
            server.state.withLock { $0.losesAnswers = isLost ? 1 : 0 }
            let directions: [SyncDirection] = [.download, .upload, .bidirectional]
            let direction = directions.randomElement(using: &dice) ?? .bidirectional
            let rollsBack = Bool.random(using: &dice)
            await JobPatience.$own.withValue(Bool.random(using: &dice) ? .zero : .seconds(60)) {
                do {
                    try await sync(server, geodatabase, direction, rollsBack: rollsBack)
                } catch is ServiceError {
                } catch is TransportError {
                } catch {
                    Issue.record(error)
                }
            }
        }
    }
}
