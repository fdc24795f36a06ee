// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

extension ChunkDescription: Codable {
    private enum CodingKeys: String, CodingKey {
        case pool, operation, input, weight, gathers, subJob
    }

    /// The input as JSON; nil for one that is empty, and for bytes that are no object as
    /// ``CairnJSON`` writes it.
    public var inputValue: JSONValue? {
        guard input.first == UInt8(ascii: "{"),
            let value = try? CairnJSON.decode(JSONValue.self, from: input),
            case .object = value, (try? CairnJSON.encode(value)) == input
        else { return nil }
        return value
    }

    /// Reads an input that is an object, or any bytes as text in Base64.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let input: Data
        if let text = try? members.decode(String.self, forKey: .input) {
            guard let bytes = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .input, in: members,
                    debugDescription: "expected an object, or text in Base64")
            }
            input = bytes
        } else {
            input = try CairnJSON.encode(
                try members.decode([String: JSONValue].self, forKey: .input))
        }
        self.init(
            pool: try members.decode(WorkerPool.self, forKey: .pool),
            operation: try members.decode(String.self, forKey: .operation), input: input,
            weight: try members.decode(Int.self, forKey: .weight),
            gathers: try members.decode(Bool.self, forKey: .gathers),
            subJob: try members.decodeIfPresent(SubJob.self, forKey: .subJob))
    }

    /// Writes an input that is an object as one, any other as text in Base64.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(pool, forKey: .pool)
        try members.encode(operation, forKey: .operation)
        if let inputValue {
            try members.encode(inputValue, forKey: .input)
        } else {
            try members.encode(input.base64EncodedString(), forKey: .input)
        }
        try members.encode(weight, forKey: .weight)
        try members.encode(gathers, forKey: .gathers)
        try members.encodeIfPresent(subJob, forKey: .subJob)
    }
}
