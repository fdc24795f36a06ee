// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CExpat

/// Reads XML documents of any length piece by piece: elements with their attributes, as they begin
/// and end.
///
/// Text is passed over; entities of a document's own and files outside it are not read.
///
/// Memory is bounded by the largest element's attributes. Used from one thread.
@safe
public final class XMLStream {
    /// Takes the beginning of an element: its name, and its attributes in order.
    public typealias Opening = (String, [(name: String, value: String)]) -> Void

    private let parser: XML_Parser
    private let opened: Opening
    private let closed: (String) -> Void
    private var refusal: String?
    private var depth = 0

    /// Largest nesting depth of elements.
    public static let depthLimit = XMLReader.depthLimit

    /// Creates a reader; the closures are called during ``take(_:isLast:)``.
    public init(
        opened: @escaping Opening, closed: @escaping (String) -> Void
    ) throws(XMLError) {
        guard let parser = unsafe XML_ParserCreate(nil) else {
            throw XMLError("no memory for a document")
        }
        unsafe self.parser = unsafe parser
        self.opened = opened
        self.closed = closed
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { pointer, name, attributes in
                unsafe XMLStream.of(pointer)?.open(name, attributes)
            }, { pointer, name in unsafe XMLStream.of(pointer)?.close(name) })
        // A document with entity declarations is taken for an attack.
        unsafe XML_SetEntityDeclHandler(
            parser,
            { pointer, _, _, _, _, _, _, _, _ in
                unsafe XMLStream.of(pointer)?.refuse("it declares entities")
            })
    }

    deinit { unsafe XML_ParserFree(parser) }

    /// Reads the next bytes, at most 2 GiB; throws ``XMLError`` with line and reason.
    public func take(_ bytes: [UInt8], isLast: Bool) throws(XMLError) {
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                unsafe XML_Parse(
                    parser, text.baseAddress, Int32(clamping: text.count), isLast ? 1 : 0)
            }
        }
        let line = unsafe XML_GetCurrentLineNumber(parser)
        if let refusal { throw XMLError("line \(line): \(refusal)") }
        guard status == XML_STATUS_OK else {
            let reason =
                unsafe XML_ErrorString(XML_GetErrorCode(parser))
                .map { unsafe String(cString: $0) } ?? "it is not XML"
            throw XMLError("line \(line): \(reason)")
        }
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> XMLStream? {
        unsafe pointer.map { unsafe Unmanaged<XMLStream>.fromOpaque($0).takeUnretainedValue() }
    }

    private func open(
        _ name: UnsafePointer<CChar>?, _ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        depth += 1
        if depth > Self.depthLimit { refuse("it is nested too deeply") }
        guard refusal == nil, let name = unsafe name else { return }
        var attributes: [(name: String, value: String)] = []
        var index = 0
        while let key = unsafe list?[index], let value = unsafe list?[index + 1] {
            unsafe attributes.append((String(cString: key), String(cString: value)))
            index += 2
        }
        opened(unsafe String(cString: name), attributes)
    }

    private func close(_ name: UnsafePointer<CChar>?) {
        depth -= 1
        guard refusal == nil, let name = unsafe name else { return }
        closed(unsafe String(cString: name))
    }

    private func refuse(_ reason: String) {
        if refusal == nil { refusal = reason }
        unsafe _ = XML_StopParser(parser, 0)
    }
}
