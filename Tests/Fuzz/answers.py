# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Reads HTTP answers from a socket, and says what is wrong with one."""

import html.parser
import json
import re
import socket

BYTE_LIMIT = 128 << 20
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Broken(Exception):
    """What came is not HTTP, or nothing came."""


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def kind(self):
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    @property
    def json(self):
        return json.loads(self.body.decode("utf-8"), parse_constant=refuse_constant)

    @property
    def error(self):
        """Esri's error object, if the body is one."""
        if self.kind != "application/json" or b"\"error\"" not in self.body[:4096]:
            return None
        found = self.json
        return found.get("error") if isinstance(found, dict) else None

    @property
    def code(self):
        """The status, or what the error body says instead."""
        error = self.error
        return error["code"] if isinstance(error, dict) and isinstance(error.get("code"), int) else self.status


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON")


class Reader:
    """The answers of one connection, in order."""

    def __init__(self, connection):
        self.connection, self.bytes, self.is_ended = connection, b"", False

    def more(self):
        part = self.connection.recv(1 << 16)
        if not part:
            self.is_ended = True
        self.bytes += part
        if len(self.bytes) > BYTE_LIMIT:
            raise Broken("an answer of more than 128 MiB")
        return bool(part)

    def until(self, mark):
        while mark not in self.bytes:
            if not self.more():
                raise Broken("nothing came" if not self.bytes else "the answer broke off")
        found, _, self.bytes = self.bytes.partition(mark)
        return found

    def take(self, count):
        parts, size = [self.bytes], len(self.bytes)
        while size < count:
            part = self.connection.recv(1 << 18)
            if not part:
                raise Broken("the answer broke off")
            parts.append(part)
            size += len(part)
        everything = b"".join(parts)
        self.bytes = everything[count:]
        return everything[:count]

    def answer(self, method="GET"):
        head = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.[01] (\d{3}) .*", head[0])
        if not match:
            raise Broken(f"no status line: {head[0][:80]!r}")
        headers = {}
        for line in head[1:]:
            name, mark, value = line.partition(":")
            if not mark or not re.fullmatch(r"[A-Za-z0-9-]+", name):
                raise Broken(f"no header: {line[:80]!r}")
            headers[name.lower()] = value.strip()
        status = int(match.group(1))
        if status == 100:
            return self.answer(method)
        if method == "HEAD" or status in (204, 304):
            return Answer(status, headers, b"")
        if headers.get("content-type", "").startswith("text/event-stream"):
            # The first event, or what there is: it has no end.
            try:
                body = self.until(b"\n\n")
            except (Broken, socket.timeout):
                body = self.bytes
            self.is_ended = True
            return Answer(status, headers, body)
        if "content-length" in headers:
            return Answer(status, headers, self.take(int(headers["content-length"])))
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while True:
                size = int(self.until(b"\r\n").split(b";")[0], 16)
                piece = self.take(size)
                self.take(2)
                if not size:
                    return Answer(status, headers, body)
                body += piece
        while self.more():
            pass
        body, self.bytes = self.bytes, b""
        return Answer(status, headers, body)


class Page(html.parser.HTMLParser):
    """A page whose elements are closed in order, and that runs nothing of its readers."""

    def __init__(self):
        super().__init__()
        self.open, self.fault = [], None

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        source = dict(attributes).get("src") or ""
        if tag == "script" and not source.startswith("/pages/") or any(name.startswith("on") for name, _ in attributes):
            self.fault = self.fault or f"<{tag}> runs something"

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.fault = self.fault or f"</{tag}> closes nothing"


def fault(answer, method):
    """What is wrong with an answer whatever was asked, in a few words; None when nothing is."""
    if answer.status >= 500 and answer.status not in (503, 504):
        return f"HTTP status {answer.status}"
    if "x-injected" in answer.headers:
        return "a header out of a parameter"
    if method == "HEAD" or answer.status in (204, 304):
        return "a body where none belongs" if answer.body else None
    kind = answer.kind
    if kind in ("application/json", "application/geo+json", "application/vnd.oai.openapi+json"):
        try:
            found = answer.json
        except (ValueError, RecursionError) as error:
            return f"no JSON: {error}"[:120]
        problem = found.get("error") if isinstance(found, dict) else None
        if isinstance(problem, dict):
            return error_fault(problem.get("code"), problem.get("message"))
        if answer.status >= 400 and isinstance(found, dict):
            return error_fault(answer.status, found.get("description"))
    elif kind == "text/html":
        if "script-src 'self'" not in answer.headers.get("content-security-policy", ""):
            return "a page that may run anything"
        page = Page()
        page.feed(answer.body.decode("utf-8", "replace"))
        page.close()
        if page.open:
            return f"<{page.open[-1]}> is not closed"
        return page.fault
    elif kind == "image/png":
        if not answer.body.startswith(b"\x89PNG\r\n\x1a\n") or answer.body[-8:-4] != b"IEND":
            return "no PNG"
    elif kind == "image/jpeg":
        if not answer.body.startswith(b"\xff\xd8") or not answer.body.endswith(b"\xff\xd9"):
            return "no JPEG"
    return None


def error_fault(code, message):
    if not isinstance(code, int) or not isinstance(message, str) or not message.strip():
        return "an error without code or sentence"
    if code >= 500 and code not in (503, 504):
        return f"error {code}: {message}"[:160]
    if len(message) > 2000:
        return "an error whose sentence has more than 2,000 letters"
    if any(ord(letter) < 0x20 for letter in message):
        return "control characters in a sentence"
    for word in ("Optional(", "Fatal error", ".swift", "SQLITE", "CairnModel."):
        if word in message:
            return f"a sentence that speaks of {word}"
    return None
