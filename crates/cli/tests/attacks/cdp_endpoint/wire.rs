//! Attacks of an endpoint during the handshake: its URL, its frames, its answers.

use std::time::Duration;

use cdpilot::browser::{Endpoint as Address, Resolve, resolve};
use cdpilot::cdp::{ConnectOptions, Connection};
use cdpilot::supervisor::{Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use super::super::llm_endpoint::{Endpoint, TAKEN, http, in_time};
use super::super::{Attack, run_all};
use crate::cli_run::Program;
use crate::support::fake_cdp::{Action, Fake, soon};
use crate::support::fake_cdp_wire::{self as frames, Frame};

/// A URL that is used for discovery, and one that must not be.
pub(super) struct Target {
    endpoint: Endpoint,
    elsewhere: Endpoint,
}

pub(super) const ATTACKS: &[Attack<Target>] = &[
    Attack {
        name: "names a WebSocket at another host, or a file, in /json/version",
        witness: "host and port that would be connected to",
        run: another_host,
    },
    Attack { name: "redirects /json/version", witness: "requests that the other server receives", run: redirects },
    Attack {
        name: "answers /json/version endlessly, slowly, or with JSON nested 100,000 levels deep",
        witness: "bytes read, and an attempt to connect that does not return",
        run: without_end,
    },
    Attack {
        name: "sends wrong frame lengths and invalid framing",
        witness: "a call that does not fail before its deadline",
        run: framing,
    },
    Attack {
        name: "sends answers to other calls, answers twice, answers before the call",
        witness: "a result that belongs to another call",
        run: answers_of_others,
    },
    Attack { name: "never answers", witness: "an attempt to attach that does not return", run: never_answers },
    Attack {
        name: "repeats the token from its address in errors",
        witness: "the token in the output of the program, with everything logged",
        run: repeats_the_token,
    },
];

#[test]
fn attacks_of_a_cdp_endpoint_during_the_handshake() {
    let target = Target { endpoint: Endpoint::start(), elsewhere: Endpoint::start() };
    let version = http("200 OK", "", br#"{"webSocketDebuggerUrl":"ws://127.0.0.1:1/devtools/browser/x"}"#);
    target.endpoint.answers(move || version.clone());
    // An honest answer is understood: what fails below fails for the attack.
    assert!(target.resolved(crate::support::soon()).unwrap().is_ok());
    run_all(&target, ATTACKS);
}

impl Target {
    /// The WebSocket address of the endpoint, or the error.
    fn resolved(&self, deadline: Deadline<'static>) -> Result<Result<String, String>, String> {
        let url = self.endpoint.url("");
        in_time("the attempt", move || {
            let how = Resolve::new(deadline);
            let found = resolve(&Address::parse(&url).unwrap(), &how);
            found.map(|found| found.url()).map_err(|error| error.to_string())
        })
    }
}

fn another_host(target: &Target) -> Result<(), String> {
    let own = target.endpoint.url("").replace("http:", "ws:");
    let other = target.elsewhere.url("/x").replace("http:", "ws:");
    let long = format!("ws://evil.test/{}", "x".repeat(1 << 20));
    for url in [
        "ws://169.254.169.254/latest/",
        "wss://evil.test/x",
        "ws://evil.test@127.0.0.1:1/x",
        "file:///etc/passwd",
        "http://evil.test/x",
        "//evil.test/x",
        "ws://[::1]:1/x",
        "ws://127.0.0.1/\r\nX: y",
        "",
        &other,
        &long,
    ] {
        let answer = http("200 OK", "", json!({ "webSocketDebuggerUrl": url }).to_string().as_bytes());
        target.endpoint.answers(move || answer.clone());
        if let Ok(found) = target.resolved(Deadline::after_secs(20))?
            && !found.starts_with(&format!("{own}/"))
        {
            return Err(format!("{url:.100}: {found:.200}"));
        }
    }
    Ok(())
}

fn redirects(target: &Target) -> Result<(), String> {
    for status in ["301 x", "302 x", "307 x", "308 x"] {
        let answer = http(status, &format!("Location: {}\r\n", target.elsewhere.url("/json/version")), b"");
        target.endpoint.answers(move || answer.clone());
        if let Ok(found) = target.resolved(Deadline::after_secs(20))? {
            return Err(found);
        }
    }
    target.elsewhere.heads().first().map_or(Ok(()), |head| Err(head.clone()))
}

fn without_end(target: &Target) -> Result<(), String> {
    target.endpoint.floods(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b' '; 1 << 20]);
    let response = target.resolved(Deadline::after_secs(20))?;
    let taken = target.endpoint.flooded();
    if response.is_ok() || taken > TAKEN {
        return Err(format!("{taken} bytes: {response:?}"));
    }
    target.endpoint.drips(b"HTTP/1.1 200 OK\r\n\r\n{");
    if let Ok(found) = target.resolved(Deadline::after_millis(500))? {
        return Err(found);
    }
    for open in ["[", "{\"webSocketDebuggerUrl\":{\"a\":"] {
        let answer = http("200 OK", "", open.repeat(100_000).as_bytes());
        target.endpoint.answers(move || answer.clone());
        if let Ok(found) = target.resolved(Deadline::after_secs(20))? {
            return Err(found);
        }
    }
    Ok(())
}

/// Whether a call on a connection ends with an error, and not because of its time.
fn fails(connection: &Connection) -> Result<(), String> {
    let caller = connection.clone();
    match in_time("the call", move || caller.call_raw("Test.call", &json!({}), soon()))? {
        Err(error) if !error.is_timeout() => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn framing(_: &Target) -> Result<(), String> {
    let unfinished = |opcode: u8| Frame { fin: false, ..Frame::of(opcode) };
    let options = ConnectOptions::new().max_message(1 << 20);
    let fragments =
        [unfinished(frames::TEXT).encode(b"{"), unfinished(frames::CONTINUATION).encode(&[b' '; 1 << 18]).repeat(80)];
    for (what, bytes) in [
        ("a terabyte", Frame::of(frames::TEXT).head(1 << 40)),
        ("all that there is", [&[0x81, 127][..], &u64::MAX.to_be_bytes()].concat()),
        ("fragments without an end", fragments.concat()),
        ("compressed", Frame { reserved: 4, ..Frame::of(frames::TEXT) }.encode(b"x")),
        ("masked", Frame { mask: Some([1, 2, 3, 4]), ..Frame::of(frames::TEXT) }.encode(b"{}")),
        ("a ping of 126 bytes", Frame::of(frames::PING).encode(&[0; 126])),
        ("an unknown opcode", Frame::of(11).encode(b"x")),
        ("a continuation of nothing", Frame::of(frames::CONTINUATION).encode(b"x")),
    ] {
        let fake = Fake::start();
        fake.on("Test.call").act(Action::Raw(bytes));
        fails(&fake.connect_with(&options)).map_err(|response| format!("{what}: {response}"))?;
    }
    Ok(())
}

fn answers_of_others(_: &Target) -> Result<(), String> {
    let fake = Fake::start();
    fake.on("Test.call").with(|request| {
        let forged = |id: u64| json!({ "id": id, "result": { "of": "forged" } }).to_string();
        let mut actions: Vec<Action> = (request.id + 1..request.id + 50).map(|id| Action::Text(forged(id))).collect();
        actions.push(Action::Text(forged(u64::MAX)));
        actions.push(Action::Text(r#"{"id":"1","result":{}}"#.to_owned()));
        actions.push(Action::Text(r#"{"id":-1,"result":{}}"#.to_owned()));
        actions.push(Action::Text(format!(
            "{{\"id\":{},\"result\":{}{}",
            request.id,
            "[".repeat(100_000),
            "]".repeat(10)
        )));
        actions.push(Action::Raw(frames::text("{\"method\":\"a\\ud800\",\"params\":{\"x\":\"\u{0}\"}}")));
        actions.push(Action::Reply(json!({ "of": request.params["n"] })));
        actions.push(Action::Text(forged(request.id)));
        actions
    });
    let connection = fake.connect();
    for number in 0..20 {
        let (caller, params) = (connection.clone(), json!({ "n": number }));
        let response = in_time("the call", move || caller.call_raw("Test.call", &params, soon()))?;
        // A message that is not JSON may end the connection or its call.
        match response.and_then(|reply| reply.value()) {
            Ok(value) if value["of"] == number => {}
            Ok(value) => return Err(format!("call {number} was answered with {value}")),
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn never_answers(_: &Target) -> Result<(), String> {
    let short = Duration::from_millis(500);
    let silent = Fake::silent_handshake();
    let (address, options) = (silent.address(), ConnectOptions::new().connect_timeout(short));
    if in_time("connecting", move || Connection::connect(&address, &options).is_ok())? {
        return Err("it connected".to_owned());
    }
    let mute = Fake::start();
    mute.on("*").never();
    let (address, mut options) = (mute.address(), SupervisorOptions::task("mute"));
    options.start_timeout = short;
    let attached =
        in_time("attaching", move || Supervisor::attach(&address, &ConnectOptions::default(), options).is_ok());
    mute.cut_all();
    if attached? { Err("it attached".to_owned()) } else { Ok(()) }
}

fn repeats_the_token(_: &Target) -> Result<(), String> {
    const TOKEN: &str = "hush0token0of0the0address";
    let fake = Fake::start();
    let url = format!("ws://ada:hush-word@127.0.0.1:{}/devtools/browser/hush-path?token={TOKEN}", fake.port());
    let response = format!("not allowed for {url}, token={TOKEN}, {TOKEN}");
    fake.on("*").error(-32000, &response);
    let ran = Program::new().run(&["supervise", "-vv", "--cdp-url", &url]);
    fake.wait("a command", |log| !log.requests.is_empty());
    let shown = format!("{ran:?}");
    assert!(shown.contains("not allowed"), "the error is not shown at all: {shown}");
    if shown.contains("hush") { Err(shown) } else { Ok(()) }
}
