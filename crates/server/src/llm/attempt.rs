//! One attempt of a request: what is sent, and how the answer is read, on a thread of its own.

use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use ureq::http::Response;
use ureq::{Agent, Body, Timeout};

use super::Error;
use super::client::{Client, Key};
use super::patience::requested_pause;
use super::stream::{Assembly, Broken, Piece};
use super::types::Answer;
use cdpilot::sync::{Deadline, spawn};

/// Maximum size of an answer, in bytes.
const MAX_ANSWER: u64 = 16 << 20;
/// Maximum length of an endpoint's message that is passed on, in characters.
const MAX_MESSAGE: usize = 300;
/// How much of an invalid answer is quoted, in characters.
const MAX_EXCERPT: usize = 60;
/// How long a connection may take; nothing else ends one early.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an endpoint may be silent.
const SILENCE: Duration = Duration::from_secs(300);
/// Parts of an answer that wait to be taken.
const PIECES: usize = 64;
/// How long the end of a thread whose request was interrupted is waited for.
const ENDING: Duration = Duration::from_millis(100);

/// The result of one attempt.
pub(super) enum Attempt {
    Answered(Answer),
    /// Another attempt may succeed, after the pause that the endpoint requested, if any.
    Again(Error, Option<Duration>),
    /// The endpoint refused, and may have requested a pause.
    Refused {
        status: u16,
        reason: String,
        pause: Option<Duration>,
    },
    Failed(Error),
}

enum Arrival {
    Piece(Piece),
    End(Attempt),
}

impl Client {
    /// Sends a request on its own thread, since nothing else can end it on cancellation. The thread ends with the wait, but
    /// for a connection that is being made.
    pub(super) fn try_once(
        &self,
        body: String,
        began: Instant,
        deadline: Deadline<'_>,
        on: &mut dyn FnMut(Piece),
    ) -> Attempt {
        let left = deadline.left();
        if deadline.is_cancelled() {
            return Attempt::Failed(Error::Cancelled);
        }
        if left.is_zero() {
            return self.late(began);
        }
        let (sender, arrivals) = crossbeam_channel::bounded(PIECES);
        let (client, agent) = (self.clone(), self.agent());
        let sending = agent.clone();
        let thread = spawn("llm-ask", move || {
            let end = client.send(&sending, body, left, &sender);
            let _ = sender.send(Arrival::End(end));
        });
        let thread = match thread {
            Ok(thread) => thread,
            Err(problem) => {
                return Attempt::Failed(Error::Unreachable { host: self.host.clone(), problem: problem.to_string() });
            }
        };
        let end = self.wait(&arrivals, began, deadline, on);
        // A thread that sends is let go, and one that reads is interrupted.
        drop(arrivals);
        agent.shutdown();
        let until = Instant::now() + ENDING;
        while !thread.is_finished() && Instant::now() < until {
            cdpilot::sync::pause(Duration::from_millis(1));
        }
        if !thread.is_finished() {
            // It connects; that ends by itself.
            std::mem::forget(thread);
        }
        match end {
            Attempt::Failed(Error::Timeout { .. }) => self.late(began),
            end => end,
        }
    }

    fn late(&self, began: Instant) -> Attempt {
        Attempt::Failed(Error::Timeout { host: self.host.clone(), after: began.elapsed() })
    }

    /// Passes on the parts of an answer until its end, the deadline or a cancellation.
    fn wait(
        &self,
        arrivals: &Receiver<Arrival>,
        began: Instant,
        deadline: Deadline<'_>,
        on: &mut dyn FnMut(Piece),
    ) -> Attempt {
        loop {
            match arrivals.recv_deadline(deadline.next_check()) {
                Ok(Arrival::Piece(piece)) if !deadline.passed() => on(piece),
                Ok(Arrival::End(end)) => return end,
                Err(RecvTimeoutError::Disconnected) => {
                    return Attempt::Failed(Error::Panicked { host: self.host.clone() });
                }
                Err(RecvTimeoutError::Timeout) | Ok(Arrival::Piece(_)) if deadline.is_cancelled() => {
                    return Attempt::Failed(Error::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Ok(Arrival::Piece(_)) | Err(RecvTimeoutError::Timeout) => return self.late(began),
            }
        }
    }

    fn send(&self, agent: &Agent, body: String, left: Duration, sender: &Sender<Arrival>) -> Attempt {
        let mut request = agent.post(&self.url.0).header("Content-Type", "application/json");
        let has_own = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        for (name, Key(value)) in self.headers.iter() {
            request = request.header(name, value);
        }
        if let Some(Key(key)) = self.key.as_ref().filter(|_| !has_own) {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let request = request.config().timeout_global(Some(left)).timeout_connect(Some(CONNECT.min(left)));
        let sent = request.timeout_per_read(Some(SILENCE)).build().send(body);
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return self.failed(error),
        };
        if response.status() != 200 {
            return self.read_refusal(&mut response);
        }
        let is_stream = is_stream(&response);
        let mut reader = BufReader::new(response.body_mut().with_config().limit(MAX_ANSWER).reader());
        if is_stream {
            return self.read_stream(reader, sender);
        }
        // Some endpoints send a stream with another content type, or none: its first line shows it.
        let mut begin = Vec::new();
        match read_first_line(&mut reader, &mut begin) {
            Ok(()) if begins_stream(&begin) => self.read_stream(Cursor::new(begin).chain(reader), sender),
            Ok(()) => match reader.read_to_end(&mut begin) {
                Ok(_) => self.read_whole(&String::from_utf8_lossy(&begin)),
                Err(problem) => self.failed(problem.into()),
            },
            Err(problem) => self.failed(problem.into()),
        }
    }

    fn read_stream(&self, mut reader: impl BufRead, sender: &Sender<Arrival>) -> Attempt {
        let malformed = |problem: &str| Error::Malformed { host: self.host.clone(), problem: self.shortened(problem) };
        let (mut assembly, mut line) = (Assembly::default(), Vec::new());
        while !assembly.is_done() {
            line.clear();
            // The reader is limited, and so is a line.
            match reader.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(problem) => match ureq::Error::from(problem) {
                    error @ (ureq::Error::Timeout(Timeout::Global) | ureq::Error::BodyExceedsLimit(_)) => {
                        return self.failed(error);
                    }
                    // Only token counts are missing.
                    _ if assembly.is_whole() => break,
                    error @ ureq::Error::Timeout(_) => return self.failed(error),
                    error => return Attempt::Again(malformed(&format!("the stream was cut ({error})")), None),
                },
            }
            let text = String::from_utf8_lossy(&line);
            let pieces = match assembly.line(text.trim_end_matches(['\r', '\n'])) {
                Ok(pieces) => pieces,
                Err(broken) => return self.broken(broken),
            };
            for piece in pieces {
                if sender.send(Arrival::Piece(piece)).is_err() {
                    return Attempt::Failed(Error::Cancelled);
                }
            }
        }
        match assembly.finish() {
            Ok(answer) => Attempt::Answered(answer.with_ids()),
            Err(broken) => self.broken(broken),
        }
    }

    /// What a model says halfway through may differ the next time, so a broken stream is worth another attempt.
    fn broken(&self, broken: Broken) -> Attempt {
        let host = self.host.clone();
        Attempt::Again(
            match broken {
                Broken::Reported(problem) => Error::Refused { host, status: 200, problem: self.shortened(&problem) },
                Broken::Malformed(problem) => Error::Malformed { host, problem: self.shortened(&problem) },
            },
            None,
        )
    }

    /// Reads the body of an answer with status 200.
    fn read_whole(&self, text: &str) -> Attempt {
        match (Answer::read(text), said(text)) {
            (Ok(answer), _) => Attempt::Answered(answer),
            // Some gateways answer so when the model behind them refuses.
            (Err(_), Some(reason)) => {
                let problem = self.shortened(&reason);
                Attempt::Failed(Error::Refused { host: self.host.clone(), status: 200, problem })
            }
            (Err(problem), None) => {
                let begin: String = self.covered(text.trim()).chars().take(MAX_EXCERPT).collect();
                // The message may quote a value of the answer.
                let problem = self.shortened(&problem);
                let problem = format!("{problem}; it starts with {begin:?}; check base_url in llm.json");
                Attempt::Failed(Error::Malformed { host: self.host.clone(), problem })
            }
        }
    }

    fn read_refusal(&self, response: &mut Response<Body>) -> Attempt {
        let status = response.status().as_u16();
        let pause = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let pause = pause.and_then(|value| requested_pause(value, SystemTime::now()));
        let text = match read(response.body_mut()) {
            Ok(text) => text,
            Err(error) => return self.failed(error),
        };
        match status {
            300..=399 => {
                let problem = "it redirects to another address, and the key is not sent there; set base_url in llm.json to the final address";
                Attempt::Failed(Error::Refused { host: self.host.clone(), status, problem: problem.to_owned() })
            }
            _ => Attempt::Refused { status, reason: self.reason(&text), pause },
        }
    }

    fn failed(&self, error: ureq::Error) -> Attempt {
        let host = self.host.clone();
        match error {
            ureq::Error::Timeout(Timeout::Global) => Attempt::Failed(Error::Timeout { host, after: Duration::ZERO }),
            ureq::Error::Timeout(Timeout::PerRead) => {
                let problem = format!("it sent nothing for {} s", SILENCE.as_secs());
                Attempt::Again(Error::Unreachable { host, problem }, None)
            }
            ureq::Error::BodyExceedsLimit(most) => {
                Attempt::Failed(Error::Malformed { host, problem: format!("it is larger than {most} bytes") })
            }
            error => {
                let problem = match &error {
                    ureq::Error::Io(problem) if problem.kind() == io::ErrorKind::ConnectionRefused => {
                        Some(self.refused())
                    }
                    ureq::Error::Io(problem) => in_words(problem.kind()).map(str::to_owned),
                    _ => None,
                };
                let problem = problem.unwrap_or_else(|| self.covered(&error.to_string()));
                Attempt::Again(Error::Unreachable { host, problem }, None)
            }
        }
    }

    /// Why a refused connection failed, with the port: it is not part of [`host`](Self::host).
    fn refused(&self) -> String {
        match url::Url::parse(&self.url.0).ok().and_then(|url| url.port_or_known_default()) {
            Some(port) => format!("the connection to port {port} was refused"),
            None => "the connection was refused".to_owned(),
        }
    }

    /// The endpoint's reason for a refusal: its error message, or the start of the text.
    fn reason(&self, text: &str) -> String {
        self.shortened(said(text).as_deref().unwrap_or(text))
    }

    /// Covered before it is cut: a part of a key would not be recognised.
    fn shortened(&self, text: &str) -> String {
        let short: String = self.covered(text.trim()).chars().take(MAX_MESSAGE).collect();
        if short.is_empty() { "no reason given".to_owned() } else { short }
    }

    /// Some endpoints repeat the key in their errors.
    fn covered(&self, text: &str) -> String {
        let secrets = self.keys().filter(|secret| secret.len() >= 4);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }
}

fn is_stream(response: &Response<Body>) -> bool {
    let media = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    media.is_some_and(|media| media.trim().to_ascii_lowercase().starts_with("text/event-stream"))
}

/// Reads up to the end of the first line that is not empty.
fn read_first_line(reader: &mut impl BufRead, begin: &mut Vec<u8>) -> io::Result<()> {
    while begin.trim_ascii().is_empty() && reader.read_until(b'\n', begin)? > 0 {}
    Ok(())
}

/// Whether a body begins as Server-Sent Events do.
fn begins_stream(begin: &[u8]) -> bool {
    let begin = begin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(begin).trim_ascii_start();
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"].iter().any(|field| begin.starts_with(field))
}

/// The error of an answer: `error.message` as of OpenAI, or `error` as of others.
fn said(text: &str) -> Option<String> {
    let reply: serde_json::Value = serde_json::from_str(text).ok()?;
    let error = reply.get("error")?;
    error.get("message").or(Some(error))?.as_str().map(str::to_owned)
}

fn read(body: &mut Body) -> Result<String, ureq::Error> {
    let bytes = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Frequent errors of connections.
fn in_words(kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind;
    match kind {
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => Some("the connection was cut"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Model;
    use super::*;

    #[test]
    fn streams_are_recognised_by_their_first_line() {
        for (begin, is_stream) in [
            ("data: {}\n", true),
            ("\n\r\ndata:{}\n\n", true),
            ("\u{feff}data: {}\n", true),
            (": keep-alive\n", true),
            ("event: message\n", true),
            ("{\"data\": 1}", false),
            ("\n {\"a\": 1}", false),
            ("database error", false),
            ("<html>", false),
            ("", false),
        ] {
            let mut read = Vec::new();
            read_first_line(&mut begin.as_bytes(), &mut read).unwrap();
            assert_eq!(begins_stream(&read), is_stream, "{begin:?}");
        }
    }

    #[test]
    fn a_panic_of_the_reading_thread_is_no_timeout() {
        let client = Client::new("one", &Model::new("m", "http://a.test/v1")).unwrap();
        let (sender, arrivals) = crossbeam_channel::bounded::<Arrival>(1);
        drop(sender);
        let end = client.wait(&arrivals, Instant::now(), Deadline::after_secs(60), &mut |_| {});
        let Attempt::Failed(error) = end else { panic!() };
        assert_eq!(error, Error::Panicked { host: "a.test".to_owned() });
    }
}
