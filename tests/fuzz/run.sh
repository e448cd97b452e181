#!/bin/sh
# Runs every fuzz target: first over its corpus, then SECONDS of fuzzing, two targets at a time. New inputs and crashes
# go to BUILD_DIR/fuzz/<format>. Exits with 1 when a target crashed, and prints the path of the input that did it.
#   tests/fuzz/run.sh BUILD_DIR SECONDS [FORMAT...]
set -u
if [ $# -lt 2 ]; then
  echo "usage: $0 BUILD_DIR SECONDS [FORMAT...]" >&2
  exit 2
fi
build=$1 seconds=$2
shift 2
if [ ! -d "$build" ]; then
  echo "skipped: no $build; make it with: cmake --preset asan && ninja -C build-asan fuzz_readers fuzz_more"
  exit 77
fi
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
if [ $# -eq 0 ]; then
  set -- obj ply stl off gltf msh tetgen medit vtk vtkxml http
  for more in run run_shown scene sdf state; do
    [ ! -x "$build/bin/fuzz_$more" ] || set -- "$@" "$more"
  done
fi

run_one() {
  format=$1
  target=$build/bin/fuzz_$format
  seeds=$corpus/${format%_shown}  # recordings are read and shown from the same ones
  work=$build/fuzz/$format
  if [ ! -x "$target" ]; then
    echo "$format: $target is not there; build it with: cmake --preset asan && ninja -C build-asan fuzz_readers fuzz_more"
    return 1
  fi
  mkdir -p "$work/new" "$work/crashes"
  rm -f "$work/crashes"/*
  log=$work/log.txt
  options="-artifact_prefix=$work/crashes/ -rss_limit_mb=2048 -malloc_limit_mb=512 -timeout=10 -max_len=16384"
  if ! "$target" $options -runs=0 "$seeds" >"$log" 2>&1 ||
    ! "$target" $options -max_total_time="$seconds" "$work/new" "$seeds" >>"$log" 2>&1; then
    echo "$format: FAILED, see $log"
    grep -E "ERROR|SUMMARY|the reader returned" "$log" | head -3
    ls -1 "$work/crashes"/* 2>/dev/null | sed 's/^/  input: /'
    return 1
  fi
  runs=$(grep -oE "Done [0-9]+ runs" "$log" | tail -1)
  echo "$format: ok, $runs"
}

status=0
while [ $# -gt 0 ]; do
  run_one "$1" & first=$!
  shift
  second=
  if [ $# -gt 0 ]; then
    run_one "$1" & second=$!
    shift
  fi
  wait "$first" || status=1
  [ -z "$second" ] || wait "$second" || status=1
done
exit $status
