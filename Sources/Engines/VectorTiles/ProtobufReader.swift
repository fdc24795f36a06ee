// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnCore

/// The fields of a protocol buffer's message, from bytes that may be anything.
package struct ProtobufReader {
    private var bytes: ArraySlice<UInt8>

    /// Reads a message.
    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// A field; its readers throw `corrupt` where it has another form.
    package struct Field {
        /// Its number in the message.
        package let number: UInt64
        let content: Content

        enum Content {
            case varint(UInt64)
            case fixed64(UInt64)
            case bytes(ArraySlice<UInt8>)
            case fixed32(UInt32)
        }

        func varint() throws(Failure) -> UInt64 {
            guard case .varint(let number) = content else { throw unexpected("a varint") }
            return number
        }

        func fixed64() throws(Failure) -> UInt64 {
            guard case .fixed64(let bits) = content else { throw unexpected("64 bits") }
            return bits
        }

        func fixed32() throws(Failure) -> UInt32 {
            guard case .fixed32(let bits) = content else { throw unexpected("32 bits") }
            return bits
        }

        /// Its bytes, where it has a length.
        package func bytes() throws(Failure) -> ArraySlice<UInt8> {
            guard case .bytes(let bytes) = content else { throw unexpected("bytes of a length") }
            return bytes
        }

        /// Its bytes as text.
        package func text() throws(Failure) -> String {
            guard let text = String(validating: try bytes(), as: UTF8.self) else {
                throw ProtobufReader.damage("field \(number) is no UTF-8")
            }
            return text
        }

        /// Packed, or one of several that are not.
        package func appendVarints(to numbers: inout [UInt64]) throws(Failure) {
            if case .varint(let number) = content {
                numbers.append(number)
                return
            }
            var reader = ProtobufReader(try bytes())
            while !reader.bytes.isEmpty { numbers.append(try reader.varint()) }
        }

        private func unexpected(_ what: String) -> Failure {
            ProtobufReader.damage("field \(number) is not \(what)")
        }
    }

    /// The next field; nil at the end.
    ///
    /// Throws `corrupt`.
    package mutating func next() throws(Failure) -> Field? {
        guard !bytes.isEmpty else { return nil }
        let tag = try varint()
        let number = tag >> 3
        guard number > 0 else { throw Self.damage("a field has number 0") }
        switch tag & 7 {
        case 0: return Field(number: number, content: .varint(try varint()))
        case 1: return Field(number: number, content: .fixed64(try fixed(8)))
        case 2:
            let length = try varint()
            guard length <= bytes.count else {
                throw Self.damage("field \(number) ends after the bytes do")
            }
            let content = bytes.prefix(Int(length))
            bytes = bytes.dropFirst(Int(length))
            return Field(number: number, content: .bytes(content))
        case 5:
            return Field(
                number: number, content: .fixed32(UInt32(truncatingIfNeeded: try fixed(4))))
        case let form: throw Self.damage("field \(number) has wire type \(form)")
        }
    }

    private mutating func fixed(_ count: Int) throws(Failure) -> UInt64 {
        guard count <= bytes.count else { throw Self.damage("a number ends after the bytes do") }
        let number = bytes.prefix(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(count)
        return number
    }

    private mutating func varint() throws(Failure) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = bytes.popFirst() else {
                throw Self.damage("a varint ends after the bytes do")
            }
            guard shift < 63 || byte < 2 else { break }
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        throw Self.damage("a varint is above 64 bits")
    }

    static func unzigzag(_ number: UInt64) -> Int64 {
        Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    private static func damage(_ what: String) -> Failure {
        Failure(.corrupt, "the bytes are no vector tile: \(what)")
    }
}
