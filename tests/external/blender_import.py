"""Imports exports into Blender and prints what arrived as one JSON line after the word RESULT.
`blender -b --factory-startup --python blender_import.py -- FILE... [--frames 0,12] [--render SHOT.png CAMERA.json]`"""
import json
import pathlib
import sys

import bpy
import mathutils
import numpy

# Blender 3.4's glTF importer uses a name that Debian's numpy has dropped.
numpy.bool = bool

arguments = sys.argv[sys.argv.index("--") + 1:]
files, frames, shot = [], [0], None
while arguments:
    word = arguments.pop(0)
    if word == "--frames":
        frames = [int(n) for n in arguments.pop(0).split(",")]
    elif word == "--render":
        shot = (arguments.pop(0), json.loads(pathlib.Path(arguments.pop(0)).read_text()))
    else:
        files.append(word)

# Blender's own up is z.
Y_UP = mathutils.Matrix(((1, 0, 0), (0, 0, 1), (0, -1, 0))).to_4x4()


def load(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 60
    ending = pathlib.Path(path).suffix
    if ending == ".glb":
        bpy.ops.import_scene.gltf(filepath=path)
    elif ending == ".ply":
        bpy.ops.import_mesh.ply(filepath=path)
    elif ending == ".obj":
        bpy.ops.wm.obj_import(filepath=path)
    elif bpy.app.build_options.usd:
        bpy.ops.wm.usd_import(filepath=path)
    else:
        return None
    return [o for o in bpy.context.scene.objects if o.type == "MESH"]


def render(path, view):
    scene = bpy.context.scene
    camera = bpy.data.objects.new("eye", bpy.data.cameras.new("eye"))
    scene.collection.objects.link(camera)
    to_z_up = Y_UP.inverted()
    eye, target = to_z_up @ mathutils.Vector(view["eye"]), to_z_up @ mathutils.Vector(view["target"])
    camera.location = eye
    camera.rotation_euler = (target - eye).to_track_quat("-Z", "Y").to_euler()
    camera.data.sensor_fit = "VERTICAL"
    camera.data.angle = view["fov"] * 3.14159265 / 180
    scene.camera = camera
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle, sun.rotation_euler = 3, 0.05, (0.7, 0.2, 0.5)
    scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.6, 0.7, 0.85, 1)
    scene.world = world
    scene.render.engine = "CYCLES"
    scene.cycles.samples = view.get("samples", 16)
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y = view["size"]
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)


results = []
for path in files:
    objects = load(path)
    if objects is None:
        results.append({"file": path, "skipped": "this Blender is built without USD"})
        continue
    found = {"file": path, "objects": len(objects), "meshes": len({o.data.name for o in objects}), "frames": {}}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        triangles, places = 0, {}
        for o in objects:
            world = Y_UP @ o.evaluated_get(graph).matrix_world
            mesh = o.data
            mesh.calc_loop_triangles()
            if abs(world.determinant()) > 1e-12:
                triangles += len(mesh.loop_triangles)
                first = world @ mesh.vertices[0].co
                places[o.name] = [*world.to_translation(), *first]
        found["frames"][frame] = {"triangles": triangles, "places": places}
    found["materials"] = sorted(m.name for m in bpy.data.materials)
    sample = next((o for o in objects if "parent" in o.keys()), None)
    found["parents"] = sum("parent" in o.keys() for o in objects) if sample else 0
    results.append(found)
    if shot:
        render(*shot)
print("RESULT " + json.dumps({"blender": bpy.app.version_string, "files": results}))
