#!/usr/bin/env python3
"""Makes the pictures of the documentation: docs/images/shapes.png.

Usage:  tools/docs_pictures.py [--sunder build/bin/sunder] [--out docs/images] [--size 1400x700]

Needs Debian's python3-vtk9 (start it with /usr/bin/python3 where that is not the first python3) and a display; without
one, run it under xvfb-run -a. Meshes come from `sunder shape NAME --set k=v -o FILE`.
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
except ImportError:
    sys.exit("docs_pictures.py: install python3-vtk9 and python3-numpy, and run with /usr/bin/python3")

# Warm and cool colours of similar lightness.
CLAY, SAND, SAGE, TEAL = (0.80, 0.42, 0.30), (0.90, 0.72, 0.42), (0.52, 0.66, 0.48), (0.22, 0.55, 0.58)
SLATE, PLUM, ROSE, CREAM = (0.36, 0.47, 0.64), (0.55, 0.38, 0.55), (0.85, 0.56, 0.56), (0.93, 0.90, 0.84)

BACKGROUND = (241 / 255, 239 / 255, 237 / 255)
KEY = (-4.0, 6.5, 6.0)  # towards the main lamp
FLOOR = 14.0             # half the side of the floor

# shape, parameters, colour, largest size wanted, (x, z) of its place, turns about y and x in degrees. All shapes are
# put on the ground after turning.
SCENE = [
    ("brick-wall", "columns=14 rows=10", CLAY, 6.2, (0.0, -2.1), 0, 0),
    ("letters", "text=SUNDER depth=0.3", CREAM, 4.2, (0.0, -1.35), 0, 0),
    ("bottle", "segments=128 resolution=100", SAGE, 2.05, (-3.75, -1.0), 0, 0),
    ("vase", "segments=128 resolution=100", TEAL, 1.4, (-2.75, -0.45), 0, 0),
    ("wine-glass", "segments=128 resolution=80", SLATE, 1.75, (3.75, -0.95), 0, 0),
    ("extrusion", "outline=gear points=14 depth=0.22", ROSE, 0.95, (2.75, -0.45), -28, 0),
    ("bowl", "segments=128 resolution=60", SAND, 1.05, (-1.5, 0.35), 0, 0),
    ("torus-knot", "p=2 q=3 sides=32 steps=64", PLUM, 1.1, (-0.2, 0.1), 20, 0),
    ("icosphere", "frequency=40", ROSE, 0.56, (0.75, 0.2), 0, 0),
    ("rippled-sphere", "n=120", SAGE, 0.74, (1.85, 0.55), 0, 0),
    ("rope", "sides=32 steps=64", SAND, 1.3, (1.0, 1.3), -8, 0),
    ("figure-eight-knot", "sides=32 steps=480", TEAL, 1.0, (-0.75, 1.3), 15, 0),
    ("extrusion", "outline=star points=5 inner=0.45 hole=0 depth=0.2", SAND, 0.75, (3.1, 0.75), 25, -90),
    ("torus", "segments=96 sides=48", SLATE, 0.66, (-3.4, 0.45), 0, 0),
    ("capsule", "segments=64 rings=24", CLAY, 0.62, (-2.4, 1.0), 35, 90),
]


def mesh(sunder, folder, shape, parameters, index):
    """A vtkPolyData of the shape, with smooth normals split at sharp edges."""
    path = folder / f"{index}.ply"
    command = [sunder, "shape", shape, "-o", str(path)]
    for value in parameters.split():
        command += ["--set", value]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    reader = vtk.vtkPLYReader()
    reader.SetFileName(str(path))
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputConnection(reader.GetOutputPort())
    normals.SetFeatureAngle(32)
    normals.SplittingOn()
    normals.ConsistencyOff()
    normals.Update()
    return normals.GetOutput()


def placed(data, size, place, turn_y, turn_x):
    """Turned, scaled to `size` and set down on the ground at `place`."""
    def bounds_after(transform):
        run = vtk.vtkTransformPolyDataFilter()
        run.SetInputData(data)
        run.SetTransform(transform)
        run.Update()
        return run.GetOutput()

    turned = vtk.vtkTransform()
    turned.PostMultiply()
    turned.RotateX(turn_x)
    turned.RotateY(turn_y)
    b = bounds_after(turned).GetBounds()
    scale = size / max(b[1] - b[0], b[3] - b[2], b[5] - b[4])
    turned.Translate(-(b[0] + b[1]) / 2, -b[2], -(b[4] + b[5]) / 2)
    turned.Scale(scale, scale, scale)
    turned.Translate(place[0], 0, place[1])
    return bounds_after(turned)


def actor(data, colour):
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.ScalarVisibilityOff()
    result = vtk.vtkActor()
    result.SetMapper(mapper)
    surface = result.GetProperty()
    surface.SetColor(*colour)
    surface.SetInterpolationToPhong()
    surface.SetAmbient(0.25)
    surface.SetDiffuse(0.8)
    surface.SetSpecular(0.22)
    surface.SetSpecularPower(30)
    return result


def light(renderer, direction, strength, colour):
    lamp = vtk.vtkLight()
    lamp.SetLightTypeToSceneLight()
    lamp.SetPositional(False)
    lamp.SetPosition(*direction)
    lamp.SetFocalPoint(0, 0, 0)
    lamp.SetIntensity(strength)
    lamp.SetColor(*colour)
    renderer.AddLight(lamp)


def window_of(renderer, width, height):
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(width, height)
    window.AddRenderer(renderer)
    return window


def grabbed(window):
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    grab.Update()
    return grab.GetOutput()


def shadow_directions():
    """Slopes (dx, dz) per unit of height and weights: a large lamp at the upper left, and the whole sky."""
    key = [((-KEY[0] / KEY[1]) + 0.09 * r * math.cos(a), (-KEY[2] / KEY[1]) + 0.09 * r * math.sin(a), 0.5 / 48)
           for r in (1, 2, 3) for a in (2 * math.pi * (k + 0.3 * r) / 16 for k in range(16))]
    sky = []
    for ring, slope in enumerate((0.15, 0.4, 0.75, 1.2, 2.0)):
        for k in range(18):
            a = 2 * math.pi * (k + 0.37 * ring) / 18
            sky.append((slope * math.cos(a), slope * math.sin(a), 0.45 / 90))
    return key + sky


def ground(solids):
    """The floor with soft shadows: the scene flattened along many directions of light, seen from above, averaged. Unlit
    and of the background's colour, so that it has no horizon."""
    pixels = 1400
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    flattened = []
    for data in solids:
        mapper = vtk.vtkPolyDataMapper()
        mapper.SetInputData(data)
        mapper.ScalarVisibilityOff()
        shade = vtk.vtkActor()
        shade.SetMapper(mapper)
        shade.GetProperty().SetColor(0, 0, 0)
        shade.GetProperty().LightingOff()
        renderer.AddActor(shade)
        flattened.append(shade)
    camera = renderer.GetActiveCamera()
    camera.ParallelProjectionOn()
    camera.SetParallelScale(FLOOR)
    camera.SetPosition(0, 20, 0)
    camera.SetFocalPoint(0, 0, 0)
    camera.SetViewUp(0, 0, -1)
    camera.SetClippingRange(1, 60)
    window = window_of(renderer, pixels, pixels)
    total = numpy.zeros((pixels, pixels))
    for dx, dz, weight in shadow_directions():
        matrix = vtk.vtkMatrix4x4()  # (x, y, z) -> (x + dx y, 0, z + dz y), kept a little thick for the depth buffer
        for row, values in enumerate(((1, dx, 0, 0), (0, 1e-3, 0, 0), (0, dz, 1, 0), (0, 0, 0, 1))):
            for column, value in enumerate(values):
                matrix.SetElement(row, column, value)
        for shade in flattened:
            shade.SetUserMatrix(matrix)
        window.Render()
        image = vtk_to_numpy(grabbed(window).GetPointData().GetScalars())[:, 0].reshape(pixels, pixels)
        total += weight * (1 - image / 255.0)
    lit = numpy.clip(1 - 0.95 * total, 0, 1)[:, :, None]
    warm = numpy.array(BACKGROUND) * (lit + (1 - lit) * numpy.array([0.30, 0.31, 0.35]))
    colours = numpy.ascontiguousarray(numpy.rint(255 * numpy.clip(warm, 0, 1)).astype(numpy.uint8).reshape(-1, 3))
    image = vtk.vtkImageData()
    image.SetDimensions(pixels, pixels, 1)
    image.GetPointData().SetScalars(numpy_to_vtk(colours, deep=True))
    texture = vtk.vtkTexture()
    texture.SetInputData(image)
    texture.InterpolateOn()
    plane = vtk.vtkPlaneSource()
    plane.SetOrigin(-FLOOR, 0, FLOOR)
    plane.SetPoint1(FLOOR, 0, FLOOR)
    plane.SetPoint2(-FLOOR, 0, -FLOOR)
    plane.Update()
    floor = actor(plane.GetOutput(), (1, 1, 1))
    floor.GetProperty().LightingOff()
    floor.GetProperty().SetAmbient(1)
    floor.GetProperty().SetDiffuse(0)
    floor.SetTexture(texture)
    return floor


def render(solids, actors, width, height, path):
    factor = 2  # drawn larger and averaged: smooth edges on any driver
    renderer = vtk.vtkRenderer()
    renderer.SetBackground(*BACKGROUND)
    for a in actors:
        renderer.AddActor(a)
    renderer.AddActor(ground(solids))
    renderer.AutomaticLightCreationOff()
    light(renderer, KEY, 0.92, (1.0, 0.975, 0.94))
    light(renderer, (6, 3, 7), 0.28, (0.9, 0.95, 1.0))
    light(renderer, (0, 10, -2), 0.18, (1, 1, 1))

    camera = renderer.GetActiveCamera()
    camera.SetPosition(0, 4.3, 11)
    camera.SetFocalPoint(0, 0.56, -0.4)
    camera.SetViewUp(0, 1, 0)
    camera.SetViewAngle(19.6)
    renderer.ResetCameraClippingRange(-FLOOR, FLOOR, -0.1, 5, -FLOOR, 6)

    occlusion = vtk.vtkSSAOPass()  # darkens creases between the bodies
    occlusion.SetRadius(0.35)
    occlusion.SetBias(0.012)
    occlusion.SetKernelSize(128)
    occlusion.BlurOn()
    occlusion.SetDelegatePass(vtk.vtkRenderStepsPass())
    renderer.SetPass(occlusion)

    window = window_of(renderer, width * factor, height * factor)
    window.Render()
    smaller = vtk.vtkImageResize()
    smaller.SetInputData(grabbed(window))
    smaller.SetOutputDimensions(width, height, 1)
    smaller.InterpolateOn()
    smaller.Update()
    small = smaller.GetOutput()
    # 7 bits per colour: no eye sees it, and the file shrinks.
    values = vtk_to_numpy(small.GetPointData().GetScalars())
    values |= 1
    writer = vtk.vtkPNGWriter()
    writer.SetFileName(str(path))
    writer.SetCompressionLevel(9)
    writer.SetInputData(small)
    writer.Write()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sunder", default="build/bin/sunder", help="the command that makes the meshes")
    parser.add_argument("--out", default="docs/images", type=pathlib.Path, help="folder of the pictures")
    parser.add_argument("--size", default="1400x700", help="width x height in pixels")
    options = parser.parse_args()
    width, height = (int(n) for n in options.size.split("x"))
    options.out.mkdir(parents=True, exist_ok=True)
    solids, actors = [], []
    with tempfile.TemporaryDirectory() as folder:
        for index, (shape, parameters, colour, size, place, turn_y, turn_x) in enumerate(SCENE):
            data = mesh(options.sunder, pathlib.Path(folder), shape, parameters, index)
            solids.append(placed(data, size, place, turn_y, turn_x))
            actors.append(actor(solids[-1], colour))
    path = options.out / "shapes.png"
    render(solids, actors, width, height, path)
    print(f"{path}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
