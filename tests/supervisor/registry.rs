//! Supervisors by task.

use std::sync::{Arc, Barrier};

use cdpilot::browser::TransportKind;
use cdpilot::cdp::ConnectOptions;
use cdpilot::supervisor::{Error, Registry, Supervisor, SupervisorOptions};

use crate::support::chrome::{launch, soon};
use crate::support::lease::Lease;

fn get(registry: &Registry, url: &str, task: &str) -> Result<Arc<Supervisor>, Error> {
    let options = SupervisorOptions::task(task).start_timeout(soon().left());
    registry.get_or_start(url, &ConnectOptions::default(), options)
}

#[test]
fn a_task_has_one_supervisor() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let registry = Registry::new();
    assert!(registry.get("one").is_none() && registry.tasks().is_empty());
    let first = get(&registry, url, "one").unwrap();
    assert!(Arc::ptr_eq(&first, &get(&registry, url, "one").unwrap()));
    assert!(Arc::ptr_eq(&first, &registry.get("one").unwrap()));
    let other = get(&registry, url, "two").unwrap();
    assert!(!Arc::ptr_eq(&first, &other));
    assert_eq!(registry.tasks(), ["one", "two"]);

    assert!(registry.stop("one", soon()));
    assert!(!first.is_active() && registry.get("one").is_none());
    assert!(!registry.stop("one", soon()), "it is gone");
    assert_eq!(registry.tasks(), ["two"]);

    let third = get(&registry, url, "three").unwrap();
    registry.stop_all(soon());
    assert!(!other.is_active() && !third.is_active() && registry.tasks().is_empty());
}

#[test]
fn concurrent_callers_get_the_same_supervisor() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let registry = Registry::new();
    let together = Barrier::new(8);
    let all: Vec<Arc<Supervisor>> = std::thread::scope(|scope| {
        let one = || {
            together.wait();
            get(&registry, url, "wanted").unwrap()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|one| Arc::ptr_eq(one, &all[0])));
    assert!(all[0].is_active());
    assert_eq!(all[0].view().pages.len(), 1);
    registry.stop_all(soon());
}

#[test]
fn another_endpoint_gets_another_supervisor() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let browser = launch(TransportKind::Port(0)).unwrap();
    let other_url = browser.endpoint().unwrap().url();
    let registry = Registry::new();
    let old = get(&registry, url, "moving").unwrap();
    let new = get(&registry, &other_url, "moving").unwrap();
    assert!(!old.is_active() && new.is_active());
    assert!(Arc::ptr_eq(&new, &registry.get("moving").unwrap()));
    assert_eq!(registry.tasks(), ["moving"]);

    browser.close(soon()).unwrap();
    new.wait_until(soon(), |now| !now.is_active());
    assert!(registry.get("moving").is_none(), "one that has ended does not count");
    assert!(get(&registry, &other_url, "moving").is_err(), "nobody listens there");
    let back = get(&registry, url, "moving").unwrap();
    assert!(back.is_active());
    registry.stop_all(soon());
    assert!(!format!("{registry:?}").contains(url));
}
