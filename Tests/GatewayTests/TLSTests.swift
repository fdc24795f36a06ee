// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

@testable import Gateway

/// TLS as Python's `ssl` sees it from outside, and the files it is spoken with.
@Suite struct TLSTests {
    // The key of `LoopbackCertificate` behind a password, and another pair.
    private static let lockedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhtxL6lPYEFVQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKd9VsJ9kZRnRb05MYwrPXcEgZB8
        q6eCcvd+IFVftzAdW5s1h/Ajds7hbho8Yqh9SX4LwdecvzJ0jy/na1Geuj0Tgi7r
        HWg/0j8wOzj5I5sDeWkE2JQQY3/wmkCoS2UCj8mHd2WPw1B8gc81mG9eoD8y5w8m
        mGCE6zGyDw59MvsIWRqxohnVX3DtqPGfJXpSfmslkLhbW7J/FxoTwChev4PK8DY=
        -----END ENCRYPTED PRIVATE KEY-----

        """
    private static let otherCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBkDCCATagAwIBAgIUbifYbRTnPMNnWFrRPxmAXK47F6YwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyNjE3MzAxMVoYDzIxMjYxMTAy
        MTczMDExWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASA9+rx7dFpzMaiRpmW6+7YXZz92WXFxr9AcibhjnsQCIpnsLFpi/F9
        ByriucsEu5Uu0/BlunuPUgp46q0KKrYio2QwYjAdBgNVHQ4EFgQU7ibvOw8MjQxb
        MNLHkKrW1kLNrHIwHwYDVR0jBBgwFoAU7ibvOw8MjQxbMNLHkKrW1kLNrHIwDwYD
        VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
        IQDjopJzyqmmyWhpBJZp5S2017gybd4pxM9cEbhYIzrDBQIgNH5fNbSOy6n0MDDy
        Z80BggBnY5zuilizX7FXDe9oFWQ=
        -----END CERTIFICATE-----

        """
    private static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs6hpIIZTp3T1j5CH
        yvLwacBflud04uz2T6XI/BwUF5ihRANCAASA9+rx7dFpzMaiRpmW6+7YXZz92WXF
        xr9AcibhjnsQCIpnsLFpi/F9ByriucsEu5Uu0/BlunuPUgp46q0KKrYi
        -----END PRIVATE KEY-----

        """

    /// Files of these texts, which go with `site`.
    private func files(
        in site: TestSite, certificate: String = LoopbackCertificate.chain,
        key: String = LoopbackCertificate.key
    ) throws -> TLSFiles {
        let files = TLSFiles(
            certificate: site.path + "/chain.pem", key: site.path + "/key.pem")
        try certificate.write(toFile: files.certificate, atomically: false, encoding: .utf8)
        try key.write(toFile: files.key, atomically: false, encoding: .utf8)
        return files
    }

    @Test func `files that do not fit are refused by name`() throws {
        let site = try TestSite()
        _ = try files(in: site).context()

        func reason(_ files: TLSFiles) -> String {
            do throws(Failure) {
                _ = try files.context()
                return "taken"
            } catch {
                #expect(error.code == .unreadable)
                return error.message.replacing(site.path + "/", with: "")
            }
        }
        let chain = "'chain.pem' cannot be read as a certificate chain in PEM"
        let key = "'key.pem' cannot be read as a private key in PEM without a password"
        #expect(reason(try files(in: site, certificate: "")).hasPrefix(chain))
        #expect(reason(try files(in: site, certificate: LoopbackCertificate.key)).hasPrefix(chain))
        #expect(
            reason(try files(in: site, certificate: String(LoopbackCertificate.chain.dropLast(90))))
                .hasPrefix(chain))
        for text in [
            "", LoopbackCertificate.chain, String(LoopbackCertificate.key.dropLast(60)),
            Self.lockedKey,
        ] {
            #expect(reason(try files(in: site, key: text)).hasPrefix(key))
        }
        #expect(
            reason(try files(in: site, key: Self.otherKey))
                == "the key 'key.pem' does not belong to the first certificate of 'chain.pem'")
        var missing = try files(in: site)
        missing.certificate += "x"
        #expect(
            reason(missing)
                == "'chain.pemx' cannot be read as a certificate chain in PEM (No such file or directory)"
        )
        missing = try files(in: site)
        missing.key = site.path
        #expect(reason(missing).contains("cannot be read as a private key"))
    }

    /// Each sentence is one that `script` has found to be so.
    @Test(.slow) func `clients of every kind are served, and what is not TLS is let go of`()
        async throws
    {
        let files = try TestSite()
        let tls = try self.files(in: files)
        let site = SimulatedSite(map: try Samples.map())
        let answer = Self.largeAnswer()
        site.change { $0.identify = .success(answer) }

        try await Served.serving(
            site,
            {
                $0.tls = tls
                $0.arrivalTimeout = .seconds(8)
            }
        ) { port in
            let said = try Self.run(
                Self.script, ["\(port)", tls.certificate, ConnectionTests.url])
            #expect(
                said == [
                    "TLSv1.3, http/1.1: 200 and 200 on one connection",
                    "TLSv1.2, http/1.1: 200 and 200 on one connection",
                    "TLSv1.3, None: 200 and 200 on one connection",
                    "TLS 1.1: tlsv1 alert protocol version",
                    "plain HTTP: closed without an answer",
                    "six megabytes: whole",
                    "six megabytes, read slowly: the same",
                    "a client that leaves in the middle: the next is served",
                    "a byte to a record: 200",
                    "a client that sends no more: 200, then closed",
                    "an altered record: closed without an answer",
                    "the connection's end in the middle of a body: closed without an answer",
                    "no handshake: closed",
                    "half a handshake: closed",
                ])
        }
    }

    @Test func `a new certificate is shown without a restart, once both files fit`() async throws {
        let (old, new) = (try TestSite(), try TestSite())
        let tls = try files(in: old)
        let replacement = try files(
            in: new, certificate: Self.otherCertificate, key: Self.otherKey)
        let site = SimulatedSite(map: try Samples.map())
        try await Served.serving(
            site,
            {
                $0.tls = tls
                $0.certificateInterval = .zero
            }
        ) { port in
            let said = try Self.run(
                Self.renewal,
                [
                    "\(port)", tls.certificate, tls.key, replacement.certificate, replacement.key,
                ])
            #expect(
                said == [
                    "first", "first while the key is the old one", "second", "second",
                    "200 on the connection from before", "second after nonsense",
                ])
        }
    }

    /// The lines that a program of Python prints.
    private static func run(_ script: String, _ arguments: [String]) throws -> [Substring] {
        let client = Process()
        client.executableURL = URL(filePath: "/usr/bin/env")
        client.arguments = ["python3", "-c", script] + arguments
        let output = Pipe()
        client.standardOutput = output
        try client.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        client.waitUntilExit()
        #expect(client.terminationStatus == 0)
        return String(decoding: said, as: UTF8.self).split(separator: "\n")
    }

    private static let renewal = #"""
        import shutil, socket, ssl, sys

        port, (chain, key, new_chain, new_key) = int(sys.argv[1]), sys.argv[2:6]
        known = {ssl.PEM_cert_to_DER_cert(open(path).read()): name
                 for path, name in ((chain, 'first'), (new_chain, 'second'))}


        def connected():
            context = ssl._create_unverified_context()
            made = context.wrap_socket(socket.create_connection(('127.0.0.1', port), 60))
            return made, known[made.getpeercert(binary_form=True)]


        held, name = connected()
        print(name)
        shutil.copyfile(new_chain, chain)
        print(connected()[1], 'while the key is the old one')
        shutil.copyfile(new_key, key)
        print(connected()[1])
        print(connected()[1])
        held.sendall(b'GET /arcgis/rest/info?f=json HTTP/1.1\r\nHost: localhost\r\n\r\n')
        print(held.recv(65536).split()[1].decode(), 'on the connection from before')
        open(chain, 'w').write('nonsense')
        print(connected()[1], 'after nonsense')
        """#

    /// Six features, each with a text of a megabyte.
    private static func largeAnswer() -> IdentifyAnswer {
        var answer = Samples.answer(geometry: nil)
        answer.layers[0].results[0].attributes = Attributes([
            .init(name: "Text", value: .string(String(repeating: "x", count: 1 << 20)))
        ])
        answer.layers[0].results = Array(repeating: answer.layers[0].results[0], count: 6)
        return answer
    }

    private static let script = #"""
        import json, re, socket, ssl, sys

        port, certificate, url = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        request = b'GET /arcgis/rest/info?f=json HTTP/1.1\r\nHost: localhost\r\n\r\n'
        large = b'GET ' + url.encode() + b' HTTP/1.1\r\nHost: localhost\r\n\r\n'


        def context(newest=None, protocols=('h2', 'http/1.1')):
            made = ssl.create_default_context(cafile=certificate)
            made.set_alpn_protocols(list(protocols))
            if newest:
                made.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
                made.set_ciphers('DEFAULT:@SECLEVEL=0')
                made.maximum_version = newest
            return made


        def plain(receive_buffer=None):
            made = socket.socket()
            made.settimeout(60)
            if receive_buffer:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            made.connect(('127.0.0.1', port))
            return made


        def secure(made=None, **more):
            return context(**more).wrap_socket(made or plain(), server_hostname='127.0.0.1')


        def answer(receive, piece=65536):
            data = b''
            while b'\r\n\r\n' not in data:
                more = receive(piece)
                if not more:
                    return None, data
                data += more
            head, body = data.split(b'\r\n\r\n', 1)
            length = int(re.search(rb'(?i)content-length: (\d+)', head).group(1))
            parts = [body]
            count = len(body)
            while count < length:
                parts.append(receive(piece))
                if not parts[-1]:
                    break
                count += len(parts[-1])
            return int(head.split()[1]), b''.join(parts)


        def rest(sock):
            data = b''
            try:
                while True:
                    more = sock.recv(65536)
                    if not more:
                        return data
                    data += more
            except (ConnectionResetError, ssl.SSLError):
                return data


        class Apart:
            """A client whose TLS and whose socket are apart, so that what is sent can be altered."""

            def __init__(self):
                self.sock, self.into, self.out = plain(), ssl.MemoryBIO(), ssl.MemoryBIO()
                self.tls = context().wrap_bio(self.into, self.out, server_hostname='127.0.0.1')
                while True:
                    try:
                        self.tls.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        self.sock.sendall(self.out.read())
                        self.into.write(self.sock.recv(65536))
                self.sock.sendall(self.out.read())

            def recv(self, count):
                while True:
                    try:
                        return self.tls.read(count)
                    except ssl.SSLWantReadError:
                        more = self.sock.recv(65536)
                        if not more:
                            return b''
                        self.into.write(more)
                    except ssl.SSLError:
                        return b''


        silent = plain()
        half = plain()
        hello = ssl.MemoryBIO()
        try:
            context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname='127.0.0.1').do_handshake()
        except ssl.SSLWantReadError:
            half.sendall(hello.read()[:100])

        for more in ({}, {'newest': ssl.TLSVersion.TLSv1_2}, {'protocols': ('h2',)}):
            with secure(**more) as sock:
                statuses = []
                for _ in range(2):
                    sock.sendall(request)
                    statuses.append(answer(sock.recv)[0])
                print(f'{sock.version()}, {sock.selected_alpn_protocol()}: '
                      f'{statuses[0]} and {statuses[1]} on one connection')

        try:
            secure(newest=ssl.TLSVersion.TLSv1_1)
            print('TLS 1.1: taken')
        except ssl.SSLError as error:
            print('TLS 1.1:', error.reason.lower().replace('_', ' '))

        with plain() as sock:
            sock.sendall(request)
            print('plain HTTP: closed', 'with' if b'HTTP/1' in rest(sock) else 'without', 'an answer')

        with secure() as sock:
            sock.sendall(large)
            whole = answer(sock.recv)[1]
        texts = [found['attributes']['Text'] for found in json.loads(whole)['results']]
        print('six megabytes:', 'whole' if texts == ['x' * (1 << 20)] * 6 else len(whole))
        with secure(plain(receive_buffer=4096)) as sock:
            sock.sendall(large)
            print('six megabytes, read slowly:',
                  'the same' if answer(sock.recv, 3001)[1] == whole else 'another')

        leaving = secure(plain(receive_buffer=4096))
        leaving.sendall(large)
        leaving.recv(1000)
        leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        leaving.close()
        with secure() as sock:
            sock.sendall(request)
            served = answer(sock.recv)[0] == 200
        print('a client that leaves in the middle:', 'the next is served' if served else 'the last')

        with secure() as sock:
            for index in range(len(request)):
                sock.sendall(request[index:index + 1])
            print('a byte to a record:', answer(sock.recv)[0])

        apart = Apart()
        apart.tls.write(request)
        try:
            apart.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        apart.sock.sendall(apart.out.read())
        status = answer(apart.recv)[0]
        print(f'a client that sends no more: {status}, then', apart.recv(1).decode() or 'closed')

        apart = Apart()
        apart.tls.write(request)
        record = bytearray(apart.out.read())
        record[20] ^= 1
        apart.sock.sendall(record)
        print('an altered record: closed', 'with' if apart.recv(1) else 'without', 'an answer')

        apart = Apart()
        apart.tls.write(b'POST /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n'
                        b'Content-Type: application/x-www-form-urlencoded\r\n\r\nf=j')
        apart.sock.sendall(apart.out.read())
        apart.sock.shutdown(socket.SHUT_WR)
        status = answer(apart.recv)[0]
        print('the connection\'s end in the middle of a body: closed',
              'without an answer' if status != 200 else 'with one')

        for name, sock in (('no', silent), ('half a', half)):
            print(f'{name} handshake:', 'closed' if b'HTTP' not in rest(sock) else 'answered')
        """#
}
