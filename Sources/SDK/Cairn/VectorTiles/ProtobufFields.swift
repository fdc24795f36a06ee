// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The fields of a protocol buffer's message, one after the other, from bytes that may be anything.
struct ProtobufFields {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    struct Field {
        let number: UInt64
        fileprivate let content: Content

        fileprivate enum Content {
            case varint(UInt64)
            case fixed64(UInt64)
            case bytes(ArraySlice<UInt8>)
            case fixed32(UInt32)
        }

        func varint() throws -> UInt64 {
            guard case .varint(let number) = content else { throw unexpected("a varint") }
            return number
        }

        func fixed64() throws -> UInt64 {
            guard case .fixed64(let bits) = content else { throw unexpected("64 bits") }
            return bits
        }

        func fixed32() throws -> UInt32 {
            guard case .fixed32(let bits) = content else { throw unexpected("32 bits") }
            return bits
        }

        func bytes() throws -> ArraySlice<UInt8> {
            guard case .bytes(let bytes) = content else { throw unexpected("bytes of a length") }
            return bytes
        }

        func text() throws -> String {
            guard let text = String(validating: try bytes(), as: UTF8.self) else {
                throw unexpected("UTF-8")
            }
            return text
        }

        /// Packed, or one of several that are not.
        func appendVarints(to numbers: inout [UInt64]) throws {
            if case .varint(let number) = content {
                numbers.append(number)
                return
            }
            var fields = ProtobufFields(try bytes())
            while !fields.bytes.isEmpty { numbers.append(try fields.varint()) }
        }

        private func unexpected(_ what: String) -> CairnError {
            VectorTile.damage("field \(number) is not \(what)")
        }
    }

    /// The next field; nil at the end.
    mutating func next() throws -> Field? {
        guard !bytes.isEmpty else { return nil }
        let tag = try varint()
        let number = tag >> 3
        guard number > 0 else { throw VectorTile.damage("a field has number 0") }
        switch tag & 7 {
        case 0: return Field(number: number, content: .varint(try varint()))
        case 1: return Field(number: number, content: .fixed64(try fixed(8)))
        case 2:
            let length = try varint()
            guard length <= UInt64(bytes.count) else {
                throw VectorTile.damage("field \(number) ends after the bytes do")
            }
            let content = bytes.prefix(Int(length))
            bytes = bytes.dropFirst(Int(length))
            return Field(number: number, content: .bytes(content))
        case 5:
            return Field(
                number: number, content: .fixed32(UInt32(truncatingIfNeeded: try fixed(4))))
        case let form: throw VectorTile.damage("field \(number) has wire type \(form)")
        }
    }

    private mutating func fixed(_ count: Int) throws -> UInt64 {
        guard count <= bytes.count else {
            throw VectorTile.damage("a number ends after the bytes do")
        }
        let number = bytes.prefix(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(count)
        return number
    }

    private mutating func varint() throws -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = bytes.popFirst() else {
                throw VectorTile.damage("a varint ends after the bytes do")
            }
            guard shift < 63 || byte < 2 else { break }
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        throw VectorTile.damage("a varint is above 64 bits")
    }

    static func unzigzag(_ number: UInt64) -> Int64 {
        Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }
}
