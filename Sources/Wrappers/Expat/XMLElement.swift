// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CExpat

/// An element of an XML document, with its contents.
///
/// Namespaces are not resolved: prefixes are dropped, so names are compared without them.
public final class XMLElement {
    /// The name without a prefix.
    public let name: String
    /// The attributes by name, prefixes dropped.
    public let attributes: [String: String]
    /// The elements inside, in order.
    public fileprivate(set) var children: [XMLElement] = []
    /// The text directly inside, runs joined.
    public fileprivate(set) var text = ""

    fileprivate init(name: String, attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }

    /// The first element inside of that name, letter case apart.
    public func first(_ name: String) -> XMLElement? {
        let wanted = name.lowercased()
        return children.first { $0.name.lowercased() == wanted }
    }

    /// The elements inside of that name, letter case apart.
    public func all(_ name: String) -> [XMLElement] {
        let wanted = name.lowercased()
        return children.filter { $0.name.lowercased() == wanted }
    }

    /// The text directly inside without white space around it.
    public var trimmed: String {
        String(
            text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}

/// The reason why bytes are not an accepted XML document.
public struct XMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Reads whole XML documents; entities of a document's own and files outside it are not read.
public enum XMLReader {
    /// Largest nesting depth of elements.
    public static let depthLimit = 128
    /// Most elements of a document.
    public static let elementLimit = 500_000

    /// The document's outermost element; throws ``XMLError`` with line and reason.
    public static func read(_ bytes: [UInt8]) throws(XMLError) -> XMLElement {
        let builder = Builder()
        guard let parser = unsafe XML_ParserCreate(nil) else {
            throw XMLError("no memory for a document")
        }
        defer { unsafe XML_ParserFree(parser) }
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        builder.stop = { unsafe _ = XML_StopParser(parser, 0) }
        defer { builder.stop = nil }
        unsafe XML_SetElementHandler(
            parser,
            { pointer, name, attributes in
                unsafe Builder.of(pointer)?.open(name, attributes)
            }, { pointer, _ in unsafe Builder.of(pointer)?.close() })
        unsafe XML_SetCharacterDataHandler(
            parser,
            { pointer, text, count in
                guard let text = unsafe text else { return }
                let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(count))
                unsafe Builder.of(pointer)?.add(
                    String(decoding: bytes.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            })
        // A document with entity declarations is taken for an attack.
        unsafe XML_SetEntityDeclHandler(
            parser,
            { pointer, _, _, _, _, _, _, _, _ in
                unsafe Builder.of(pointer)?.refuse("it declares entities")
            })
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                unsafe XML_Parse(parser, text.baseAddress, Int32(clamping: text.count), 1)
            }
        }
        if let refusal = builder.refusal { throw XMLError(refusal) }
        guard status == XML_STATUS_OK, let root = builder.root else {
            let reason =
                unsafe XML_ErrorString(XML_GetErrorCode(parser))
                .map { unsafe String(cString: $0) } ?? "it is not XML"
            let line = unsafe XML_GetCurrentLineNumber(parser)
            throw XMLError("line \(line): \(reason)")
        }
        return root
    }

    private final class Builder {
        var root: XMLElement?
        var stop: (() -> Void)?
        private(set) var refusal: String?
        private var open: [XMLElement] = []
        private var count = 0

        static func of(_ pointer: UnsafeMutableRawPointer?) -> Builder? {
            unsafe pointer.map { unsafe Unmanaged<Builder>.fromOpaque($0).takeUnretainedValue() }
        }

        func open(
            _ name: UnsafePointer<CChar>?,
            _ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        ) {
            count += 1
            if open.count >= XMLReader.depthLimit { refuse("it is nested too deeply") }
            if count > XMLReader.elementLimit { refuse("it has too many elements") }
            guard refusal == nil, let name = unsafe name else { return }
            var attributes: [String: String] = [:]
            var index = 0
            while let key = unsafe list?[index], let value = unsafe list?[index + 1] {
                unsafe attributes[Self.local(key)] = unsafe String(cString: value)
                index += 2
            }
            let element = XMLElement(name: unsafe Self.local(name), attributes: attributes)
            if let parent = open.last { parent.children.append(element) } else { root = element }
            open.append(element)
        }

        func close() { _ = open.popLast() }

        func add(_ text: String) { open.last?.text += text }

        func refuse(_ reason: String) {
            if refusal == nil { refusal = reason }
            stop?()
        }

        private static func local(_ name: UnsafePointer<CChar>) -> String {
            let text = unsafe String(cString: name)
            return text.lastIndex(of: ":").map { String(text[text.index(after: $0)...]) } ?? text
        }
    }
}
