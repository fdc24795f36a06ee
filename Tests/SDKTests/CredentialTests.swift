// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// How tokens travel, and where they are kept.
@Suite struct CredentialTests {
    private let portal = StubServer(root: "/arcgis")

    /// Signs in to a server that says whether it is Cairn.
    private func signedIn(isCairn: Bool = false) async throws -> TokenCredential {
        let cairn = isCairn ? #","cairn":{"version":"1"}"# : ""
        portal.on(
            "/rest/info",
            json: #"{"authInfo":{"tokenServicesUrl":"/arcgis/tokens"}\#(cairn)}"#)
        portal.on("/tokens", json: #"{"token":"secret-token","expires":4000000000000}"#)
        portal.on("/rest/services/City/FeatureServer/0", json: Sample.layer(0, "a"))
        return try await TokenCredential.credential(
            for: portal.url.appending(path: "rest/services"), username: "ada",
            password: "secret-password")
    }

    @Test(arguments: [true, false])
    func `a token travels in a header to Cairn, and in the form to others`(_ isCairn: Bool)
        async throws
    {
        let table = ServiceFeatureTable(
            url: portal.url.appending(path: "rest/services/City/FeatureServer/0"))
        table.credential = try await signedIn(isCairn: isCairn)
        try await table.load()
        let asked = try #require(portal.requests("/rest/services/City/FeatureServer/0").first)
        #expect(asked.parameters["token"] == (isCairn ? nil : "secret-token"))
        #expect(asked.headers.values.contains { $0.contains("secret-token") } == isCairn)
        let signIn = try #require(portal.requests("/tokens").first)
        #expect(signIn.method == "POST" && signIn.parameters["username"] == "ada")
        // What the token was made for.
        let referer = try #require(signIn.parameters["referer"])
        #expect(signIn.parameters["client"] == "referer")
        #expect(asked.headers["referer"] == referer)
    }

    @Test func `credentials of a file are there in the next run, for its owner alone`()
        async throws
    {
        let folder = try PackageFiles.folder()
        let file = folder.appending(path: "credentials.json")
        let store = try await ArcGISCredentialStore.makePersistent(fileURL: file)
        #expect(store.credential(for: portal.url) == nil)
        store.add(try await signedIn(isCairn: true))
        let path = file.path(percentEncoded: false)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)

        let next = try await ArcGISCredentialStore.makePersistent(fileURL: file)
        let credential = try #require(next.credential(for: portal.url) as? TokenCredential)
        #expect(credential.username == "ada")
        #expect(try await credential.tokenInfo(for: portal.url)?.accessToken == "secret-token")
        #expect(portal.requests("/tokens").count == 1)
        let table = ServiceFeatureTable(
            url: portal.url.appending(path: "rest/services/City/FeatureServer/0"))
        table.credential = credential
        try await table.load()
        let asked = try #require(portal.requests("/rest/services/City/FeatureServer/0").first)
        #expect(asked.parameters["token"] == nil)

        // What has ended by the next run is made anew, with the password.
        let later = StubClock(Date(timeIntervalSince1970: 5_000_000_000))
        try await later.run {
            let last = try await ArcGISCredentialStore.makePersistent(fileURL: file)
            portal.on("/tokens", json: #"{"token":"fresh","expires":6000000000000}"#)
            let old = try #require(last.credential(for: portal.url))
            #expect(try await old.tokenInfo(for: portal.url)?.accessToken == "fresh")
        }
        next.removeAll()
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("secret"))
    }

    @Test(arguments: ["", "[]", "{", #"{"formatVersion":2,"credentials":[]}"#])
    func `a file that is none of credentials is refused with its name`(_ text: String)
        async throws
    {
        let file = try PackageFiles.folder().appending(path: "other.json")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let error = await #expect(throws: CairnError.self) {
            try await ArcGISCredentialStore.makePersistent(fileURL: file)
        }
        #expect(error?.kind == .invalidDocument)
        #expect(error?.description.contains("other.json") == true)
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
}
