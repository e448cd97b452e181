"""The net under the command, thoroughly: every value of every document, and every allocation up to some thousand."""
import unittest

import test_net


class JsonTypes(test_net.JsonTypes):
    STEP = 1


class Allocations(test_net.Allocations):
    EVEN, SAMPLES = 3000, 40
    CALLS = [*test_net.Allocations.CALLS, ["run", "scene.json", "-o", "out", "--force", "--quiet"],
             ["import", "splish.json", "-o", "o.json"], ["query", "cube.obj", "closest", "--point", "0,0,0", "-o", "o.csv"],
             ["render", "cube.obj", "--size", "8x8", "--samples", "1", "-o", "o.png", "--quiet"],
             ["sdf", "cube.obj", "-o", "o.sdf", "--quiet"], ["cut", "cube.obj", "moved.obj", "-o", "o.obj", "--quiet"]]


class Memory(test_net.Memory):
    LIMITS = [60, 70, 80, 90, 100, 120, 140, 170, 200, 250, 300, 400, 500, 700, 1000]


del test_net.JsonTypes, test_net.Allocations, test_net.Memory  # unittest would find them a second time

if __name__ == "__main__":
    unittest.main()
