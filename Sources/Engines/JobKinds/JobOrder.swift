// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform
public import Site
internal import Tables

/// A job that is about to be submitted.
public struct JobOrder: Sendable {
    /// Its kind.
    public var kind: JobKind
    /// Its parameters as its submitter states them.
    public var parameters: [String: String]
    /// Its input; nil for none.
    public var input: BlobReference?
    /// Where its input is.
    public var blobs: BlobStore
    /// The road networks that there are; nil where that is not known, so that the names of networks
    /// and travel modes are not checked.
    public var networks: [NetworkPublished]?

    /// Creates an order.
    public init(
        kind: JobKind, parameters: [String: String], input: BlobReference?, blobs: BlobStore,
        networks: [NetworkPublished]? = nil
    ) {
        self.networks = networks
        self.kind = kind
        self.parameters = parameters
        self.input = input
        self.blobs = blobs
    }
}

extension JobKinds {
    /// Checks a job before anything of it is recorded, as far as parameters and the beginning of
    /// the input show that it would fail.
    ///
    /// The gateway and the command line ask here; what each kind demands is its
    /// ``JobKindDefinition/check(_:_:)``. Blocks the thread. Throws `Failure`: `invalidParameter`
    /// with a sentence that names parameter or column, `tooLarge`, `notFound` for an input that is
    /// not in the store.
    public static func check(_ order: JobOrder) throws(Failure) {
        guard let definition = all.first(where: { $0.description.kind == order.kind }) else {
            let names = JobKindDescription.all.map(\.kind.rawValue).joined(separator: ", ")
            throw Failure(
                .invalidParameter,
                "there is no kind of job '\(order.kind.rawValue.prefix(80))'; there are: \(names)")
        }
        let description = definition.description
        let texts = try ParameterTexts(order.parameters, of: description)
        try texts.checkForms(of: description)
        if let input = description.input, order.input == nil {
            throw Failure(
                .invalidParameter, "\(order.kind.rawValue) needs an input file: \(input)")
        }
        if description.input == nil, order.input != nil {
            throw Failure(.invalidParameter, "\(order.kind.rawValue) jobs have no input file")
        }
        do {
            try definition.check(order, texts)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "the job could not be checked: \(error)")
        }
    }
}

extension JobOrder {
    /// Bytes of an input that are read before its job is submitted.
    private static let beginningByteCount = 256 << 10

    /// The beginning of the input; throws `notFound`.
    func beginning() throws(Failure) -> [UInt8] {
        guard let input else {
            throw Failure(.invalidParameter, "\(kind.rawValue) needs an input file")
        }
        do {
            let file = try MappedFile(path: blobs.path(input.id))
            return Array(file.copy(0..<min(file.byteCount, Self.beginningByteCount)))
        } catch {
            throw Failure(.notFound, "input \(input.id) cannot be read: \(error)")
        }
    }

    /// The first record of the input, a table; nil for an empty one.
    ///
    /// The form is that which the beginning shows, unless it is known.
    static func header(
        of beginning: [UInt8], _ form: TableForm? = nil
    ) throws(Failure) -> CSVScanner.Record? {
        let form = form ?? TableForm(beginning: beginning)
        var (scanner, header) = (form.scanner(at: form.start), CSVScanner.Record?.none)
        do {
            try scanner.feed(beginning.dropFirst(form.start)) { record in
                header = record
                throw Enough()
            }
            try scanner.finish { header = $0 }
        } catch is Enough {
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "the header could not be read: \(error)")
        }
        return header
    }

    private struct Enough: Error {}
}
