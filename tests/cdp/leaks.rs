//! No leaks: threads, descriptors and processes return to the baseline.

use std::io::Read as _;
use std::time::Duration;

use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Watch};
use cdpilot::sync::{Deadline, spawn};
use serde_json::json;

use crate::support::fake_cdp::{Fake, soon};
use crate::support::leaks::{Baseline, alone};

#[test]
fn the_leak_check_detects_leaks() {
    alone(module_path!(), "the_leak_check_detects_leaks", || {
        let baseline = Baseline::now();
        if baseline == Baseline::default() {
            return; // no /proc
        }
        let (stop, stopped) = crossbeam_channel::bounded::<()>(0);
        let thread = spawn("left-thread", move || {
            let _ = stopped.recv();
        })
        .unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let response = |baseline: &Baseline| {
            let gate = std::panic::AssertUnwindSafe(|| baseline.assert_back(Deadline::after_millis(50)));
            let panic = std::panic::catch_unwind(gate).expect_err("the gate let it pass");
            panic.downcast_ref::<String>().cloned().unwrap()
        };
        let said = response(&baseline);
        let name = file.path().display().to_string();
        for left in ["thread", "left-thread", &name, "cat"] {
            assert!(said.contains(left), "{left} is not in: {said}");
        }
        drop((stop, thread, file, child.stdin.take()));
        // Ended, but nobody has waited for it.
        let said = std::panic::AssertUnwindSafe(|| {
            loop {
                let said = response(&baseline);
                if said.contains("not waited for") || soon().passed() {
                    return said;
                }
            }
        })();
        assert!(said.contains("not waited for"), "{said}");
        child.wait().unwrap();
        baseline.assert_back(soon());
    });
}

#[test]
fn a_hundred_connections_leak_nothing() {
    alone(module_path!(), "a_hundred_connections_leak_nothing", || {
        let fake = Fake::start();
        drop(fake.connect());
        fake.wait("the first to be gone", |log| log.gone == 1);
        let baseline = Baseline::now();
        for n in 0..100 {
            let connection = fake.connect();
            let _events = connection.subscribe(Watch::everything(), Capacity::default());
            connection.call_raw("Test.next", &json!({}), soon()).unwrap();
            if n % 2 == 0 {
                connection.close();
            }
        }
        fake.wait("all to be gone", |log| log.gone == 101);
        // The fake keeps a handle on each socket until it is dropped.
        drop(fake);
        baseline.assert_back(soon());
    });
}

#[test]
fn failed_connections_leak_nothing() {
    alone(module_path!(), "failed_connections_leak_nothing", || {
        let baseline = Baseline::now();
        let options = ConnectOptions::new().connect_timeout(Duration::from_millis(20));
        let silent = Fake::silent_handshake();
        let rude = Fake::script(|mut socket| drop(socket.read(&mut [0])));
        let dead = Fake::start().address();
        for _ in 0..20 {
            assert!(Connection::connect(&silent.address(), &options).is_err());
            assert!(Connection::connect(&rude.address(), &options).is_err());
            assert!(Connection::connect(&dead, &options).is_err());
            assert!(Connection::connect("ws://", &options).is_err());
        }
        drop((silent, rude));
        baseline.assert_back(soon());
    });
}

#[test]
fn connections_that_end_during_a_call_leak_nothing() {
    alone(module_path!(), "connections_that_end_during_a_call_leak_nothing", || {
        let baseline = Baseline::now();
        for n in 0..60 {
            let fake = Fake::start();
            fake.on("Test.never").never();
            let connection = fake.connect();
            std::thread::scope(|threads| {
                for _ in 0..3 {
                    let session = connection.session("S");
                    threads.spawn(move || {
                        assert!(session.call_raw("Test.never", &json!({}), soon()).unwrap_err().is_closed());
                    });
                }
                fake.wait("the calls", |log| log.requests.len() == 3);
                match n % 3 {
                    0 => connection.close(),
                    1 => fake.cut(),
                    _ => fake.close_with(1001),
                }
            });
        }
        baseline.assert_back(soon());
    });
}

#[cfg(unix)]
#[test]
fn pipes_leak_nothing() {
    alone(module_path!(), "pipes_leak_nothing", || {
        let baseline = Baseline::now();
        for n in 0..60 {
            let (fake, connection) = Fake::over_pipe(&ConnectOptions::default());
            fake.on("Test.never").never();
            connection.call_raw("Test.next", &json!({}), soon()).unwrap();
            let reply = connection.session("S").send_raw("Test.never", &json!({})).unwrap();
            if n % 2 == 0 {
                fake.cut();
            } else {
                drop(connection);
            }
            assert!(reply.wait_raw(soon()).unwrap_err().is_closed());
        }
        baseline.assert_back(soon());
    });
}

#[test]
fn the_socket_is_closed_with_the_last_handle() {
    alone(module_path!(), "the_socket_is_closed_with_the_last_handle", || {
        let (send, ended) = crossbeam_channel::bounded(1);
        let fake = Fake::upgraded(move |mut socket| {
            let mut all = Vec::new();
            let _ = send.send(socket.read_to_end(&mut all).map(drop));
        });
        let connection = fake.connect();
        let events = connection.subscribe(Watch::everything(), Capacity::default());
        let baseline = Baseline::now();
        drop(connection);
        ended.recv_deadline(soon().instant()).unwrap().unwrap();
        let now = Baseline::now();
        // Our socket (two handles), the poller and its two wakers are gone while the fake still runs.
        assert!(now.count_files() <= baseline.count_files() - 5, "{baseline:?} {now:?}");
        drop((events, fake));
    });
}
