#!/usr/bin/env bash
# Installs the real peers into .peers at the root (or $PEERS): Python environments, npm packages, a client on rmcp.
# What is there already and was made from the same list is kept, so a second run takes a second.
# usage: install.sh [sdk]     (sdk: the newest Python SDK alone)
# Needs python3, node with npm, cargo, and the package registries; each step says how long it took.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
home=${PEERS:-$root/.peers}
export RUSTUP_DIST_SERVER=http://127.0.0.1:9
mkdir -p "$home/venvs" "$home/npm"
# Two stages of tests/run may want it at once.
exec 9>"$home/.lock" && flock 9

# The stamp is written last: a half-made folder is made anew.
stamped() { [ "$(cat "$1/.stamp" 2>/dev/null)" = "$2" ]; }

venv() { # name, requirements
    local dir="$home/venvs/$1" want="${*:2}"
    stamped "$dir" "$want" && return
    rm -rf "$dir"
    python3 -m venv --without-pip "$dir"
    python3 -m pip --python "$dir/bin/python" install --quiet "${@:2}"
    echo "$want" >"$dir/.stamp"
}

packages() { # name of a folder below npm/
    local dir="$home/npm/$1" want
    want=$(cat "$here/npm/$1/package-lock.json" | sha256sum)
    stamped "$dir" "$want" && return
    rm -rf "$dir"
    mkdir -p "$dir"
    cp "$here/npm/$1/package.json" "$here/npm/$1/package-lock.json" "$dir/"
    (cd "$dir" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null)
    echo "$want" >"$dir/.stamp"
}

rmcp() { CARGO_TARGET_DIR="$home/rmcp" cargo build --quiet --locked --manifest-path "$here/rmcp/Cargo.toml"; }

timed() { local start=$SECONDS; "$@"; echo "  peers: $* ($((SECONDS - start)) s)"; }

if [ "${1:-}" = sdk ]; then
    timed venv mcp2 mcp==2.3.0
    exit
fi

# The network's part beside the compiler's.
(
    timed venv mcp2 mcp==2.3.0
    timed venv mcp1 mcp==1.30.0
    timed venv mcp19 mcp==1.9.4 'pydantic<2.12' # 1.9.4 cannot be imported with a newer pydantic
    timed venv time mcp-server-time==2026.10.19
    for name in sdk1 sdk2 everything inspector; do timed packages "$name"; done
) &
network=$!
timed rmcp
wait "$network"
