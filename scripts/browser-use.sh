#!/usr/bin/env bash
# Runs a command with BROWSER_USE_PYTHON set to a Python that has browser-use, which it installs below target/.
# Without Python 3.11 or newer the command runs without it.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.13.14
folder=$PWD/target/browser-use
python=$folder/bin/python

if ! "$python" -c "from importlib.metadata import version; assert version('browser-use') == '$version'" 2>/dev/null; then
    if python3 -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null; then
        python3 -m venv "$folder"
        "$python" -m pip install --quiet "browser-use==$version"
    else
        echo "Python 3.11 or newer is not installed: browser-use is left out" >&2
    fi
fi
[ -x "$python" ] && export BROWSER_USE_PYTHON=$python
cd - >/dev/null
exec "$@"
