// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel

struct LocatorCases: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "cases", abstract: "Derive cases for evaluate from gazetteers and examples.",
        discussion: """
            SOURCES are gazetteers with a heading: places, regions, countries. Texts that people \
            write for a place are derived from its names; from --examples, cases with typing \
            errors and moved words. Each half (training, held-out) holds the same records whatever \
            the seed. Writes JSON Lines, the same for the same arguments.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "Gazetteers: tables of places, regions and countries.") var sources: [String] =
        []
    @Option(help: "Cases with single-line queries, to be varied.") var examples: String?
    @Option(help: "Seed of the random choices.") var seed: UInt64 = 1
    @Option(help: "Maximum number of cases per category, 1 to 100000.") var count = 400

    func validate() throws {
        guard 1...100_000 ~= count else { throw ValidationError("--count takes 1 to 100000.") }
        guard !sources.isEmpty || examples != nil else {
            throw ValidationError("Give a source or --examples.")
        }
    }

    func perform(_ session: Session) async throws {
        var cases: [LocatorCase] = []
        if !sources.isEmpty {
            let gazetteer = try CaseGazetteer(paths: sources)
            cases = CaseDerivation(gazetteer, count: count, seed: seed).cases
        }
        if let examples {
            var lines = try CaseLines(path: examples)
            var read: [LocatorCase] = []
            while read.count < count, let one = try lines.next() { read.append(one) }
            cases += edited(read)
        }
        for (number, one) in cases.enumerated() {
            var one = one
            one.id = number + 1
            try session.output.record(one)
        }
    }

    /// The examples and their edits, at most `count` of a category.
    private func edited(_ examples: [LocatorCase]) -> [LocatorCase] {
        var random = CaseRandom(seed: seed)
        var result: [LocatorCase] = []
        for (number, example) in examples.enumerated() {
            var one = example
            one.category = "examples"
            one.half =
                CaseRandom.isHeldOut("example \(example.id ?? number)") ? .heldOut : .training
            result.append(one)
        }
        for edit in CaseEdit.allCases {
            for original in result.prefix(examples.count) {
                guard case .text(let text) = original.query,
                    let written = edit.applied(to: text, using: &random)
                else { continue }
                var one = original
                one.category = edit.rawValue
                one.query = .text(written)
                result.append(one)
            }
        }
        return result
    }
}
