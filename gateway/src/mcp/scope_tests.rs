use mcc_catalog::model::Identity;
use mcc_crds::v1alpha1::SubjectKind;

use super::*;

fn alice() -> Scope {
    let identity = Identity {
        issuer: "test".into(),
        kind: SubjectKind::User,
        name: "alice".into(),
        namespace: None,
        email: None,
        provider_groups: Vec::new(),
        builtin_groups: Vec::new(),
    };
    let caller = Caller::Authenticated(Arc::new(identity));
    Scope { principal: caller.principal().into(), caller, mcp_session: None, peer: None }
}

fn nobody() -> Scope {
    Scope {
        caller: Caller::Anonymous,
        principal: "anonymous".into(),
        mcp_session: None,
        peer: Some([192, 0, 2, 1].into()),
    }
}

fn handles() -> Handles {
    Handles::new(&[1; 32], "c")
}

#[test]
fn an_identified_caller_has_a_default_scratchpad_and_named_ones() {
    let key = |handle| alice().scratchpad(handle, "c", &handles()).unwrap().unwrap();
    assert_eq!(key(None).handle, "default");
    assert_eq!(key(Some("work")).handle, "work");
    assert_eq!(key(Some("work")).principal, alice().principal.to_string());
    assert!(alice().scratchpad(Some("a b"), "c", &handles()).is_err());
}

#[test]
fn an_anonymous_caller_needs_a_handle_that_was_made_for_nobody() {
    assert_eq!(nobody().scratchpad(None, "c", &handles()), Ok(None));
    assert!(nobody().scratchpad(Some("work"), "c", &handles()).is_err());
    let handle = handles().mint("anonymous");
    let key = nobody().scratchpad(Some(&handle), "c", &handles()).unwrap().unwrap();
    assert_eq!(key.handle, handle);
    let of_alice = handles().mint(&alice().principal);
    assert!(nobody().scratchpad(Some(&of_alice), "c", &handles()).is_err());
}

#[test]
fn an_mcp_session_is_the_scratchpad_and_tells_anonymous_callers_apart() {
    let first = Scope { mcp_session: Some("one".into()), ..nobody() };
    let second = Scope { mcp_session: Some("two".into()), ..nobody() };
    assert_eq!(first.scratchpad(None, "c", &handles()).unwrap().unwrap().handle, "one");
    assert_ne!(first.owner(), second.owner());
    assert!(first.scratchpad(Some("two"), "c", &handles()).is_err());
    assert_eq!(first.bucket(), second.bucket(), "limits go by address");
    let elsewhere = Scope { peer: Some([192, 0, 2, 2].into()), ..nobody() };
    assert_ne!(nobody().bucket(), elsewhere.bucket());
}
