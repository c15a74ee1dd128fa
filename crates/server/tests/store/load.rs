//! Many events, many writers. Figures are printed, not asserted: machines differ.

use std::time::Instant;

use cdpilot::code::Code;
use cdpilot::sync::{Cancel, Deadline};
use cdpilot_server::store::{Batch, Store};
use serde_json::json;

use crate::store_files::{Database, soon};

const EVENTS: u64 = 100_000;
const WRITERS: u64 = 16;

fn ids(store: &Store, conversation: &str) -> Vec<u64> {
    store.events(conversation, 0, usize::MAX, soon()).unwrap().into_iter().map(|event| event.id).collect()
}

#[test]
fn a_hundred_thousand_events_are_listed_in_order() {
    let at = Database::new();
    at.create("c");
    at.create("other");
    let data = json!({ "kind": "tool_result", "text": "x".repeat(200) });
    for from in (0..EVENTS).step_by(10_000) {
        let batch = (from..from + 10_000).fold(Batch::new(), |batch, n| {
            let mut data = data.clone();
            data["n"] = json!(n + 1);
            batch.event("agent_event", data)
        });
        at.store().commit("c", batch, soon()).unwrap();
        at.store().commit("other", Batch::new().event("agent_event", data.clone()), soon()).unwrap();
    }
    for _ in 0..3 {
        let since = Instant::now();
        let events = at.store().events("c", 0, usize::MAX, soon()).unwrap();
        println!("listing {EVENTS} events: {:?}", since.elapsed());
        assert!(events.iter().map(|event| event.id).eq(1..=EVENTS));
        let last: serde_json::Value = serde_json::from_str(&events[EVENTS as usize - 1].data).unwrap();
        assert_eq!((&last["n"], &last["kind"]), (&json!(EVENTS), &json!("tool_result")));
    }
    let since = Instant::now();
    let part = at.store().events("c", EVENTS - 10, 5, soon()).unwrap();
    println!("listing 5 of {EVENTS} events: {:?}", since.elapsed());
    assert!(part.iter().map(|event| event.id).eq(EVENTS - 9..=EVENTS - 5));
    assert!(at.store().events("c", EVENTS, 5, soon()).unwrap().is_empty());
    assert!(at.store().events("c", u64::MAX, 5, soon()).unwrap().is_empty());
    // Long reads end at their deadline.
    let cancel = Cancel::new();
    cancel.set();
    for (deadline, code) in
        [(soon().cancelled_by(&cancel), Code::Cancelled), (Deadline::after_millis(1), Code::Timeout)]
    {
        let error = at.store().events("c", 0, usize::MAX, deadline).unwrap_err();
        assert_eq!(error.kind(), code, "{error}");
    }
    assert_eq!(at.store().events("c", 0, 7, soon()).unwrap().len(), 7);
}

#[test]
fn sixteen_writers_get_ids_without_gaps() {
    const EACH: u64 = 60;
    let at = Database::new();
    for n in 0..WRITERS {
        at.create(&format!("own-{n}"));
    }
    at.create("shared");
    let store = at.store();
    let since = Instant::now();
    let mut shared: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                scope.spawn(move || -> Vec<u64> {
                    let own = format!("own-{n}");
                    let step = |step: u64| {
                        let event = || Batch::new().event("e", json!({ "writer": n, "step": step }));
                        let committed = store.commit(&own, event().event("e", json!({})), soon()).unwrap();
                        assert_eq!((committed.first_event, committed.last_event), (2 * step + 1, 2 * step + 2));
                        // Committed is readable.
                        let last = store.events(&own, committed.last_event - 1, 5, soon()).unwrap();
                        assert_eq!(last.len(), 1);
                        store.commit("shared", event(), soon()).unwrap().first_event
                    };
                    (0..EACH).map(step).collect()
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let (took, commits) = (since.elapsed(), 2 * WRITERS * EACH);
    println!("{WRITERS} writers: {commits} commits in {took:?}, {:.0} per second", commits as f64 / took.as_secs_f64());
    shared.sort_unstable();
    assert!(shared.iter().copied().eq(1..=WRITERS * EACH), "each id is given once");
    assert!(ids(store, "shared").into_iter().eq(1..=WRITERS * EACH));
    for n in 0..WRITERS {
        assert!(ids(store, &format!("own-{n}")).into_iter().eq(1..=2 * EACH));
    }
    let since = Instant::now();
    for step in 0..EACH {
        store.commit("own-0", Batch::new().event("e", json!({ "step": step })), soon()).unwrap();
    }
    let took = since.elapsed();
    println!("one writer: {EACH} commits in {took:?}, {:.0} per second", EACH as f64 / took.as_secs_f64());
}

#[test]
fn reads_do_not_wait_for_a_large_write() {
    let at = Database::new();
    at.create("c");
    let store = at.store();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let batch = (0..20_000).fold(Batch::new(), |batch, n| batch.event("e", json!({ "n": n })));
            store.commit("c", batch, soon()).unwrap()
        });
        let mut seen = Vec::new();
        while !writer.is_finished() {
            seen.push(ids(store, "c").len());
        }
        assert_eq!(writer.join().unwrap().last_event, 20_000);
        assert!(seen.iter().all(|count| [0, 20_000].contains(count)), "all of it or nothing");
        println!("{} reads during one write", seen.len());
    });
}
