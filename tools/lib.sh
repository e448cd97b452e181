# Functions that ./run and ./test share. Sourced by bash with the project's root as the current folder.

say() { printf '%s\n' "$*" >&2; }

# Names of the packages in the given lists that are not installed.
missing_packages() {
  sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^[[:space:]]*$/d' "$@" | while read -r package; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
  done
}

# Installs what is missing from the given lists. Returns 0 whether or not there was anything to do.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is not a Debian system. Sunder needs what these files list, under your system's names: $*"
    return 0
  fi
  local missing as_root=()
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "Missing packages. As root, run: apt-get install $missing"
      exit 2
    fi
    as_root=(sudo)
  fi
  say "Installing: $missing"
  "${as_root[@]}" apt-get update -qq >&2
  # shellcheck disable=SC2086
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# What building and testing needs. An npm from elsewhere is as good as Debian's.
ensure_build_packages() {
  ensure_packages tools/packages.txt
  command -v npm >/dev/null || ensure_packages tools/packages-viewer.txt
}

# configure_and_build PRESET BUILD_DIR [cmake arguments]: configures a new folder, with sources in batches
# (docs/building.md), and anew when the presets changed, perhaps the compiler (Ninja re-runs CMake by itself when a CMake
# file changed); then builds what the array `targets` names, or everything. Prints the compiler's output only when it says
# something.
targets=()
configure_and_build() {
  local preset=$1 dir=$2 log
  shift 2
  if [ ! -f "$dir/build.ninja" ]; then
    set -- -DSUNDER_UNITY=ON "$@"
  elif [ CMakePresets.json -nt "$dir/build.ninja" ]; then
    set -- --fresh "-D$(grep '^SUNDER_UNITY:' "$dir/CMakeCache.txt")" "$@"
  fi
  log=$(mktemp)
  if [ $# -gt 0 ]; then
    cmake --preset "$preset" "$@" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
  fi
  rm -f "$log"
  if [ -t 2 ]; then
    ninja -C "$dir" "${targets[@]}" >&2 || exit 1
  else
    ninja -C "$dir" --quiet "${targets[@]}" >&2 || exit 1
  fi
}
