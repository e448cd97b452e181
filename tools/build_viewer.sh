#!/bin/sh
# build_viewer.sh NPM OUTPUT: installs what the page is bundled with where that is missing or old, then bundles it.
set -eu
cd "$(dirname "$0")/../viewer"
if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  "$1" ci --no-audit --no-fund --silent
  touch node_modules/.package-lock.json
fi
node_modules/.bin/tsc --noEmit
node build.mjs "$2" >/dev/null
