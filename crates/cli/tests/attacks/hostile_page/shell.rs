//! A page that tries to execute commands in a shell with completions.

use crate::cli_run::Program;
use crate::support::api::TestServer;
use serde_json::json;

use super::super::{Attack, Row, rows, run_all};

const ATTACKS: [Attack<TestServer>; 1] = [Attack {
    name: "puts shell commands, quotes and terminal escapes into its title and names, which shell completions display",
    witness: "a shell metacharacter or terminal escape in a completion; the words around it appear",
    run: |on| {
        let words = "Save$(touch owned)`id`;|&'\"\\!{a,b}%F{red}\u{1b}[2J\u{202e}~ now";
        let html = "<title>x</title><button>x</button><script>document.title = WORDS; \
                    document.querySelector('button').textContent = WORDS</script>";
        on.site.page("/", &html.replace("WORDS", &json!(words).to_string()));
        on.open("/");
        on.api.get("/snapshot").ok();
        let program = Program::new()
            .env("CDPILOT_URL", &format!("http://{}", on.api.address))
            .env("CDPILOT_TOKEN", &on.api.token)
            .env("CDPILOT_COMPLETE_MS", "20000")
            .env("CDPILOT_COMPLETE", "fish");
        for (command, start) in [("click", "e"), ("close", "t")] {
            let response = program.run(&["--", "cdpilot", command, start]).stdout;
            assert!(response.contains("Save") && response.contains("now"), "{response}");
            let plain = |c: char| c.is_alphanumeric() || "-_.,/+()?! \t\n".contains(c);
            if let Some(bad) = response.chars().find(|c| !plain(*c)) {
                return Err(format!("{bad:?} in {response}"));
            }
        }
        Ok(())
    },
}];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_page_executes_shell_commands() {
    let Some(served) = TestServer::browsing() else { return };
    run_all(&served, &ATTACKS);
}
