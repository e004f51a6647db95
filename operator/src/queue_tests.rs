//! The queue by itself.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mcc_catalog::model::NamespacedName;
use tokio::time::sleep;

use super::*;

fn object(name: &str) -> ObjectRef {
    ObjectRef::new(ObjectKind::Tool, NamespacedName::new("n", name))
}

#[tokio::test]
async fn each_object_by_one_worker_and_again_if_it_was_asked_for_meanwhile() {
    let (queues, mut inboxes) = queues();
    queues.set_open(true);
    let log = Rc::new(RefCell::new(Vec::new()));
    let busy = Rc::new(Cell::new(0));
    let begun = RefCell::new(Vec::new());
    let work = work(
        &mut inboxes.tools,
        2,
        |object| {
            let (log, busy) = (log.clone(), busy.clone());
            begun.borrow_mut().push(object.name.name.clone());
            async move {
                busy.set(busy.get() + 1);
                assert!(busy.get() <= 2);
                sleep(Duration::from_millis(200)).await;
                log.borrow_mut().push(object.name.name.clone());
                busy.set(busy.get() - 1);
                Next::OnChange
            }
        },
        |_| {},
    );
    let called = async |name: &str| {
        while !begun.borrow().iter().any(|begun| begun == name) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let finished = async |times| {
        while log.borrow().len() < times {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let ask = async {
        for name in ["a", "a", "b", "c"] {
            queues.trigger(object(name));
        }
        called("a").await;
        // It is being worked on: once more, afterwards.
        queues.trigger(object("a"));
        queues.trigger(object("a"));
        finished(4).await;
    };
    tokio::select! {
        () = work => panic!("it ended"),
        () = ask => {}
        () = sleep(Duration::from_secs(60)) => panic!("{:?}", log.borrow()),
    }
    let mut names = log.borrow().clone();
    names.sort_unstable();
    assert_eq!(names, ["a", "a", "b", "c"]);
}

#[tokio::test]
async fn an_object_comes_again_after_its_time_or_before_if_something_changes() {
    let (queues, mut inboxes) = queues();
    queues.set_open(true);
    let calls = Cell::new(0);
    let work = work(
        &mut inboxes.tools,
        1,
        |_| {
            calls.set(calls.get() + 1);
            let wait = if calls.get() < 3 { Duration::from_millis(20) } else { Duration::from_secs(3600) };
            async move { Next::After(wait) }
        },
        |_| {},
    );
    let called = async |times| {
        while calls.get() < times {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let ask = async {
        queues.trigger(object("a"));
        called(3).await;
        queues.trigger(object("a"));
        called(4).await;
    };
    tokio::select! {
        () = work => panic!("it ended"),
        () = ask => {}
        () = sleep(Duration::from_secs(60)) => panic!("{} calls", calls.get()),
    }
    assert_eq!(calls.get(), 4);
}

#[tokio::test]
async fn a_standby_keeps_nothing() {
    let (queues, mut inboxes) = queues();
    queues.trigger(object("a"));
    assert!(inboxes.tools.try_recv().is_err());
    queues.set_open(true);
    queues.trigger(object("a"));
    assert!(inboxes.tools.try_recv().is_ok());
}
