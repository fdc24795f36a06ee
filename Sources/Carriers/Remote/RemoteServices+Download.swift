// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import Site

extension RemoteServices {
    /// Most bytes of a downloaded file.
    public static let downloadBytes = 1 << 30
    /// Timeout of a download, retries included.
    public static let downloadTimeout = Duration.seconds(600)

    /// The bytes of a file on another server, and their media type.
    ///
    /// Blocks the calling thread. Throws `Failure` with one sentence that names the server, without
    /// parameters of the URL and without the credential.
    ///
    /// - Parameter name: The credential in the site's store; nil for none.
    public func download(
        _ url: String, credential name: String?
    ) throws(Failure) -> (bytes: [UInt8], mediaType: String) {
        let credential = try name.map { name throws(Failure) in
            try credentials.credential(named: name)
        }
        let call = RemoteCall(url: url, parameters: [])
        let request = call.request(
            credential, timeout: Self.downloadTimeout, byteLimit: Self.downloadBytes)
        do throws(WebError) {
            let response = try client.perform([request])[0].get()
            return (response.body, response.contentType)
        } catch {
            throw Self.named(Self.failure(error), url)
        }
    }

    /// The addresses of a host to which a connection by another protocol than HTTP may be made, by
    /// the rules for layers of other servers.
    ///
    /// Blocks the calling thread. Throws `Failure` with one sentence without the host's name.
    public func addresses(of host: String) throws(Failure) -> [String] {
        do throws(WebError) { return try client.addresses(of: host) } catch {
            throw Self.failure(error)
        }
    }
}
