//! Programs that embed the crate can build every struct that its functions take.

use std::collections::BTreeMap;

use cdpilot::cdp::http::Request;
use cdpilot::page::{Cookie, LoginState, NewCookie, OriginState, PartitionKey, RecordOptions, SameSite, StateCookie};
use cdpilot::supervisor::{Limits, Reconnect, Secrets, Throttle};
use serde_json::json;

#[test]
fn inputs_of_pages_can_be_built() {
    let cookie = Cookie::new("id", "1", ".example.com").path("/a").expires(2e9).secure(true).http_only(true);
    let cookie = cookie.same_site(SameSite::Lax);
    assert_eq!((cookie.domain.as_str(), cookie.path.as_str(), cookie.secure), (".example.com", "/a", true));
    let key = PartitionKey::new("https://example.com").has_cross_site_ancestor(true);
    let kept = StateCookie::new(cookie).partition_key(key).source_port(8443).source_secure(true);
    let origin = OriginState::new("https://example.com")
        .local_storage(BTreeMap::from([("k".to_owned(), "v".to_owned())]))
        .session_storage(BTreeMap::new())
        .indexed_db([json!({ "name": "db" })]);
    let state = serde_json::to_value(LoginState::new(vec![kept], vec![origin])).unwrap();
    assert_eq!(state["cookies"][0]["partitionKey"]["topLevelSite"], "https://example.com");
    assert_eq!(state["origins"][0]["localStorage"], json!({ "k": "v" }));

    let new = NewCookie::new("id", "1").url("https://example.com/").secure(true);
    assert_eq!((new.url.as_deref(), new.secure), (Some("https://example.com/"), Some(true)));
    let record = RecordOptions::new().headers(true).body(true).max_bytes(10).redact(Secrets::default());
    assert!(record.headers && record.body && record.max_bytes == Some(10) && record.redact.is_some());
}

#[test]
fn inputs_of_supervisors_can_be_built() {
    let slow = Throttle::new().latency_ms(400.0).download_kbps(500.0).upload_kbps(100.0);
    assert_eq!((slow.latency_ms, slow.download_kbps, slow.upload_kbps), (400.0, Some(500.0), Some(100.0)));
    let limits = Limits::new().entries(5).oopif_depth(1);
    assert_eq!((limits.entries, limits.oopif_depth), (5, 1));
    assert_eq!(Reconnect::new().tries(0), Reconnect::never());
    let request = Request::new("POST", "http://127.0.0.1/").body(b"{}");
    assert_eq!((request.method, request.body), ("POST", Some(&b"{}"[..])));
}

#[test]
fn settings_and_messages_of_models_can_be_built() {
    use cdpilot_server::llm::{FunctionCall, Message, Model, Models, Price, Role, Size, ToolCall};

    let model = Model::new("gpt", "https://api.example.com/v1")
        .api_key("secret")
        .profile(Size::Small)
        .context_window(100_000)
        .vision(false)
        .max_output_tokens(1_000)
        .headers(BTreeMap::new())
        .price(Price::new(1.0, 4.0, "USD").cached_input(0.1));
    let models = Models::new().model("main", model.clone()).default_model("main");
    assert_eq!(models.find(None).unwrap(), ("main", &model));
    assert_eq!((model.vision, model.price.map(|price| price.output)), (false, Some(4.0)));

    let call = ToolCall::new("call-1", FunctionCall::new("snapshot", "{}"));
    let asked = Message::calls([call.clone()]);
    assert_eq!((asked.role, asked.tool_calls.len(), call.kind.as_str()), (Role::Assistant, 1, "function"));
    assert_eq!(Message::result(&call, "done").tool_call_id.as_deref(), Some("call-1"));
}
