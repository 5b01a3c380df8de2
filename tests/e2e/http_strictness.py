#!/usr/bin/env python3
"""Malformed and ambiguous requests, each named by the section and rule of RFC 9112 or RFC 9110 that it breaks or uses,
with the answers that it must get: no more and no fewer than listed, none of 5xx, in time, and the connection closed
wherever the end of the request is in doubt. Each is sent twice: in one piece, and in small ones.

http_strictness.py [--only NAME] [--list]
"""
import argparse
import json
import re
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from daemon import ROOT, Daemon, check, run

EVENT = json.dumps({"$schema": "/library/loan/1.1.0", "meta": {"stream": "library.loan"}, "action": "lend",
                    "book": {"isbn": "9780141439518"}, "reader_id": "r-1"}).encode()
# What an attacker hides behind another request; an answer to it shows that it was taken for one.
HIDDEN = b"GET /_info/version HTTP/1.1\r\nHost: h\r\n\r\n"
LAST = b"GET /_info/name HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

MAX_URI = 2048
MAX_HEADERS = 64
MAX_HEADER_BYTES = 8192
SETTINGS = {"output": "discard", "schema_base_uris": [str(ROOT / "config/schemas")], "logging.level": "error",
            "limits.max_uri_bytes": MAX_URI, "limits.max_headers": MAX_HEADERS,
            "limits.max_header_bytes": MAX_HEADER_BYTES, "limits.header_timeout": 500, "limits.body_timeout": 500,
            "max_body_size": 100000}
HANG_SECONDS = 10


@dataclass
class Case:
    section: str
    rule: str
    raw: bytes
    answers: list  # statuses in order
    stays: object  # whether the connection can be used again; None: where the body has come by then
    events: int  # that were taken


CASES = []


def case(section, rule, raw, *answers, stays=False, events=0):
    CASES.append(Case(section, rule, raw, list(answers), stays, events))


def good(section, rule, raw, *answers, events=0):
    case(section, rule, raw, *answers, stays=True, events=events)


def early(section, rule, raw, *answers):
    """Answered without its body: the connection stays only if that is here already."""
    case(section, rule, raw, *answers, stays=None)


def get(fields=b"", target=b"/_info/name", version=b"HTTP/1.1", method=b"GET", host=b"Host: h\r\n"):
    return method + b" " + target + b" " + version + b"\r\n" + host + fields + b"\r\n"


def post(fields, body=b"", target=b"/v1/events", version=b"HTTP/1.1", host=b"Host: h\r\n"):
    return (b"POST " + target + b" " + version + b"\r\n" + host + b"Content-Type: application/json\r\n" + fields +
            b"\r\n" + body)


def sized(body=EVENT):
    return b"Content-Length: %d\r\n" % len(body)


CHUNKED = b"Transfer-Encoding: chunked\r\n"


def chunk(body, extension=b""):
    return b"%x" % len(body) + extension + b"\r\n" + body + b"\r\n"


END = b"0\r\n\r\n"
WHOLE = chunk(EVENT) + END


def request_lines():
    """RFC 9112 section 2 and 3: framing of the head, request line, target, Host."""
    good("9112 2.2", "empty lines before the request line are skipped", b"\r\n\r\n" + get(), 200)
    case("9112 2.2", "but not without end", b"\r\n" * 50 + get(), 400)
    case("9112 2.2", "a line feed alone before the request line is none of them", b"\n" + get(), 400)
    case("9112 2.2", "lines end with CR LF, not LF", get().replace(b"\r\n", b"\n"), 400)
    case("9112 2.2", "the request line too", get().replace(b"HTTP/1.1\r\n", b"HTTP/1.1\n"), 400)
    case("9112 2.2", "one field line too", get(b"A: b\nC: d\r\n"), 400)
    case("9112 2.2", "the empty line too", get()[:-2] + b"\n" + HIDDEN, 400)
    case("9112 2.2", "no bare CR in a field value", get(b"A: b\rC: d\r\n"), 400)
    case("9112 2.2", "no bare CR in the request line", get(target=b"/\r"), 400)
    case("9112 2.2", "no bare CR at the end of a line", get(b"A: b\r\r\n"), 400)
    case("9112 2.2", "no white space before the first field", b"GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400)
    case("9112 2.2", "no tab before the first field", b"GET / HTTP/1.1\r\n\tHost: h\r\n\r\n", 400)
    case("9112 2.2", "a request is ASCII text: TLS is answered at once", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
         400)
    case("9112 2.2", "binary text is answered at once", b"\x00\x01\x02\x03", 400)
    case("9112 2.3", "HTTP/0.9 has no version", b"GET /_info/name\r\n", 400)
    case("9112 2.3", "HTTP/0.9 with an empty line", b"GET /_info/name\r\n\r\n", 400)
    case("9112 2.3", "HTTP/0.9 by name", get(version=b"HTTP/0.9"), 400)
    case("9112 2.3", "HTTP/1.0 closes", get(version=b"HTTP/1.0"), 200)
    case("9112 2.3", "HTTP/1.0 needs no Host", get(version=b"HTTP/1.0", host=b""), 200)
    case("9112 2.3", "HTTP/1.2 does not exist", get(version=b"HTTP/1.2"), 400)
    case("9112 2.3", "HTTP/2.0 is not spoken in text", get(version=b"HTTP/2.0"), 400)
    case("9112 2.3", "the name is upper case", get(version=b"http/1.1"), 400)
    case("9112 2.3", "mixed case neither", get(version=b"Http/1.1"), 400)
    case("9112 2.3", "one digit on each side", get(version=b"HTTP/1.10"), 400)
    case("9112 2.3", "no leading zero", get(version=b"HTTP/01.1"), 400)
    case("9112 2.3", "a dot between them", get(version=b"HTTP/1"), 400)
    case("9112 2.3", "another protocol", get(version=b"RTSP/1.1"), 400)
    case("9112 2.3", "nothing behind the version", get(version=b"HTTP/1.1 "), 400)
    case("9112 2.3", "no words behind the version", get(version=b"HTTP/1.1 x"), 400)
    case("9113 3.4", "the preface of HTTP/2 is one request, and refused", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400)
    case("9112 3", "one space between the parts", b"GET  /_info/name HTTP/1.1\r\nHost: h\r\n\r\n", 400)
    case("9112 3", "one space before the version", b"GET /_info/name  HTTP/1.1\r\nHost: h\r\n\r\n", 400)
    case("9112 3", "no tab between the parts", b"GET\t/_info/name\tHTTP/1.1\r\nHost: h\r\n\r\n", 400)
    case("9112 3", "no space before the method", b" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400)
    case("9112 3", "a method and nothing else", b"GET\r\n\r\n", 400)
    case("9112 3", "a target and no method", b"/_info/name HTTP/1.1\r\nHost: h\r\n\r\n", 400)
    case("9112 3.1", "a method is a token", get(method=b"GE(T"), 400)
    case("9112 3.1", "not empty", b" / HTTP/1.1\r\nHost: h\r\n\r\n", 400)
    case("9112 3.1", "without control characters", get(method=b"GE\x00T"), 400)
    good("9110 9.1", "methods have a case", get(method=b"get"), 405)
    good("9110 9.1", "an unknown method is not allowed", get(method=b"BREW"), 405)
    case("9112 3", "a method without end is too much", b"A" * 20000, 414)
    case("9112 3.2", "no white space in the target", get(target=b"/a b"), 400)
    case("9112 3.2", "no control character in the target", get(target=b"/a\x01b"), 400)
    case("9112 3.2", "no NUL in the target", get(target=b"/a\x00b"), 400)
    case("9112 3.2", "no fragment in the target", get(target=b"/_info/name#x"), 400)
    case("9112 3.2", "a path begins with a slash", get(target=b"_info/name"), 400)
    case("9110 4.1", "a target above the limit", get(target=b"/" + b"a" * MAX_URI), 414)
    good("9110 4.1", "a target at the limit", get(target=b"/" + b"a" * (MAX_URI - 1)), 404)
    case("9110 4.1", "a target without end", b"GET /" + b"a" * 20000, 414)
    case("9110 4.1", "a query above the limit", get(target=b"/?" + b"a=1&" * MAX_URI), 414)
    early("3986 2.1", "a path is compared as sent: an escape is no other spelling of it",
         post(sized(), EVENT, target=b"/v1%2Fevents"), 404)
    good("3986 2.1", "a broken escape in a path names nothing", get(target=b"/_info/%zz"), 404)
    good("3986 2.1", "an escape that is cut off", get(target=b"/_info/name%4"), 404)
    good("3986 2.1", "an escaped NUL", get(target=b"/_info/name%00"), 404)
    good("3986 2.1", "a broken escape in a query stands for itself", get(target=b"/_info/name?a=%zz&%"), 200)
    good("3986 2.1", "bytes above 127 name nothing", get(target=b"/\xff\xfe"), 404)
    good("3986 6.2.2", "dot segments are not followed", get(target=b"/v1/../_info/name"), 404)
    good("3986 6.2.2", "escaped dot segments neither", get(target=b"/v1/%2e%2e/_info/name"), 404)
    good("3986 3.3", "an empty segment counts", get(target=b"//_info/name"), 404)
    good("3986 3.3", "a backslash is no slash", get(target=b"/_info\\name"), 404)
    good("9112 3.2.2", "the absolute form is taken", get(target=b"http://other/_info/name"), 200)
    good("9112 3.2.2", "of https too, scheme in any case", get(target=b"HTTPS://other:443/_info/name"), 200)
    case("9112 3.2.2", "of no other scheme", get(target=b"ftp://h/_info/name"), 400)
    case("9110 4.2.1", "an empty host is invalid", get(target=b"http:///_info/name"), 400)
    case("9110 4.2.4", "no user in it", get(target=b"http://user@h/_info/name"), 400)
    case("9112 3.2.2", "still needs a Host", get(target=b"http://h/_info/name", host=b""), 400)
    case("9112 3.2.3", "the authority form is CONNECT's", get(target=b"h:80"), 400)
    case("9112 3.2.3", "CONNECT is not served, and what follows is no request", get(target=b"h:80", method=b"CONNECT") +
         HIDDEN, 405)
    case("9112 3.2.3", "CONNECT has no other form", get(method=b"CONNECT"), 400)
    good("9112 3.2.4", "the asterisk is for OPTIONS", get(target=b"*", method=b"OPTIONS"), 200)
    case("9112 3.2.4", "not for GET", get(target=b"*"), 400)
    case("9112 3.2", "a Host is needed", get(host=b""), 400)
    case("9112 3.2", "only one Host", get(b"Host: h\r\n"), 400)
    case("9112 3.2", "nor two different ones", get(b"host: other\r\n"), 400)
    case("9110 7.2", "a list of hosts is none", get(host=b"Host: a, b\r\n"), 400)
    case("9110 7.2", "a URL is none", get(host=b"Host: http://h/\r\n"), 400)
    case("9110 7.2", "no path in it", get(host=b"Host: h/x\r\n"), 400)
    case("9110 7.2", "no user in it", get(host=b"Host: u@h\r\n"), 400)
    case("9110 7.2", "a port is a number", get(host=b"Host: h:http\r\n"), 400)
    case("9110 7.2", "an address in brackets is closed", get(host=b"Host: [::1\r\n"), 400)
    case("9110 7.2", "no white space in it", get(host=b"Host: a b\r\n"), 400)
    good("9110 7.2", "an address in brackets is a host", get(host=b"Host: [::1]:8888\r\n"), 200)
    good("9112 3.2", "an empty Host is one", get(host=b"Host:\r\n"), 200)
    case("9112 3.2", "two requests of HTTP/1.0 agree neither", get(b"Host: h\r\nHost: i\r\n", version=b"HTTP/1.0"), 400)


def fields():
    """RFC 9112 section 5, RFC 9110 section 5: field lines."""
    case("9112 5.1", "no white space before the colon", get(b"A : b\r\n"), 400)
    case("9112 5.1", "no tab before the colon", get(b"A\t: b\r\n"), 400)
    case("9112 5.1", "above all not in Content-Length", post(b"Content-Length : 5\r\n", b"12345" + HIDDEN), 400)
    case("9112 5.1", "nor in Transfer-Encoding", post(b"Transfer-Encoding : chunked\r\n" + sized(), WHOLE + HIDDEN), 400)
    case("9112 5.1", "a name is not empty", get(b": b\r\n"), 400)
    case("9112 5.1", "a line has a colon", get(b"nonsense\r\n"), 400)
    case("9110 5.1", "a name is a token", get(b"A(b): c\r\n"), 400)
    case("9110 5.1", "without NUL", get(b"A\x00: c\r\n"), 400)
    case("9110 5.1", "without bytes above 127", get(b"\xc3\xa4: c\r\n"), 400)
    case("9110 5.5", "no NUL in a value", get(b"A: b\x00c\r\n"), 400)
    case("9110 5.5", "no control character in a value", get(b"A: b\x08c\r\n"), 400)
    case("9110 5.5", "no DEL in a value", get(b"A: b\x7fc\r\n"), 400)
    good("9110 5.5", "a tab and bytes above 127 may stand in a value", get(b"A: b\tc \xff\r\n"), 200)
    good("9110 5.5", "a value may be empty", get(b"A:\r\nB: \t \r\n"), 200)
    case("9112 5.2", "no folded line", get(b"A: b\r\n c\r\n"), 400)
    case("9112 5.2", "not with a tab", get(b"A: b\r\n\tc\r\n"), 400)
    case("9112 5.2", "not behind an empty value", get(b"A:\r\n b\r\n"), 400)
    case("9112 5.2", "not of white space alone", get(b"A: b\r\n \r\n"), 400)
    case("9112 5.2", "above all not in Transfer-Encoding", post(b"Transfer-Encoding:\r\n chunked\r\n", WHOLE + HIDDEN),
         400)
    case("9112 5.2", "nor in Content-Length", post(b"Content-Length:\r\n 5\r\n", b"12345" + HIDDEN), 400)
    case("9110 5.4", "a field above the limit", get(b"A: " + b"b" * MAX_HEADER_BYTES + b"\r\n"), 431)
    case("9110 5.4", "a head without end", get()[:-2] + b"A: " + b"b" * 30000, 431)
    case("9110 5.4", "more fields than the limit", get(b"A: b\r\n" * MAX_HEADERS), 431)
    good("9110 5.4", "as many fields as the limit", get(b"A: b\r\n" * (MAX_HEADERS - 1)), 200)
    case("9110 5.3", "Content-Type says one thing", post(b"Content-Type: text/html\r\n" + sized(), EVENT), 400)
    case("9110 5.3", "Content-Encoding says one thing",
         post(b"Content-Encoding: gzip\r\nContent-Encoding: identity\r\n" + sized(), EVENT), 400)
    good("9110 5.3", "the same Content-Type twice says one thing",
         post(b"Content-Type: application/json\r\n" + sized(), EVENT), 201, events=1)
    case("9110 7.6.1", "Connection is a list of tokens", get(b"Connection: close;x\r\n"), 400)
    case("9112 9.6", "Connection: close in any case and place", get(b"Connection: x, CLOSE\r\n") + HIDDEN, 200)
    case("9112 9.6", "what stands behind a closed request is not read",
         post(b"Connection: close\r\n" + sized(), EVENT + HIDDEN), 201, events=1)
    good("9110 7.8", "an Upgrade to h2c is not taken up",
         post(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n" +
              sized(), EVENT), 201, events=1)
    good("9110 7.8", "an Upgrade to a socket is not taken up",
         get(b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n"), 200)


def lengths():
    """RFC 9112 section 6: where a request ends."""
    five = b"12345"
    for value, rule in ((b"+5", "a sign is no digit"), (b"-5", "nor is minus"), (b"0x5", "no hexadecimal"),
                        (b"5.0", "no fraction"), (b"5e0", "no exponent"), (b"5 5", "no blank in it"),
                        (b"", "not empty"), (b"five", "no word"), (b"5,", "no list"), (b"5, 5", "no list of one number"),
                        (b"5, 6", "no list of two"), (b"\"5\"", "no quotes"), (b"5;", "no parameter"),
                        (b"18446744073709551621", "not above 64 bits"), (b"9" * 100, "far above 64 bits"),
                        (b"\xef\xbc\x95", "digits are ASCII"), (b"\x0b5", "a vertical tab is no white space")):
        case("9110 8.6", "Content-Length: " + rule, post(b"Content-Length: " + value + b"\r\n", five + HIDDEN), 400)
    case("9112 6.3", "two lengths", post(b"Content-Length: 5\r\nContent-Length: 6\r\n", five + HIDDEN), 400)
    case("9112 6.3", "the same length twice", post(b"Content-Length: 5\r\nContent-Length: 5\r\n", five + HIDDEN), 400)
    case("9112 6.3", "two lengths for GET", get(b"Content-Length: 0\r\nContent-Length: 40\r\n") + HIDDEN, 400)
    good("9112 6.3", "leading zeros are digits", post(b"Content-Length: 000%d\r\n" % len(EVENT), EVENT), 201, events=1)
    case("9110 8.6", "a length that nobody sends is not waited for", post(b"Content-Length: 9223372036854775807\r\n"), 413)
    case("9112 6.3", "a body that is shorter than announced", post(b"Content-Length: 500\r\n", EVENT), 408)
    case("9112 6.3", "a head that never ends", get()[:-2], 408)
    good("9112 6.3", "no length is no body", post(b""), 400)
    early("9112 6.3", "the body of a GET is no request", get(b"Content-Length: %d\r\n" % len(HIDDEN)) + HIDDEN, 200)
    early("9112 6.3", "the body of a path that is not there is no request",
         post(b"Content-Length: %d\r\n" % len(HIDDEN), HIDDEN, target=b"/nowhere"), 404)
    early("9112 6.3", "the body of a method that is not allowed is no request",
         get(b"Content-Length: %d\r\n" % len(HIDDEN), method=b"DELETE") + HIDDEN, 405)
    case("9112 6.3", "a length and chunks", post(sized() + CHUNKED, WHOLE + HIDDEN), 400)
    case("9112 6.3", "chunks and a length", post(CHUNKED + sized(), WHOLE + HIDDEN), 400)
    case("9112 6.3", "chunks and a length of nothing", post(CHUNKED + b"Content-Length: 0\r\n", WHOLE + HIDDEN), 400)
    case("9112 6.3", "a length of 4 and chunks (CL.TE)",
         post(b"Content-Length: 4\r\n" + CHUNKED, b"5c\r\n" + HIDDEN + b"\r\n0\r\n\r\n"), 400)
    case("9112 6.3", "chunks and a long length (TE.CL)",
         post(CHUNKED + b"Content-Length: %d\r\n" % (len(END) + len(HIDDEN)), END + HIDDEN), 400)
    for value, rule in ((b"gzip", "an unknown coding alone"), (b"gzip, chunked", "an unknown coding before it"),
                        (b"chunked, gzip", "chunked not last"), (b"chunked, chunked", "chunked twice"),
                        (b"identity", "identity"), (b"chunked, identity", "identity behind it"),
                        (b"xchunked", "another name"), (b"chunkedx", "a longer name"), (b"\"chunked\"", "quotes"),
                        (b"chunked;q=1", "a parameter"), (b"", "nothing"), (b", chunked", "an empty element"),
                        (b"chunked,", "an empty element behind"), (b"\x0bchunked", "a vertical tab"),
                        (b"chunked\x00", "a NUL"), (b"\x0cchunked", "a form feed"), (b"chunk ed", "a blank in it"),
                        (b"\xc4\x8bhunked", "letters that look alike"), (b"cow", "nonsense")):
        case("9112 6.1", "Transfer-Encoding: " + rule, post(b"Transfer-Encoding: " + value + b"\r\n", WHOLE + HIDDEN), 400)
    case("9112 6.1", "Transfer-Encoding twice", post(CHUNKED + CHUNKED, WHOLE + HIDDEN), 400)
    case("9112 6.1", "Transfer-Encoding twice, once obfuscated (TE.TE)",
         post(CHUNKED + b"Transfer-encoding: cow\r\n", WHOLE + HIDDEN), 400)
    case("9112 6.1", "Transfer-Encoding in HTTP/1.0", post(CHUNKED, WHOLE + HIDDEN, version=b"HTTP/1.0"), 400)
    good("9112 6.1", "codings have no case", post(b"TRANSFER-ENCODING: \tChunked \r\n", WHOLE), 201, events=1)
    good("9110 5.1", "Transfer_Encoding is another field", post(b"Transfer_Encoding: chunked\r\n" + sized(), EVENT), 201,
         events=1)
    case("9112 6.1", "chunks of a GET are no request", get(CHUNKED) + chunk(HIDDEN) + END, 200)


def chunks():
    """RFC 9112 section 7: the chunked coding."""
    half = len(EVENT) // 2
    good("9112 7.1", "chunks, in order", post(CHUNKED, chunk(EVENT[:half]) + chunk(EVENT[half:]) + END), 201, events=1)
    good("9112 7.1", "leading zeros of a size", post(CHUNKED, b"00000" + WHOLE), 201, events=1)
    good("9112 7.1", "several zeros for the last one", post(CHUNKED, chunk(EVENT) + b"000\r\n\r\n"), 201, events=1)
    size = b"%x" % len(EVENT)
    for text, rule in ((b"0x" + size, "no prefix"), (b"+" + size, "no sign"), (b"-" + size, "no minus"), (b"", "not empty"),
                       (b" " + size, "no blank before it"), (size + b" ", "no blank behind it"), (b"g", "only hexadecimal"),
                       (size + b".0", "no fraction"), (b"fffffffffffffffff", "not above 64 bits"),
                       (b"10000000000000000" + size, "no overflow to the right size"), (b"\"" + size + b"\"", "no quotes"),
                       (b"\xef\xbc\x95", "digits are ASCII"), (size + b"\x00", "no NUL behind it")):
        case("9112 7.1", "chunk size: " + rule, post(CHUNKED, text + b"\r\n" + EVENT + b"\r\n" + END + HIDDEN), 400)
    case("9112 7.1", "a size above max_body_size", post(CHUNKED, b"fffffff\r\n" + b"x" * 200000), 413)
    case("9112 7.1", "a size line ends with CR LF", post(CHUNKED, size + b"\n" + EVENT + b"\r\n" + END + HIDDEN), 400)
    case("9112 7.1", "not with CR alone", post(CHUNKED, size + b"\r" + EVENT + b"\r\n" + END + HIDDEN), 400)
    case("9112 7.1", "data ends with CR LF", post(CHUNKED, size + b"\r\n" + EVENT + b"\n" + END + HIDDEN), 400)
    case("9112 7.1", "not with two other bytes", post(CHUNKED, size + b"\r\n" + EVENT + b"XX" + END + HIDDEN), 400)
    case("9112 7.1", "not at once with the next size", post(CHUNKED, size + b"\r\n" + EVENT + END + HIDDEN), 400)
    case("9112 7.1", "data longer than its size", post(CHUNKED, b"5\r\n" + EVENT + b"\r\n" + END + HIDDEN), 400)
    case("9112 7.1", "a last chunk in the middle ends the body",
         post(CHUNKED, chunk(EVENT) + END + chunk(EVENT) + END), 201, 400, events=1)
    case("9112 7.1", "the last chunk never comes", post(CHUNKED, chunk(EVENT)), 408)
    case("9112 7.1", "the empty line behind it never comes", post(CHUNKED, chunk(EVENT) + b"0\r\n"), 408)
    case("9112 7.1", "the last chunk ends with CR LF too", post(CHUNKED, chunk(EVENT) + b"0\n\n" + HIDDEN), 400)
    good("9112 7.1.1", "extensions are skipped", post(CHUNKED, chunk(EVENT, b";a;b=c;d=\"e;f\"") + END), 201, events=1)
    for text, rule in ((b";", "has a name"), (b";=b", "its name is not empty"), (b";a=", "its value is not empty"),
                       (b";a=\"b", "its quotes are closed"), (b"x", "begins with a semicolon"),
                       (b";a=b\nc", "no bare LF"), (b";a=\"b\nc\"", "no bare LF in quotes"), (b";a=\"b\rc\"", "no bare CR"),
                       (b";a=\"b\x00c\"", "no NUL in quotes"), (b";\n", "no bare LF for a name")):
        case("9112 7.1.1", "extension: " + rule, post(CHUNKED, chunk(EVENT, text) + END + HIDDEN), 400)
    case("9112 7.1.1", "an extension of the last chunk with a bare LF",
         post(CHUNKED, chunk(EVENT) + b"0;a=\"\n\"\r\n\r\n" + HIDDEN), 400)
    case("9112 7.1.1", "an extension without end", post(CHUNKED, b"5;a=" + b"b" * 60000), 400)
    good("9112 7.1.2", "trailers are dropped", post(CHUNKED, chunk(EVENT) + b"0\r\nA: b\r\nHost: x\r\n\r\n"), 201, events=1)
    case("9110 6.5.1", "no length in the trailers", post(CHUNKED, chunk(EVENT) + b"0\r\nContent-Length: 40\r\n\r\n" + HIDDEN),
         400)
    case("9110 6.5.1", "no coding in the trailers", post(CHUNKED, chunk(EVENT) + b"0\r\n" + CHUNKED + b"\r\n" + HIDDEN), 400)
    case("9112 7.1.2", "a trailer has a colon", post(CHUNKED, chunk(EVENT) + b"0\r\nnonsense\r\n\r\n" + HIDDEN), 400)
    case("9112 7.1.2", "a trailer ends with CR LF", post(CHUNKED, chunk(EVENT) + b"0\r\nA: b\nC: d\r\n\r\n" + HIDDEN), 400)
    case("9112 7.1.2", "a trailer's name has no blank behind it", post(CHUNKED, chunk(EVENT) + b"0\r\nA : b\r\n\r\n"), 400)
    case("9112 7.1.2", "trailers without end", post(CHUNKED, chunk(EVENT) + b"0\r\nA: " + b"b" * 60000), 400)
    good("9112 7.1", "no chunk but the last is an empty body", post(CHUNKED, END), 400)


def rest():
    """RFC 9110 10.1.1 and 8, RFC 9112 9: Expect, content, pipelines."""
    early("9110 10.1.1", "an unknown expectation cannot be met", post(b"Expect: 200-ok\r\n" + sized(), EVENT), 417)
    early("9110 10.1.1", "nor one among others", post(b"Expect: 100-continue, x\r\n" + sized(), EVENT), 417)
    case("9110 10.1.1", "two expectations", post(b"Expect: 100-continue\r\nExpect: x\r\n" + sized(), EVENT), 400)
    good("9110 10.1.1", "no interim answer for a body that is there already",
         post(b"Expect: 100-Continue\r\n" + sized(), EVENT), 201, events=1)
    case("9110 10.1.1", "a body that will be refused is not asked for",
         post(b"Expect: 100-continue\r\nContent-Length: 200000\r\n"), 413)
    case("9110 10.1.1", "none for HTTP/1.0", post(b"Expect: 100-continue\r\n" + sized(), EVENT, version=b"HTTP/1.0"), 201,
         events=1)
    early("9110 8.4", "an unknown content coding", post(b"Content-Encoding: cow\r\n" + sized(), EVENT), 415)
    early("9110 8.4", "two content codings", post(b"Content-Encoding: gzip, gzip\r\n" + sized(), EVENT), 415)
    good("9110 8.4.1", "gzip that is none", post(b"Content-Encoding: gzip\r\n" + sized(), EVENT), 400)
    early("9110 8.3", "no media type that is read", post(sized(), EVENT).replace(b"application/json", b"a/b"), 415)
    good("9112 9.3.2", "two requests in one piece, answered in order", get() + post(sized(), EVENT), 200, 201, events=1)
    good("9112 9.3.2", "events behind chunks", post(CHUNKED, WHOLE) + post(sized(), EVENT), 201, 201, events=2)
    case("9112 9.3.2", "a broken request behind a good one", post(sized(), EVENT) + b"GARBAGE\r\n\r\n" + HIDDEN, 201, 400,
         events=1)
    good("9112 2.2", "a client's extra CR LF behind a body is skipped", post(sized(), EVENT) + b"\r\n" + get(), 201, 200,
         events=1)
    case("9112 9.3.2", "a request in a body that is cut short stays a body",
         post(b"Content-Length: %d\r\n" % (len(HIDDEN) + 5), HIDDEN), 408)
    good("9110 9.3.2", "HEAD has no body", get(method=b"HEAD"), 200)
    good("9110 9.3.8", "TRACE tells nothing", get(method=b"TRACE"), 405)
    good("9110 9.3.7", "OPTIONS of a path", get(method=b"OPTIONS"), 200)


def read_answers(data, heads):
    """(status, fields, body) of each answer in `data`; `heads` says which are answers to HEAD."""
    answers = []
    while data:
        head, separator, rest = data.partition(b"\r\n\r\n")
        check(separator, f"an answer breaks off: {data[:200]!r}")
        lines = head.decode("latin-1").split("\r\n")
        match = re.match(r"HTTP/1\.1 (\d{3}) ", lines[0])
        check(match, f"no status line: {lines[0]!r}")
        status = int(match.group(1))
        fields_ = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = 0 if status < 200 or heads[:1] == [True] else int(fields_["content-length"])
        heads = heads[1:]
        check(len(rest) >= length, "a body breaks off")
        answers.append((status, fields_, rest[:length]))
        data = rest[length:]
    return answers


def send(connection, raw, step):
    try:
        if step == 0:
            connection.sendall(raw)
        else:
            for at in range(0, len(raw), step):
                connection.sendall(raw[at:at + step])
    except OSError:
        pass  # it was answered and closed before the end of it


def answers_of(where, one, step):
    """What the daemon sends until it closes."""
    raw = one.raw + (b"" if one.stays is False else LAST)
    with socket.create_connection(where, timeout=HANG_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        send(connection, raw, step)
        data = b""
        while True:
            try:
                piece = connection.recv(65536)
            except socket.timeout:
                check(False, f"hangs; so far {data[:200]!r}")
            if not piece:
                return read_answers(data, [raw.startswith(b"HEAD ")])
            data += piece


def verdict(where, one, step):
    """None if all is well, else what is not."""
    try:
        answers = answers_of(where, one, step)
        statuses = [status for status, _, _ in answers]
        wanted = [one.answers] if one.stays is False else [one.answers + [200]]
        if one.stays is None and step > 0:
            wanted.append(one.answers)
        check(statuses in wanted, f"answered {statuses}, should be {wanted[0]}")
        check(answers[-1][1].get("connection") == "close", "the last answer does not say that it closes")
        for status, fields_, body in answers:
            if "json" in fields_.get("content-type", "") and body:
                json.loads(body.decode("utf-8"))
    except Exception as error:  # whatever it is, the report names the case
        return f"{one.section} {one.rule} ({'in one piece' if step == 0 else f'by {step} bytes'}): {error}"
    return None


def metric(sluice, name):
    text = sluice.request("GET", "/metrics", admin=True)[2].decode()
    return int(float(re.search(rf"^{name} (\S+)$", text, re.M).group(1)))


def driver_for(only):
    def driver(folder):
        chosen = [one for one in CASES if only in f"{one.section} {one.rule}"]
        with Daemon(ROOT / "config/demo.yaml", folder, SETTINGS) as sluice:
            where = sluice.host, sluice.port
            runs = [(one, step) for one in chosen for step in (0, 3 if len(one.raw) < 4000 else 1500)]
            begin = time.monotonic()
            with ThreadPoolExecutor(32) as pool:
                failures = [text for text in pool.map(lambda run_: verdict(where, *run_), runs) if text]
            print("\n".join(failures) or f"{len(chosen)} requests, each in one piece and in many, "
                  f"answered as they should in {time.monotonic() - begin:.1f} s")
            check(not failures, f"{len(failures)} of {len(runs)} are not answered as they should")
            check(all(status < 500 for one in chosen for status in one.answers), "a case expects 5xx")
            events = metric(sluice, "sluice_events_received_total")
            wanted = 2 * sum(one.events for one in chosen)
            check(events == wanted, f"{events} events were taken, should be {wanted}")
            check(sluice.stop() == 0, "did not stop well")
    return driver


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose section and rule contain this")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    for part in (request_lines, fields, lengths, chunks, rest):
        part()
    if arguments.list:
        for one in CASES:
            print(f"{one.section:12} {'/'.join(map(str, one.answers)):8} {one.rule}")
        return 0
    return run(driver_for(arguments.only))


if __name__ == "__main__":
    sys.exit(main())
