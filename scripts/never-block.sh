#!/bin/sh
# Runs the never-block tests one after the other and writes their results to docs/never-block.md.
set -eu
cd "$(dirname "$0")/.."
rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT

CDPILOT_NEVER_BLOCK=$rows cargo test --release --workspace --test library -- never_block --test-threads=1

browser=$(cargo run --release --quiet -- doctor --json | grep -o 'Chrome/[0-9.]*' | head -n 1)
{
    cat <<'TEXT'
# Never block

How each operation of a supervisor behaves while the page, the browser or the connection does not answer. `make never-block` runs the
tests in `tests/never_block.rs` and writes this page. The tests fail if a cell takes longer than its deadline plus 250 ms, or a rescue
longer than a second.

- Each operation has a deadline of **2 s**. The state is created again for each cell, on a page with a frame of the same process and a
  cross-process frame. A page counts as stuck when it leaves a probe unanswered for 500 ms here (10 s by default, and
  not within 10 s after its document has loaded).
- A cell contains the outcome and the time in milliseconds. Every outcome but `ok` is a typed error that says what to do.
- `ok, rescued`: the script that blocked the page was ended with `Runtime.terminateExecution`; its document was kept.
- `page busy`: the script belongs to another caller, who has more time; it is left alone.
- `evaluate in the frame` uses the frame that is in that state, or the cross-process frame if the state is not about a frame. A page that
  is loading or crashed has no such frame.
- `answer` answers the open dialog. `navigate`, `reload` and `close` act on the page in that state; `open a page` opens another page.
- `view` and `last screenshot` wait for nothing in any state. The test checks that they contain the address of the page, its frames and
  its screenshot.
- A proxy between supervisor and browser cuts or suspends the connection. After a cut, the supervisor reconnects immediately; a call
  that begins meanwhile waits for that.

TEXT
    printf 'Measured with %s on %s processors.\n\n' "${browser:-a Chromium-based browser}" "$(getconf _NPROCESSORS_ONLN)"
    echo '| state | view | evaluate | evaluate in the frame | raw command | screenshot | last screenshot | cookies | history | target info | answer | navigate | reload | open a page | close |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
    cat "$rows"/[0-9]*
    cat <<'TEXT'

Not possible with Chromium 156:

- A stopped renderer process answers nothing, and no command kills it. Its page can be closed.
- While a page waits for the server of its next document, Chromium holds back every command to it. Calls end with an error that says
  so; no script is ended, because the page is not stuck.
- A page that is stuck in a script when a navigation is sent can no longer be rescued. Therefore it is probed, and rescued, before.
- If a connection ends while a page leaves a document under a dialog of an earlier connection, the browser may crash. Closing such a
  page is safe.

The same table for other tools: [peers-never-block.md](peers-never-block.md).
TEXT
} > docs/never-block.md.new
mv docs/never-block.md.new docs/never-block.md
echo "wrote docs/never-block.md"
