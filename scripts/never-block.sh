#!/bin/sh
# Runs the never-block tests one after the other and writes what they saw to docs/never-block.md.
set -eu
cd "$(dirname "$0")/.."
rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT

CDPILOT_NEVER_BLOCK=$rows cargo test --release --test main -- never_block --test-threads=1

browser=$(cargo run --release --quiet -- doctor --json | grep -o 'Chrome/[0-9.]*' | head -n 1)
{
    cat <<'TEXT'
# Never block

What each operation of a supervisor comes to while something keeps the page, the browser or the connection from
answering. `make never-block` runs the tests in `tests/never_block.rs` and writes this page; the tests fail when a
cell lasts longer than its deadline plus 250 ms, or a rescue longer than a second.

- Each operation is given **2 s**, and the state is made anew for each cell, on a page with a frame of the same process
  and a cross-process one. A page counts as stuck after it left a probe unanswered for 500 ms here (1 s by default).
- A cell is the outcome and the time in milliseconds. Every outcome but `ok` is a typed error that says what to do.
- `ok, rescued`: the script that held the page was ended with `Runtime.terminateExecution`, its document stayed.
- `page busy`: the script is another caller's, who has more time; it is left alone.
- `evaluate in the frame` goes to the frame that the state is about, where it is about one, else to the cross-process
  one. A page that loads or crashed has no such frame.
- `answer` is an answer to the open dialog. Behind it: `navigate`, `reload` and `close` of that page, and `open a page`
  beside it.
- `snapshot` and `last picture` wait for nothing in any state; they are checked for having the page's address, its
  frames and its picture.
- The connection is cut or held up by a proxy between supervisor and browser. After a cut it is made again at once; a
  call that begins meanwhile waits for that.

TEXT
    printf 'Measured with %s on %s processors.\n\n' "${browser:-a Chromium-based browser}" "$(getconf _NPROCESSORS_ONLN)"
    echo '| state | snapshot | evaluate | evaluate in the frame | raw command | screenshot | last picture | cookies | history | target info | answer | navigate | reload | open a page | close |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
    cat "$rows"/[0-9]*
    cat <<'TEXT'

What stays impossible with Chromium 156:
- A renderer process that is stopped answers nothing, and no command kills it. Its page can be closed.
- While a page waits for the server of its next document, Chromium holds back every command to it. Calls end with an
  error that says so; nothing is ended, since the page is not stuck.
- A page that is stuck in a script when it is told to navigate can no longer be freed. So it is probed, and freed, before.
- A connection that ends while a page is leaving a document under a dialog from an earlier connection may crash the
  browser. Closing such a page is safe.

The same table for other tools: [peers-never-block.md](peers-never-block.md).
TEXT
} > docs/never-block.md.new
mv docs/never-block.md.new docs/never-block.md
echo "docs/never-block.md is written"
