// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Synchronization
import Testing

/// Attachments of a service that speaks Esri's forms.
@Suite struct AttachmentTests {
    private let server = StubServer()
    private let path = "/City/FeatureServer/0"
    private let sent = Sent()

    /// What came with uploads.
    private final class Sent: Sendable {
        let files = Mutex<[(name: String, type: String?, bytes: Data, id: String?)]>([])

        func take(_ request: StubRequest) {
            let bytes = request.file.flatMap { try? Data(contentsOf: $0) } ?? Data()
            files.withLock {
                $0.append(
                    (
                        request.file?.lastPathComponent ?? "", request.fileType, bytes,
                        request.parameters["attachmentId"]
                    ))
            }
        }
    }

    private static let infos = #"""
        [{"id":5,"name":"house.jpg","contentType":"image/jpeg","size":4,
        "globalId":"{7D3A0000-0000-0000-0000-000000000001}"},
        {"id":6,"name":"deed.pdf","contentType":"application/pdf","size":3}]
        """#

    init() {
        server.on(path, json: Self.layer(#","hasAttachments":true}"#))
        server.on(
            path + "/query",
            json: #"""
                {"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"},
                {"name":"owner","type":"esriFieldTypeString"}],"features":[
                {"attributes":{"OBJECTID":1,"owner":"Ada"}},
                {"attributes":{"OBJECTID":2,"owner":"Bob"}}]}
                """#)
        server.on(path + "/1/attachments", json: #"{"attachmentInfos":\#(Self.infos)}"#)
        server.on(path + "/1/attachments/5", .bytes(Data("JPEG".utf8), type: "image/jpeg"))
        server.on(path + "/1/addAttachment") { [sent] request in
            sent.take(request)
            return .json(#"{"addAttachmentResult":{"objectId":7,"success":true}}"#)
        }
        server.on(path + "/1/updateAttachment") { [sent] request in
            sent.take(request)
            return .json(#"{"updateAttachmentResult":{"objectId":5,"success":true}}"#)
        }
        server.on(
            path + "/1/deleteAttachments",
            json: #"{"deleteAttachmentResults":[{"objectId":6,"success":true}]}"#)
    }

    private static func layer(_ end: String) -> String {
        Sample.layer(0, "Houses", "esriGeometryPoint").dropLast() + end
    }

    private func table() -> ServiceFeatureTable {
        ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
    }

    private func feature(
        _ number: Int = 0, of table: ServiceFeatureTable
    ) async throws -> ArcGISFeature {
        let found = try await table.queryFeatures(using: QueryParameters()).features()
        return try #require(found[number] as? ArcGISFeature)
    }

    private func paths(_ operation: String) -> Int {
        server.requests("\(path)/1/\(operation)").count
    }

    // MARK: Reading

    @Test func `attachments are listed, and their bytes fetched once`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        let attachments = try await feature.attachments
        #expect(attachments.map(\.id) == [5, 6] && attachments.map(\.size) == [4, 3])
        #expect(attachments.map(\.name) == ["house.jpg", "deed.pdf"])
        #expect(attachments.map(\.contentType) == ["image/jpeg", "application/pdf"])
        let first = attachments[0]
        #expect(!first.hasFetchedData)
        async let one = first.data
        async let two = first.fetchData()
        #expect(try await one == Data("JPEG".utf8))
        #expect(try await two == Data("JPEG".utf8) && first.hasFetchedData)
        #expect(try await first.data.count == 4)
        #expect(paths("attachments/5") == 1)
        #expect(feature.canEditAttachments && table.hasAttachments)
    }

    @Test func `where the service has a query of attachments, it is asked`() async throws {
        let table = table()
        server.on(
            path,
            json: Self.layer(
                #","hasAttachments":true,"advancedQueryCapabilities":{"supportsQueryAttachments":true}}"#
            ).replacing(
                #""advancedQueryCapabilities":{"supportsPagination":true},"#, with: ""))
        server.on(
            path + "/queryAttachments",
            inTurn: [
                .json(
                    #"{"attachmentGroups":[{"parentObjectId":1,"attachmentInfos":\#(Self.infos)}]}"#
                ), .json(#"{"attachmentGroups":[],"exceededTransferLimit":true}"#),
                .json(#"{"attachmentGroups":[]}"#),
            ])
        let feature = try await feature(of: table)
        #expect(try await feature.attachments.map(\.id) == [5, 6])
        #expect(paths("attachments") == 0)
        let asked = try #require(server.requests(path + "/queryAttachments").first)
        #expect(asked.parameters["objectIds"] == "1")
        // A part is not taken for the whole.
        #expect(try await feature.attachments.count == 2 && paths("attachments") == 1)
        #expect(try await feature.attachments.isEmpty && paths("attachments") == 1)
    }

    @Test func `a service without attachments is named`() async throws {
        server.on(path, json: Self.layer("}"))
        let table = table()
        let feature = try await feature(of: table)
        #expect(!feature.canEditAttachments && !table.hasAttachments)
        let read = await #expect(throws: CairnError.self) { try await feature.attachments }
        let added = await #expect(throws: CairnError.self) {
            try await feature.addAttachment(
                named: "a.txt", contentType: "text/plain", data: Data())
        }
        for error in [read, added] {
            #expect(error?.kind == .unsupported)
            #expect(error?.description.hasSuffix("FeatureServer/0 has no attachments") == true)
        }
        let memory = FeatureCollectionTable(fields: [])
        let loose = try #require(memory.makeFeature() as? ArcGISFeature)
        let other = await #expect(throws: CairnError.self) { try await loose.attachments }
        #expect(other?.kind == .unsupported && !loose.canEditAttachments)
        let orphan = try await self.feature(of: self.table())
        let gone = await #expect(throws: CairnError.self) { try await orphan.attachments }
        #expect(gone?.description.contains("of one that has gone") == true)
    }

    @Test func `a service that is not edited takes no attachments`() async throws {
        server.on(
            path,
            json: Self.layer(#","hasAttachments":true}"#).replacing("Query,Editing", with: "Query"))
        let table = table()
        let feature = try await feature(of: table)
        #expect(try await feature.attachments.count == 2 && !feature.canEditAttachments)
        let error = await #expect(throws: CairnError.self) {
            try await feature.addAttachment(
                named: "a.txt", contentType: "text/plain", data: Data())
        }
        #expect(error?.description.hasSuffix("has no editing of attachments") == true)
    }

    @Test(arguments: [
        ("<html>Sign in</html>", "expected JSON, found '<html>"), (#"{"attachm"#, "no whole JSON"),
        (#"{"infos":[]}"#, "0/1/attachments: expected attachmentInfos"),
        (#"{"attachmentInfos":[{"name":"a"}]}"#, "an attachment has no id"),
    ])
    func `a list that is none is named`(text: String, words: String) async throws {
        let table = table()
        let feature = try await feature(of: table)
        server.on(path + "/1/attachments", .bytes(Data(text.utf8), type: "text/html"))
        let error = await #expect(throws: TransportError.self) { try await feature.attachments }
        #expect(error?.kind == .invalidAnswer && error?.description.contains(words) == true)
    }

    @Test func `what stands in the place of a file is named, and asked for anew`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        let attachment = try #require(try await feature.attachments.first)
        let file = path + "/1/attachments/5"
        server.on(file, .bytes(Data("<html>Sign in</html>".utf8), type: "text/html"))
        let html = await #expect(throws: TransportError.self) { try await attachment.data }
        #expect(html?.kind == .invalidAnswer)
        #expect(html?.description.contains("'house.jpg' (image/jpeg), found a page") == true)
        server.on(file, .error(400, "no such attachment"))
        let refused = await #expect(throws: ServiceError.self) { try await attachment.data }
        #expect(refused?.message == "no such attachment" && !attachment.hasFetchedData)
        // A file of JSON is a file.
        server.on(file, .bytes(Data(#"{"a":1}"#.utf8), type: "application/json"))
        #expect(try await attachment.data == Data(#"{"a":1}"#.utf8))
    }

    @Test func `an attachment that does not fit is refused`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        try await AttachmentLimit.$own.withValue(3) {
            let attachment = try #require(try await feature.attachments.first)
            let large = await #expect(throws: TransportError.self) { try await attachment.data }
            #expect(large?.kind == .tooLarge)
            #expect(large?.description.contains("the attachment 'house.jpg' has 4 bytes") == true)
            let error = await #expect(throws: CairnError.self) {
                try await feature.addAttachment(
                    named: "a.txt", contentType: "text/plain", data: Data("four".utf8))
            }
            #expect(error?.kind == .invalidArgument)
            #expect(error?.description.contains("memoryLimit is 3") == true)
        }
    }

    @Test func `a file that is cut short is no file`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        let attachment = try #require(try await feature.attachments.first)
        let whole = StubAnswer.bytes(
            Data("JPEG".utf8), type: "image/jpeg", headers: [("Content-Length", "9")])
        server.on(path + "/1/attachments/5", whole)
        let clock = StubClock(skipsWaits: true)
        await clock.run {
            let error = await #expect(throws: TransportError.self) { try await attachment.data }
            #expect(error?.kind == .unreachable)
            #expect(error?.description.contains("ended after 4 bytes") == true)
        }
        #expect(!attachment.hasFetchedData)
        server.on(
            path + "/1/attachments/5",
            inTurn: [
                StubAnswer.bytes(Data("JPEG".utf8), type: "image/jpeg").cut(after: 2),
                .bytes(Data("JPEG".utf8), type: "image/jpeg"),
            ])
        await clock.run { _ = try? await attachment.data }
        #expect(attachment.hasFetchedData && attachment.size == 4)
    }

    // MARK: Edits

    @Test func `edits wait until they are applied, each in a request of its own`()
        async throws
    {
        let table = table()
        let feature = try await feature(of: table)
        let found = try await feature.attachments
        let added = try await feature.addAttachment(
            named: "new pläne.txt", contentType: "text/x-plan", data: Data("new".utf8))
        try await feature.updateAttachment(
            found[0], named: "house.png", contentType: "image/png", data: Data("PNG!!".utf8))
        try await feature.deleteAttachment(found[1])
        let short = try await feature.addAttachment(
            named: "b", contentType: "text/plain", data: Data())
        try await feature.deleteAttachments([short])
        #expect(table.hasLocalEdits && added.id == -1 && added.hasFetchedData)
        // They are seen here before they are there, in another object of the feature, too.
        for same in [feature, try await self.feature(of: table)] {
            let now = try await same.attachments
            #expect(now.map(\.name) == ["house.png", "new pläne.txt"])
            #expect(now.map(\.size) == [5, 3] && now[1] === added)
        }
        #expect(paths("addAttachment") + paths("updateAttachment") == 0)

        let results = try await table.applyEdits()
        #expect(results.count == 1 && results[0].objectID == 1 && results[0].error == nil)
        #expect(results[0].attachmentResults.map(\.operation) == [.add, .update, .delete])
        #expect(results[0].attachmentResults.map(\.objectID) == [7, 5, 6])
        #expect(!results[0].didCompleteWithErrors && !table.hasLocalEdits && added.id == 7)
        let files = sent.files.withLock { $0 }
        #expect(files.map(\.name) == ["new pläne.txt", "house.png"])
        #expect(files.map(\.type) == ["text/x-plan", "image/png"])
        #expect(files.map(\.bytes) == [Data("new".utf8), Data("PNG!!".utf8)])
        #expect(files.map(\.id) == [nil, "5"])
        let deleted = try #require(server.requests("\(path)/1/deleteAttachments").last)
        #expect(deleted.parameters["attachmentIds"] == "6" && deleted.method == "POST")
        // Nothing is left of them, and nothing is sent again.
        #expect(try await table.applyEdits().isEmpty && paths("addAttachment") == 1)
    }

    @Test func `attachments of a new feature go after it`() async throws {
        let table = table()
        server.on(
            path + "/applyEdits",
            json: #"""
                {"addResults":[{"success":false,"error":{"code":1000,"description":"no"}},
                {"objectId":1,"success":true}]}
                """#)
        var new: [ArcGISFeature] = []
        for owner in ["refused", "taken"] {
            let feature = try #require(
                table.makeFeature(attributes: ["owner": owner, "OBJECTID": 2]) as? ArcGISFeature)
            try await table.add(feature)
            try await feature.addAttachment(
                named: owner, contentType: "text/plain", data: Data(owner.utf8))
            #expect(try await feature.attachments.map(\.name) == [owner])
            new.append(feature)
        }
        let results = try await table.applyEdits()
        #expect(results.map(\.operation) == [.add, .add])
        #expect(results.map(\.didCompleteWithErrors) == [true, false])
        #expect(results[1].attachmentResults.map(\.objectID) == [7])
        let error = results[0].attachmentResults.first?.error as? CairnError
        #expect(
            error?.description
                == "the attachment 'refused' was not sent: its feature was not added")
        #expect(sent.files.withLock { $0.map(\.name) } == ["taken"] && !table.hasLocalEdits)
    }

    @Test func `an edit that the service refuses comes back, the others are taken`()
        async throws
    {
        let table = table()
        let feature = try await feature(of: table)
        server.on(
            path + "/1/addAttachment",
            inTurn: [
                .json(
                    #"{"addAttachmentResult":{"objectId":-1,"success":false,"error":{"code":1002,"description":"too large"}}}"#
                ), .error(400, "no such kind"),
                .json(#"{"addAttachmentResult":{"objectId":9,"success":true}}"#),
            ])
        for name in ["a", "b", "c"] {
            try await feature.addAttachment(
                named: name, contentType: "text/plain", data: Data(name.utf8))
        }
        let results = try await table.applyEdits()
        let outcomes = try #require(results.first?.attachmentResults)
        #expect(results.count == 1 && results[0].didCompleteWithErrors)
        #expect(outcomes.map(\.objectID) == [-1, -1, 9])
        #expect((outcomes[0].error as? ServiceError)?.message == "too large")
        #expect((outcomes[1].error as? ServiceError)?.message == "no such kind")
        #expect(!outcomes[2].didCompleteWithErrors && !table.hasLocalEdits)
    }

    @Test func `where the network fails, what was not applied stays`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        let attachment = try #require(try await feature.attachments.last)
        server.on(
            path + "/1/addAttachment",
            inTurn: [
                .unreachable, .json(#"{"addAttachmentResult":{"objectId":7,"success":true}}"#),
                .bytes(Data("<html>".utf8), type: "text/html"),
                .json(#"{"addAttachmentResult":{"objectId":8,"success":true}}"#),
            ])
        for name in ["a", "b"] {
            try await feature.addAttachment(
                named: name, contentType: "text/plain", data: Data(name.utf8))
        }
        try await feature.deleteAttachment(attachment)
        // Nothing was applied before it: it is thrown, and sent once.
        let error = await #expect(throws: TransportError.self) { try await table.applyEdits() }
        #expect(error?.kind == .unreachable && paths("addAttachment") == 1)
        let results = try await table.applyEdits()
        let outcomes = try #require(results.first?.attachmentResults)
        #expect(outcomes.map(\.didCompleteWithErrors) == [false, true, true])
        #expect((outcomes[1].error as? TransportError)?.kind == .invalidAnswer)
        #expect(paths("deleteAttachments") == 0 && table.hasLocalEdits)
        let rest = try await table.applyEdits()
        #expect(rest.first?.attachmentResults.map(\.operation) == [.add, .delete])
        #expect(rest.first?.attachmentResults.map(\.objectID) == [8, 6])
        #expect(!table.hasLocalEdits)
    }

    @Test func `a change that is made while an attachment is on its way is not lost`()
        async throws
    {
        let table = table()
        let feature = try await feature(of: table)
        let gate = StubGate()
        let answer = StubAnswer.json(#"{"addAttachmentResult":{"objectId":5,"success":true}}"#)
        server.on(path + "/1/addAttachment", answer.held(by: gate))
        let added = try await feature.addAttachment(
            named: "first", contentType: "text/plain", data: Data("1".utf8))
        let gone = try await feature.addAttachment(
            named: "gone", contentType: "text/plain", data: Data())
        async let applied = table.applyEdits()
        await gate.arrived()
        try await feature.updateAttachment(
            added, named: "second", contentType: "text/plain", data: Data("22".utf8))
        try await feature.deleteAttachment(gone)
        gate.open()
        #expect(try await applied.first?.attachmentResults.count == 1)
        #expect(table.hasLocalEdits && added.id == 5 && paths("addAttachment") == 1)
        try await table.applyEdits()
        #expect(sent.files.withLock { $0.map(\.name) } == ["second"])
        #expect(sent.files.withLock { $0.map(\.id) } == ["5"] && !table.hasLocalEdits)
    }

    @Test func `edits are dropped with the others`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        try await feature.addAttachment(
            named: "a", contentType: "text/plain", data: Data())
        try await table.undoLocalEdits()
        #expect(try await feature.attachments.count == 2 && !table.hasLocalEdits)
        // With the feature, its attachments go.
        try await feature.addAttachment(
            named: "a", contentType: "text/plain", data: Data())
        try await table.delete(feature)
        server.on(
            path + "/applyEdits", json: #"{"deleteResults":[{"objectId":1,"success":true}]}"#)
        #expect(try await table.applyEdits().map(\.operation) == [.delete])
        #expect(paths("addAttachment") == 0 && !table.hasLocalEdits)
    }

    @Test(arguments: [
        ("", "text/plain", "'' is no name of a file"),
        ("a/b", "text/plain", "'a/b' is no name"), ("..", "text/plain", "'..' is no name"),
        (String(repeating: "n", count: 256), "text/plain", "is no name"),
        ("a\r\nb", "text/plain", "is no name"), ("a", "text", "'text' is no media type"),
        ("a", "text/plain\r\nX: y", "is no media type"), ("a", "/x", "is no media type"),
    ])
    func `names and media types that are none are refused`(
        name: String, type: String, words: String
    ) async throws {
        let table = table()
        let feature = try await feature(of: table)
        let attachment = try #require(try await feature.attachments.first)
        let added = await #expect(throws: CairnError.self) {
            try await feature.addAttachment(named: name, contentType: type, data: Data())
        }
        let changed = await #expect(throws: CairnError.self) {
            try await feature.updateAttachment(
                attachment, named: name, contentType: type, data: Data())
        }
        for error in [added, changed] {
            #expect(error?.kind == .invalidArgument && error?.description.contains(words) == true)
        }
    }

    @Test func `two objects for one attachment have one edit`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        let (one, other) = (
            try await feature.attachments[0],
            try await self.feature(of: table).attachments[0]
        )
        try await feature.updateAttachment(
            one, named: "one", contentType: "text/plain", data: Data("1".utf8))
        try await self.feature(of: table).updateAttachment(
            other, named: "other", contentType: "text/plain", data: Data("22".utf8))
        #expect(one.name == "other" && other.name == "other" && other.size == 2)
        #expect(try await feature.attachments.map(\.name) == ["other", "deed.pdf"])
        try await table.applyEdits()
        #expect(sent.files.withLock { $0.map(\.name) } == ["other"])
        try await feature.deleteAttachment(one)
        let error = await #expect(throws: CairnError.self) {
            try await feature.deleteAttachment(other)
        }
        #expect(error?.kind == .invalidArgument)
        // With the feature, edits of its attachments go, whatever object they were made by.
        try await table.delete(self.feature(of: table))
        server.on(
            path + "/applyEdits", json: #"{"deleteResults":[{"objectId":1,"success":true}]}"#)
        #expect(try await table.applyEdits().map(\.operation) == [.delete])
        #expect(paths("deleteAttachments") == 0 && !table.hasLocalEdits)
    }

    @Test func `an attachment that is not there is not changed`() async throws {
        let table = table()
        let feature = try await feature(of: table)
        let attachment = try #require(try await feature.attachments.first)
        try await feature.deleteAttachment(attachment)
        let again = await #expect(throws: CairnError.self) {
            try await feature.deleteAttachment(attachment)
        }
        #expect(
            again?.description == "the feature has no attachment 'house.jpg' (5)")
        await #expect(throws: CairnError.self) {
            try await feature.updateAttachment(
                attachment, named: "a", contentType: "text/plain", data: Data())
        }
        let loose = try #require(table.makeFeature() as? ArcGISFeature)
        let error = await #expect(throws: CairnError.self) { try await loose.attachments }
        #expect(error?.description.contains("no object id in 'OBJECTID'") == true)
    }
}
