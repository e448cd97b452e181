#!/usr/bin/env bash
# The showcase of ./run: makes a few shapes, checks and converts them, and says where they are.
set -euo pipefail
sunder=$1
mkdir -p out/showcase
for shape in wine-glass bowl vase bottle trefoil icosphere brick-wall letters; do
  "$sunder" --quiet shape "$shape" -o "out/showcase/$shape.glb"
  "$sunder" info --brief "out/showcase/$shape.glb"
done
cat <<END

The shapes are in out/showcase as .glb: drag one into Blender, ParaView or any glTF viewer.
Try next:
  ./run describe shapes                         every shape and its parameters
  ./run shape vase --set height=0.3 -o vase.obj
  ./run info vase.obj                           counts, volume, and what is wrong with it
  ./run --help
END
