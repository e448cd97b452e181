#!/usr/bin/env bash
# showcase.sh SUNDER SCENE [arguments of sunder run]: simulates a scene, renders a frame of it, and says how to look at it.
set -euo pipefail
sunder=$1
scene=$2
out=out/$(basename "$scene" .json)
"$sunder" run "$scene" -o "$out" "${@:3}"
# The showcase is seen from near by, while it happens; other scenes as they end.
picture=$out/last.png what="its last frame" look=()
if [ "$(basename "$scene" .json)" = showcase ] && [ $# -eq 2 ]; then
  picture=$out/moment.png what="its best moment" look=(--frame 28 --camera "eye 0.85 0.55 1.6 target 0.2 0.38 0 fov 44")
fi
"$sunder" --quiet render "$out" --samples 32 --size 960x540 "${look[@]}" -o "$picture"
cat <<END

$out/run.sunder holds the run, $picture $what. Look at it:
  ./run view $out                               in the browser
  ./run render $out -o movie.mp4 --samples 8    as a movie
  ./run info $out                               what is in it
Try next:
  ./run scenes/dominoes.json                    another scene; all are in scenes/
  ./run describe scene                          every key of a scene, commented
  ./run --help
END
