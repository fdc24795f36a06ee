// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Glibc
import TestKit
import Testing

@testable import Curl

/// Hosts that are refused, because they are not on the public Internet.
@Suite(.timeLimit(.minutes(2))) struct InternalServersTests {
    private static let hostsOfThisMachine = [
        "127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1.",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "%31%32%37.0.0.1",
    ]

    private func ask(
        _ url: String, _ servers: InternalServers = .own, limit: Int = 1 << 20,
        with client: WebClient? = nil
    ) -> Result<WebResponse, WebError> {
        (client ?? WebClient(servers)).perform([
            WebRequest(url: url, timeout: .seconds(40), byteLimit: limit)
        ])[0]
    }

    private func refusal(_ result: Result<WebResponse, WebError>) -> String? {
        if case .failure(let error) = result, error.code == .refused {
            error.description
        } else {
            nil
        }
    }

    @Test(.slow, arguments: hostsOfThisMachine)
    func `a redirection to this machine is refused however its host is written`(
        _ host: String
    ) throws {
        let server = try PlayedServer()
        let target = "http://\(host):\(server.port)/ok"

        let result = ask("http://localhost:\(server.port)/to?url=\(target)")

        // A name that does not resolve is refused, too.
        #expect(throws: WebError.self) { try result.get() }
        #expect(try server.log().allSatisfy { !$0.hasPrefix("GET /ok") })
    }

    @Test(
        .slow,
        arguments: [
            "10.0.0.1", "172.31.255.255", "192.168.1.1", "100.127.0.1", "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1", "255.255.255.255", "127.0.0.2", "[::1]", "[::]", "[fe80::1]",
            "[fe80::1%251]",
            "[fd00::1]", "[ff02::1]", "[::127.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]",
        ])
    func `a redirection into an internal network is refused before it connects`(
        _ host: String
    ) throws {
        let server = try PlayedServer()
        let result = ask("\(server.url)/to?url=http://\(host):\(server.port)/ok")
        #expect(refusal(result)?.contains("redirected to this machine") == true, "\(result)")
    }

    @Test func `a server that may not be asked gets no connection`() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        defer { close(listener) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutableBytes(of: &place) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe bind(listener, address, length) == 0 && listen(listener, 8) == 0
                && getsockname(listener, address, &length) == 0
        }
        try #require(isBound)
        let server = try PlayedServer()
        let target = "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))/"

        let result = ask("http://localhost:\(server.port)/to?url=\(target)")

        #expect(refusal(result) != nil)
        let accepted = accept(listener, nil, nil)
        #expect(accepted == -1 && errno == EAGAIN)
    }

    @Test func `the URL's own host may be anywhere and be redirected to itself`() throws {
        let server = try PlayedServer()
        #expect(try ask("\(server.url)/ok").get().status == 200)
        #expect(try ask("\(server.url)/moved").get().status == 200)
        let other = try PlayedServer()
        #expect(try ask("\(server.url)/to?url=\(other.url)/ok").get().status == 200)
    }

    @Test func `a connection that another request opened is no way around`() throws {
        let server = try PlayedServer()
        let client = WebClient()
        #expect(try ask("\(server.url)/ok", with: client).get().status == 200)

        let result = ask(
            "http://localhost:\(server.port)/to?url=\(server.url)/ok?again", with: client)

        #expect(refusal(result) != nil)
        #expect(try server.log().allSatisfy { !$0.hasPrefix("GET /ok?again") })
    }

    @Test func `a list says what may be asked, and nothing else may`() throws {
        let server = try PlayedServer()
        let away = "http://localhost:\(server.port)/to?url=\(server.url)/ok"
        for entries in [
            ["127.0.0.0/8", "::1"], ["localhost", "127.0.0.1"], ["0.0.0.0/0", "::/0"],
        ] {
            #expect(try ask(away, InternalServers(only: entries)).get().status == 200)
        }
        for entries in [[], ["10.0.0.0/8"], ["gis.example.org"], ["127.0.0.2"]] {
            let refused = refusal(try ask("\(server.url)/ok", InternalServers(only: entries)))
            #expect(refused?.contains("internal network") == true)
        }
        for entry in ["", "a b", "10.0.0.0/33", "http://a", "a:80", "[::1]", "a/b", "u@a"] {
            #expect(throws: InternalServers.InvalidEntry.self) {
                try InternalServers(only: [entry])
            }
        }
    }

    @Test func `a name that leads to a link-local address is not asked there`() {
        let metadata = PeerAddress(bytes: [169, 254, 169, 254])
        let servers = InternalServers.own
        #expect(!servers.admit(metadata, as: "maps.example", for: "maps.example"))
        #expect(servers.admit(metadata, as: "169.254.169.254", for: "169.254.169.254"))
        #expect(!servers.admit(metadata, as: "169.254.169.254", for: "maps.example"))
    }

    @Test(arguments: [
        ("1.1.1.1", PeerAddress.Reach.global), ("172.32.0.1", .global), ("100.128.0.1", .global),
        ("192.169.0.1", .global), ("2a00::1", .global), ("::ffff:1.1.1.1", .global),
        ("64:ff9b::101:101", .global), ("127.255.0.1", .internal), ("10.255.255.255", .internal),
        ("172.16.0.0", .internal), ("100.64.0.1", .internal), ("::1", .internal),
        ("fdff::1", .internal), ("::ffff:10.0.0.1", .internal), ("64:ff9b::7f00:1", .internal),
        ("64:ff9b:1::1", .internal), ("0.1.2.3", .special), ("169.254.0.1", .special),
        ("239.1.1.1", .special), ("::", .special), ("fe80::1", .special), ("febf::1", .special),
        ("fec0::1", .special), ("ff05::1", .special), ("::10.0.0.1", .special),
        ("2001:0:1::1", .special), ("2002:101:101::", .special), ("4000::1", .special),
    ])
    func `an address is reached from where its registry says`(
        _ text: String, _ reach: PeerAddress.Reach
    ) {
        #expect(PeerAddress(text)?.reach == reach)
    }

    @Test func `bytes of redirections count, and https is not left for http`() throws {
        let server = try PlayedServer()
        func asked(_ limit: Int) -> Result<WebResponse, WebError> {
            ask("\(server.url)/to?bytes=900&url=\(server.url)/ok", limit: limit)
        }
        #expect(try asked(1_000).get().status == 200)
        guard case .failure(let error) = asked(910) else {
            Issue.record("910 bytes do not hold 900 and an answer")
            return
        }
        #expect(error.code == .tooLarge)

        var exchange = Exchange(
            WebRequest(url: "https://a.example/", timeout: .seconds(1), byteLimit: 1), until: nil)
        exchange.take(.redirected(status: 302, to: "http://a.example/", byteCount: 0), at: .now)
        #expect(exchange.result.flatMap(refusal) != nil)
        exchange.result = nil
        exchange.take(.redirected(status: 302, to: "https://b.example/", byteCount: 0), at: .now)
        #expect(exchange.result == nil && exchange.url == "https://b.example/")
    }

    @Test func `a proxy that the environment names is not used`() async throws {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, "http://127.0.0.1:1", 1)
            }
            unsafe unsetenv("no_proxy")
            let server = try PlayedServer()
            let result = WebClient().perform([
                WebRequest(url: server.url + "/ok", timeout: .seconds(40), byteLimit: 1_000)
            ])[0]
            #expect(try result.get().status == 200)
        }
    }

    @Test func `the addresses of a host are those that a request would be sent to`() throws {
        let own = WebClient()
        #expect(try own.addresses(of: "127.0.0.1") == ["127.0.0.1"])
        #expect(try own.addresses(of: "LOCALHOST").contains("127.0.0.1"))
        #expect(try own.addresses(of: "169.254.1.1") == ["169.254.1.1"])
        #expect(try own.addresses(of: "::1") == ["::1"])
        for host in ["0x7f.1", "2130706433"] {
            #expect(try own.addresses(of: host) == ["127.0.0.1"])
        }
        let listed = WebClient(try InternalServers(only: ["db.example", "10.1.0.0/16"]))
        #expect(try listed.addresses(of: "10.1.2.3") == ["10.1.2.3"])
        #expect(try listed.addresses(of: "192.0.3.1") == ["192.0.3.1"])
        for host in ["127.0.0.1", "localhost", "10.2.0.1", "169.254.1.1"] {
            let error = #expect(throws: WebError.self) { try listed.addresses(of: host) }
            #expect(error?.code == .refused, "\(host)")
        }
        let error = #expect(throws: WebError.self) { try own.addresses(of: "no.invalid") }
        #expect(error?.code == .unreachable)
    }
}
