//! The generated protocol types, on items that this crate uses.

use cdpilot::cdp::protocol::{page, runtime, target};
use cdpilot::cdp::rt::{Command, Empty, Event};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{from_str, to_string};

const DIALOG: &str = r#"{"url":"http://a/","frameId":"F1","message":"line\nbreak","type":"alert",
    "hasBrowserHandler":false,"defaultPrompt":""}"#;

const INFO: &str = r#"{"targetId":"T1","type":"page","title":"t","url":"http://a/","attached":true,
    "canAccessOpener":false}"#;

#[test]
fn commands_carry_their_method_and_write_their_params() {
    assert_eq!(page::Navigate::METHOD, "Page.navigate");
    assert_eq!(to_string(&page::Navigate::new("http://a/\"b\"")).unwrap(), r#"{"url":"http://a/\"b\""}"#);
    let mut evaluate = runtime::Evaluate::new("1+1");
    evaluate.return_by_value = Some(true);
    evaluate.timeout = Some(5_000.0);
    assert_eq!(to_string(&evaluate).unwrap(), r#"{"expression":"1+1","returnByValue":true,"timeout":5000.0}"#);
    let attach = target::SetAutoAttach { flatten: Some(true), ..target::SetAutoAttach::new(true, true) };
    assert_eq!(to_string(&attach).unwrap(), r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#);
    assert_eq!(to_string(&page::Close::new()).unwrap(), "{}");
    const { assert!(page::SetLifecycleEventsEnabled::REDIRECT.is_none()) };
    const { assert!(page::Crash::EXPERIMENTAL && !page::Navigate::EXPERIMENTAL) };
}

#[test]
fn listed_and_unlisted_enum_values_round_trip() {
    fn check<T: DeserializeOwned + Serialize + std::fmt::Debug>(listed: &[&str]) {
        for value in listed.iter().copied().chain(["FutureKind", ""]) {
            let wire = to_string(value).unwrap();
            let read: T = from_str(&wire).unwrap();
            assert_eq!(to_string(&read).unwrap(), wire);
            let other = format!("{read:?}").starts_with("Other(");
            assert_eq!(other, !listed.contains(&value), "{value}");
        }
    }
    check::<page::TransitionType>(page::TransitionType::LISTED);
    check::<page::NavigationType>(page::NavigationType::LISTED);
    check::<page::DialogType>(page::DialogType::LISTED);
    check::<page::CaptureScreenshotFormat>(page::CaptureScreenshotFormat::LISTED);
    check::<runtime::RemoteObjectType>(runtime::RemoteObjectType::LISTED);
    check::<runtime::RemoteObjectSubtype>(runtime::RemoteObjectSubtype::LISTED);
    check::<runtime::ConsoleApiCalledType>(runtime::ConsoleApiCalledType::LISTED);
    // The protocol's own `other` is a listed value, not an unknown one.
    assert_eq!(page::TransitionType::from("other"), page::TransitionType::OtherValue);
}

#[test]
fn events_borrow_from_the_message() {
    let event: page::JavascriptDialogOpeningEvent<'_> = from_str(DIALOG).unwrap();
    assert_eq!(page::JavascriptDialogOpeningEvent::METHOD, "Page.javascriptDialogOpening");
    assert!(event.url.is_borrowed() && !event.message.is_borrowed());
    assert_eq!(event.message, "line\nbreak");
    assert_eq!(event.r#type, page::DialogType::Alert);
    assert_eq!(event.frame_id.as_ref().map(|id| id.as_str()), Some("F1"));
}

#[test]
fn events_with_unknown_fields_are_decoded() {
    // An unknown kind, fields of the future, and what older browsers leave out.
    let text = r#"{"novel":{"a":[1,{"b":null}]},"url":"u","message":"m","type":"confetti",
        "hasBrowserHandler":true,"defaultPrompt":null}"#;
    let event: page::JavascriptDialogOpeningEvent<'_> = from_str(text).unwrap();
    assert_eq!(event.r#type, page::DialogType::Other("confetti".into()));
    assert!(event.frame_id.is_none() && event.default_prompt.is_none());
    let old = INFO.replace(",\n    \"canAccessOpener\":false", "");
    let text = format!(r#"{{"sessionId":"S","targetInfo":{old},"waitingForDebugger":true}}"#);
    let event: target::AttachedToTargetEvent = from_str(&text).unwrap();
    assert_eq!(event.target_info.can_access_opener, None);
    assert_eq!(event.session_id, target::SessionId::from("S"));
    let text = r#"{"executionContextId":3.0}"#;
    let event: runtime::ExecutionContextDestroyedEvent<'_> = from_str(text).unwrap();
    assert_eq!(event.execution_context_id, 3);
    from_str::<page::LoadEventFiredEvent>(r#"{"timestamp":12}"#).unwrap();
}

#[test]
fn answers_with_unknown_fields_are_decoded() {
    let text = r#"{"result":{"type":"hologram","value":{"a": [1]},"x":1},"exceptionDetails":null}"#;
    let read: runtime::EvaluateReturns = from_str(text).unwrap();
    assert_eq!(read.result.r#type, runtime::RemoteObjectType::Other("hologram".into()));
    assert_eq!(read.result.value.unwrap().get(), r#"{"a": [1]}"#);
    assert!(read.exception_details.is_none());
    for anything in ["{}", r#"{"later":1}"#, "null"] {
        assert_eq!(from_str::<<page::Close as Command>::Returns>(anything).unwrap(), Empty);
    }
    let read: page::CaptureScreenshotReturns = from_str(r#"{"data":"aGVsbG8="}"#).unwrap();
    assert_eq!(read.data.decode().unwrap(), b"hello");
}

#[test]
fn errors_name_the_path_to_the_fault() {
    let error = |text: &str| from_str::<page::GetFrameTreeReturns>(text).unwrap_err().to_string();
    let frame = r#""frame":{"id":"F","loaderId":"L","url":"u","securityOrigin":"o","mimeType":"m"}"#;
    let deep = format!(r#"{{"frameTree":{{{frame},"childFrames":[{{{frame}}},{{"frame":{{"id":7}}}}]}}}}"#);
    assert!(
        error(&deep).starts_with("`frameTree.childFrames[1].frame.id`: invalid type: integer `7`"),
        "{}",
        error(&deep)
    );
    assert!(error("{}").starts_with("`frameTree`: required, but missing"), "{}", error("{}"));
    let fraction = from_str::<runtime::ExecutionContextDestroyedEvent<'_>>(r#"{"executionContextId":1.5}"#);
    assert!(fraction.unwrap_err().to_string().starts_with("`executionContextId`: invalid value"));
}
