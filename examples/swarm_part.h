// An example of a part that a program adds to the world: a swarm of points that fall on bodies, push them and
// are carried by them. docs/writing-a-part.md explains it step by step.
#pragma once

namespace sunder::examples {

// Scenes read after this may have a block "swarm".
void registerSwarm();

}  // namespace sunder::examples
