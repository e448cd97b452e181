#!/usr/bin/env bash
# showcase.sh SUNDER SCENE [arguments of sunder run]: simulates a scene, renders its last frame, and says how to look at it.
set -euo pipefail
sunder=$1
scene=$2
out=out/$(basename "$scene" .json)
"$sunder" run "$scene" -o "$out" "${@:3}"
"$sunder" --quiet render "$out" --samples 16 --size 960x540 -o "$out/last.png"
cat <<END

$out/run.sunder holds the run, $out/last.png its last frame. Look at it:
  ./run view $out                               in the browser
  ./run render $out -o movie.mp4 --samples 8    as a movie
  ./run info $out                               what is in it
Try next:
  ./run scenes/dominoes.json                    another scene; all are in scenes/
  ./run describe scene                          every key of a scene, commented
  ./run --help
END
