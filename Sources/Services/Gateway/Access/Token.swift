// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Secrets

/// The content of a token: a user, an expiry, and a binding.
///
/// As text: Base64 (RFC 4648, 5) of `1`, the end (8 bytes, milliseconds since 1970, big-endian),
/// the kind of binding (0 none, 1 referer, 2 address, 3 session), the binding's byte count and
/// bytes, the user's name, and 32 bytes of keyed BLAKE2b over all that and the user's entry. It can
/// be verified with the site's key and the entry.
struct Token: Hashable, Sendable {
    /// What a request must present besides the token.
    enum Binding: Hashable, Sendable {
        case none
        /// A `Referer` that equals this text or is below it.
        case referer(String)
        /// The address of the peer.
        case address(String)
        /// A cookie, the only way to present this token; the text makes each login's token unique.
        case session(String)
    }

    var user: String
    /// Milliseconds since 1970, UTC.
    var expires: Int64
    var binding: Binding

    /// Maximum length of a binding in bytes.
    static let bindingByteLimit = 200
    private static let textLimit = 600

    /// The text; `entry` is the digest of the user's entry.
    func text(key: [UInt8], entry: [UInt8]) -> String {
        let payload = payload
        return Base64URL.encode(payload + KeyedHash.digest(payload + entry, key: key))
    }

    private var payload: [UInt8] {
        var bytes: [UInt8] = [1]
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: expires >> Int64(shift)))
        }
        let (kind, text): (UInt8, String) =
            switch binding {
            case .none: (0, "")
            case .referer(let text): (1, text)
            case .address(let text): (2, text)
            case .session(let text): (3, text)
            }
        let bound = Array(text.utf8.prefix(Self.bindingByteLimit))
        return bytes + [kind, UInt8(bound.count)] + bound + Array(user.utf8)
    }

    /// Decodes a token and verifies it with the digest of its user's entry.
    ///
    /// Nil for text that is not a token of this key and entry. Expiry and binding are not checked.
    init?(_ text: String, key: [UInt8], entry: (String) -> [UInt8]?) {
        guard text.utf8.count <= Self.textLimit, let bytes = Base64URL.decode(text),
            bytes.count > 11 + KeyedHash.byteCount
        else { return nil }
        let payload = Array(bytes.dropLast(KeyedHash.byteCount))
        let nameStart = 11 + Int(payload[10])
        guard payload[0] == 1, nameStart < payload.count else { return nil }
        user = String(decoding: payload[nameStart...], as: UTF8.self)
        guard let entry = entry(user),
            KeyedHash.isEqual(
                KeyedHash.digest(payload + entry, key: key),
                Array(bytes.suffix(KeyedHash.byteCount)))
        else { return nil }
        expires = payload[1...8].reduce(0) { $0 << 8 | Int64($1) }
        let bound = String(decoding: payload[11..<nameStart], as: UTF8.self)
        switch payload[9] {
        case 0: binding = .none
        case 1: binding = .referer(bound)
        case 2: binding = .address(bound)
        case 3: binding = .session(bound)
        default: return nil
        }
    }

    init(user: String, expires: Int64, binding: Binding) {
        self.user = user
        self.expires = expires
        self.binding = binding
    }

    /// Whether a request satisfies the token's binding; a session's token is valid in its cookie
    /// only.
    func isBound(to client: RequestClient) -> Bool {
        switch binding {
        case .none: return true
        case .session: return false
        case .address(let address): return address == client.address
        case .referer(let referer):
            guard let shown = client.referer, shown.hasPrefix(referer) else { return false }
            guard let next = shown.utf8.dropFirst(referer.utf8.count).first else { return true }
            return referer.hasSuffix("/") || "/?#".utf8.contains(next)
        }
    }
}
