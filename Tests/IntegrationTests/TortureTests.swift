// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// A short `deploy/torture`: the same machinery, one round of faults, and one with full disks where
/// small ones may be mounted.
@Suite(.serialized, .timeLimit(.minutes(10)), .processes) struct TortureTests {
    private static func script(_ name: String) -> String {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root.path() + "/Tests/Torture/" + name
    }

    @Test func `a busy site that is broken on purpose loses nothing and says nothing wrong`()
        async throws
    {
        guard Programs.areBuilt(Programs.all + ["torture-load"]) else { return }
        let seed = Seeds.chosen(1, from: .random(in: 1..<1 << 32))[0]

        let outcome = try await Programs.run(
            [
                "python3", Self.script("torture.py"), "--bin", Programs.folder, "--rounds", "1",
                "--seconds", "15", "--soak", "3", "--seed", "\(seed)",
            ], site: nil, program: "/usr/bin/env")

        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        print(outcome.output)
        let rounds = outcome.objects.filter { $0["round"] != nil }
        let killed = rounds.compactMap { ($0["processes"] as? [String: Any])?["killed"] as? Int }
        let told = rounds.compactMap { ($0["told"] as? [String: Any])?["appendedEvents"] as? Int }
        let edited = rounds.compactMap {
            ($0["told"] as? [String: Any])?["editedFeatures"] as? Int
        }
        let soaks = outcome.objects.compactMap { $0["answered"] as? Int }
        #expect(soaks.count == 1 && soaks.allSatisfy { $0 > 100 }, "hardly a question")
        #expect(!rounds.isEmpty && edited.count == rounds.count)
        #expect(killed.allSatisfy { $0 > 5 } && told.allSatisfy { $0 > 100 }, "hardly a storm")
    }

    @Test func `an export under kills makes the file of an undisturbed one`() async throws {
        guard Programs.areBuilt(Programs.all) else { return }
        let seed = Seeds.chosen(1, from: .random(in: 1..<1 << 32))[0]

        let outcome = try await Programs.run(
            [
                "python3", Self.script("tiles.py"), "--bin", Programs.folder, "--kills", "10",
                "--levels", "3-6", "--seed", "\(seed)",
            ], site: nil, program: "/usr/bin/env")

        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        print(outcome.output)
        let hashes = outcome.objects.compactMap { $0["sha256"] as? String }
        #expect(hashes.count == 3 && Set(hashes).count == 1)
        #expect(outcome.objects.compactMap { $0["killed"] as? Int } == [0, 0, 10])
    }
}
