//! Arbitrary bytes in arbitrary chunks.

use cdpilot_server::http::fuzzing::{Asked, BODY_BYTES, requests};
use proptest::prelude::*;

/// Valid and invalid parts of requests, so that most combinations are parsed far.
const WORDS: [&str; 30] = [
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST /a?b=c HTTP/1.1\r\nHost: h\r\n",
    "POST http://h/%41 HTTP/1.0\r\n",
    "HEAD / HTTP/1.1\r\n",
    "Host: h\r\n",
    "Content-Type: application/json\r\n",
    "Content-Length: 3\r\n",
    "Content-Length: 81\r\n",
    "Content-Length: 80\r\n",
    "content-length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "X-Refused: 1\r\n",
    "X: y\r\n",
    " folded\r\n",
    "\r\n",
    "\r",
    "\n",
    "3\r\nabc\r\n",
    "1;e=f\r\nx\r\n",
    "0\r\n",
    "0\r\n\r\n",
    "50\r\n",
    "51\r\n",
    "abc",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\0",
    "é",
    " ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Arbitrary bytes in arbitrary chunks: the same requests, none too large, and none after a refusal.
    #[test]
    fn any_bytes_in_any_chunks_are_parsed_alike(
        words in proptest::collection::vec(0..WORDS.len(), 1..14),
        flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..2),
        cuts in proptest::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| WORDS[*word].bytes()).collect();
        let length = bytes.len();
        flips.iter().for_each(|(at, byte)| bytes[at % length] = *byte);
        let at_once = requests(&[&bytes]);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % length).chain([0, length]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(&requests(&pieces), &at_once);
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&requests(&each), &at_once);
        for (n, requested) in at_once.iter().enumerate() {
            match requested {
                Asked::Request { body, .. } => prop_assert!(body.len() <= BODY_BYTES),
                Asked::Refused(status) => prop_assert!(*status >= 400 && n + 1 == at_once.len()),
            }
        }
    }
}

/// What two readers of one request could disagree about is never taken for one.
#[test]
fn no_request_can_be_smuggled() {
    let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n";
    let hidden = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\u{b}chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 38\r\n\r\n",
        "Content-Length: 0\n\n",
        "X: y\nContent-Length: 38\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0\n\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
    ] {
        let requested = requests(&[post.as_bytes(), framing.as_bytes(), hidden.as_bytes()]);
        assert_eq!(requested, [Asked::Refused(400)], "{framing:?}");
    }
}
