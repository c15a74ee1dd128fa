//! Notes and skills in the web UI.

use crate::server_ui_agent::Person;
use crate::support::agent_plan::model_of;
use crate::support::api::TestServer;
use serde_json::json;

#[test]
fn notes_are_corrected_and_skills_are_offered_in_the_page() {
    let (served, model) = (TestServer::start(), model_of(Vec::new()));
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    let file = served.home.root().join("memory/user.md");
    std::fs::write(&file, "- Prefers window seats <!-- agent -->\n").unwrap();
    let Some(person) = Person::at(&served) else { return };
    person.clicks("role=link[name=\"Models\"]");
    person.until("document.querySelector('[aria-label^=\"About you\"]')?.value.includes('window seats')");
    person.types("label=About you, one note on each line", "- Prefers window seats <!-- agent -->\nSpeaks German");
    person.clicks("css=.kept section:nth-of-type(2) button");
    person.sees("view-settings", "Saved.");
    let stored = || std::fs::read_to_string(&file).unwrap();
    assert_eq!(stored(), "- Prefers window seats <!-- agent -->\n- Speaks German\n");
    // Somebody else was faster: nothing is replaced.
    std::fs::write(&file, "- Another one\n").unwrap();
    person.types("label=About you, one note on each line", "Mine");
    person.clicks("css=.kept section:nth-of-type(2) button");
    person.until("document.body.innerText.includes('changed meanwhile')");
    assert_eq!(stored(), "- Another one\n");
    person.clicks("role=button[name=\"Undo the last change\"]");
    person.sees("view-settings", "Undone: about you.");
    assert_eq!(stored(), "- Prefers window seats <!-- agent -->\n");
    person.clicks("role=link[name=\"Agent\"]");
    person.types("label=Task", "/");
    person.sees("slash", "/cdpilot-browser");
}
