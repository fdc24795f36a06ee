// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
internal import Platform
public import Site

/// The job kind `Batch`: takes a file of jobs, lists their products.
///
/// The input is JSON Lines, one `Batch.Item` each. Parameters: `sideBySide`, the number of
/// concurrent jobs, 1…16 (4; 1 runs them in order); `onFailure`, `stop` (the default: the first
/// failure ends the batch and cancels the others) or `continue` (a failure is a warning and has no
/// product in the list).
public enum Batch: JobKindDefinition {
    /// The published description.
    public static let description = JobKindDescription(
        kind: .batch, summary: "Does several jobs and lists their products.",
        input: "JSON Lines, one job on each line", output: "JSON Lines, one product on each line",
        outputMediaType: "application/jsonl",
        parameters: [
            .whole("sideBySide", "How many run at once, 1 to 16.", "4"),
            .text(
                "onFailure", "What the failure of one of them does to the rest.", "stop",
                of: ["stop", "continue"]),
        ], reads: [.everyService], inputNamesBlobs: true)

    /// Size limit of the input file, in bytes.
    public static let maximumInputByteCount: Int64 = 4 << 20
    /// Limit of jobs in a batch.
    public static let maximumItemCount = 500

    /// One job of a batch.
    public struct Item: Codable, Hashable, Sendable {
        /// Its kind.
        public var kind: JobKind
        /// Its parameters.
        public var parameters: [String: String]?
        /// Its input, in the site's blobs.
        public var input: BlobReference?
        /// Its weight in the batch's progress; nil for the size of its input.
        public var weight: Int?

        /// Creates an item.
        public init(
            kind: JobKind, parameters: [String: String]? = nil, input: BlobReference? = nil,
            weight: Int? = nil
        ) {
            self.kind = kind
            self.parameters = parameters
            self.input = input
            self.weight = weight
        }
    }

    /// One line of the product.
    struct Product: Codable, Hashable, Sendable {
        var number: Int
        var kind: JobKind
        var result: BlobReference?
    }

    /// Plans the jobs, and lists their products.
    public static let operations = [plan, list]

    private static let plan = JobOperation.files("plan") { try plan($0) }
    private static let list = JobOperation.files("list") { try list($0) }

    /// Checks the file of jobs, and its jobs where the failure of one of them would end the batch:
    /// all of a job of another kind, the parameters of a batch in the batch.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        let (_, mayFail) = try settings(texts)
        guard let input = order.input else { return }
        for (number, item) in try items(of: input, in: order.blobs).enumerated() where !mayFail {
            let parameters = item.parameters ?? [:]
            do throws(Failure) {
                if item.kind == description.kind {
                    _ = try settings(ParameterTexts(parameters, of: description))
                } else {
                    try JobKinds.check(
                        JobOrder(
                            kind: item.kind, parameters: parameters, input: item.input,
                            blobs: order.blobs, networks: order.networks))
                }
            } catch {
                throw Failure(error.code, "job \(number + 1) of the file: \(error.message)")
            }
        }
    }

    private static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let (sideBySide, mayFail) = try settings(
            ParameterTexts(context.assignment.parameters, of: description))
        let items = try items(context)
        let subJobs = items.map { item in
            ChunkDescription(
                pool: .work, operation: "job", input: Data(),
                weight: item.weight ?? max(1, Int(clamping: item.input?.byteCount ?? 1)),
                subJob: SubJob(
                    kind: item.kind, parameters: item.parameters ?? [:], input: item.input,
                    mayFail: mayFail, sideBySide: sideBySide))
        }
        let list = list.chunk(weight: 1, gathers: true)
        return ChunkOutcome(
            nextStage: subJobs, laterStages: [[list]],
            messages: [
                JobMessage(.informative, "\(items.count) jobs, \(sideBySide) at a time")
            ])
    }

    private static func settings(
        _ texts: ParameterTexts
    ) throws(Failure) -> (sideBySide: Int, mayFail: Bool) {
        guard let sideBySide = try texts.whole("sideBySide"), 1...16 ~= sideBySide else {
            throw ParameterTexts.fault("sideBySide", "1 to 16")
        }
        switch texts["onFailure"] {
        case "stop": return (sideBySide, false)
        case "continue": return (sideBySide, true)
        default: throw ParameterTexts.fault("onFailure", "stop or continue")
        }
    }

    private static func items(_ context: ChunkContext) throws(Failure) -> [Item] {
        guard let blob = context.assignment.jobInput else {
            throw Failure(.invalidParameter, "a Batch job needs a file of jobs as its input")
        }
        return try items(of: blob, in: context.blobs)
    }

    private static func items(
        of blob: BlobReference, in blobs: BlobStore
    ) throws(Failure) -> [Item] {
        let bytes = try blobs.read(blob, maximumByteCount: maximumInputByteCount)
        return try items(of: bytes) { line throws(Failure) in
            try CairnJSON.decode(Item.self, from: line)
        }
    }

    /// Limit of nested files of jobs that ``forEachInput(of:in:_:)`` reads.
    public static let maximumFileCount = 20

    /// Calls `body` with every blob that a file of jobs names, nested files included, before the
    /// blob is read.
    ///
    /// Throws what `body` throws, and `Failure` as the chunks of such a job would:
    /// `invalidParameter`, `tooLarge`.
    public static func forEachInput(
        of file: BlobReference, in blobs: BlobStore, _ body: (ContentID) throws(Failure) -> Void
    ) throws(Failure) {
        var (waiting, seen) = ([file], Set([file.id]))
        while let next = waiting.popLast() {
            for item in try items(of: next, in: blobs) {
                guard let input = item.input else { continue }
                try body(input.id)
                guard let kind = JobKindDescription.of(item.kind) else {
                    throw Failure(
                        .invalidParameter,
                        "there is no kind of job '\(item.kind.rawValue.prefix(80))'")
                }
                guard kind.inputNamesBlobs, seen.insert(input.id).inserted else { continue }
                guard seen.count <= maximumFileCount else {
                    throw Failure(
                        .tooLarge, "the file names more than \(maximumFileCount) files of jobs")
                }
                waiting.append(input)
            }
        }
    }

    /// Reads the lines of a file of jobs, skipping empty ones.
    ///
    /// Throws `Failure` (`invalidParameter`, `tooLarge`) that names the line.
    public static func items<Value>(
        of bytes: Data, _ read: (Data) throws(Failure) -> Value
    ) throws(Failure) -> [Value] {
        var items: [Value] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated()
        where !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
            guard items.count < maximumItemCount else {
                throw Failure(.tooLarge, "the file has more than \(maximumItemCount) jobs")
            }
            do throws(Failure) {
                items.append(try read(Data(line)))
            } catch {
                throw Failure(error.code, "line \(number + 1): \(error.message)")
            }
        }
        guard !items.isEmpty else {
            throw Failure(.invalidParameter, "the file has no line: expected one for each job")
        }
        return items
    }

    private static func list(_ context: ChunkContext) throws -> ChunkOutcome {
        let items = try items(context)
        let results = context.assignment.gathered
        guard items.count == results.count else {
            throw Failure(.corrupt, "\(results.count) jobs ended; the file has \(items.count)")
        }
        var lines = Data()
        for (number, item) in items.enumerated() {
            let line = Product(number: number, kind: item.kind, result: results[number])
            lines += try CairnJSON.encode(line) + [UInt8(ascii: "\n")]
        }
        let missing = results.count { $0 == nil }
        return ChunkOutcome(
            blob: try context.blobs.put(lines, mediaType: "application/jsonl"),
            messages: [
                JobMessage(
                    missing > 0 ? .warning : .informative,
                    "\(results.count - missing) of \(results.count) jobs have a product")
            ])
    }
}
