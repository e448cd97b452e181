"""The net under the command, thoroughly: every value of every document, every allocation while the program starts, and those
of each verb, all of them up to some thousand. SUNDER_CALLS="check sdf" takes only these verbs."""
import os
import unittest

import test_net


class JsonTypes(test_net.JsonTypes):
    STEP = 1


class Allocations(test_net.Allocations):
    """The program takes ten thousand allocations to start, the same ones for every verb: the first call sweeps them, the
    others what comes after."""

    MOST = 3000
    START = ["--version"]
    CALLS = [*test_net.Allocations.CALLS, ["run", "scene.json", "-o", "out", "--force", "--quiet"],
             ["import", "splish.json", "-o", "o.json"], ["query", "cube.obj", "closest", "--point", "0,0,0", "-o", "o.csv"],
             ["render", "cube.obj", "--size", "8x8", "--samples", "1", "-o", "o.png", "--quiet"],
             ["check", "scene.json", "--set", "shapes.new.box.size=[1, 1, 1]"],
             ["sdf", "cube.obj", "-o", "o.sdf", "--quiet"], ["cut", "cube.obj", "moved.obj", "-o", "o.obj", "--quiet"]]
    CALLS = [call for call in CALLS if call[0] in os.environ.get("SUNDER_CALLS", call[0]).split()]

    def chosen(self, arguments, total):
        if arguments == self.START:
            return set(range(1, total + 1))
        # Verbs have other arguments: what starting takes differs by a per cent or two between them.
        common = int(0.97 * self.count(self.START)[0])
        return super().chosen(arguments, total) | set(range(common, total + 1, -(-(total - common) // self.MOST)))


class Memory(test_net.Memory):
    LIMITS = [60, 70, 80, 90, 100, 120, 140, 170, 200, 250, 300, 400, 500, 700, 1000]


del test_net.JsonTypes, test_net.Allocations, test_net.Memory  # unittest would find them a second time

if __name__ == "__main__":
    unittest.main()
