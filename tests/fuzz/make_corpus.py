#!/usr/bin/env python3
"""Writes the start files of the fuzz targets to tests/fuzz/corpus/<format>: small valid files that between them touch
every branch of a reader, and broken ones. The files are in the repository; run this only to change them."""
import base64
import json
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parent / "corpus"


def save(fmt, name, content):
    folder = ROOT / fmt
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))


V = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
F = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def obj():
    verts = "".join("v %g %g %g\n" % v for v in V)
    save("obj", "tet", verts + "".join("f %d %d %d\n" % tuple(i + 1 for i in f) for f in F))
    save("obj", "attributes", "# c\nmtllib a\no box\n" + verts +
         "vt 0 0\nvt 1 .5 0\nvn 0 0 1\nusemtl m\ns 1\ng left side\nf 1/1/1 2/2/1 3/1/1\ng\nf -4/-1/-1 -2/-2/-1 -1/1/1\n")
    save("obj", "forms", "v 0 0 0 1 .5 0\r\nv 1e0 -0 +1 0 0 1\r\nv 0 1 \\\r\n0 1 1 1\r\nvn 0 1 0\nf 1//1 2//1 3//1\n"
         "l 1 2\np 1\nvp 1 2\ncstype bezier\nend")
    save("obj", "colours_w", "v 0 0 0 1 1 0 0\nv 1 0 0 1 0 1 0\nv 0 1 0 1 0 0 1\nf 1 2 3#x")
    save("obj", "bad_index", verts + "f 1 2 9\n")
    save("obj", "bad_nan", "v nan 0 0\nv inf 1e999 0\n")
    save("obj", "bad_word", "hello\n")
    save("obj", "bad_zeros", b"\0" * 64)


def ply():
    head = "ply\nformat %s 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n" \
           "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    save("ply", "ascii", head % "ascii" + "".join("%g %g %g\n" % v for v in V) + "".join("3 %d %d %d\n" % f for f in F))
    for order, name in (("<", "little"), (">", "big")):
        body = b"".join(struct.pack(order + "3f", *v) for v in V) + b"".join(struct.pack(order + "B3i", 3, *f) for f in F)
        save("ply", name, (head % ("binary_%s_endian" % name)).encode() + body)
        rich = ("ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty double z\nproperty short x\n"
                "property int y\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float nx\n"
                "property float ny\nproperty float nz\nproperty float s\nproperty float t\nproperty list uchar char q\n"
                "element edge 1\nproperty int a\nproperty list ushort double b\nelement face 1\nproperty uchar f\n"
                "property list uint ushort vertex_index\nproperty list uchar float texcoord\nend_header\n" % name).encode()
        body = b"".join(struct.pack(order + "dhi3B5fBb", 0.5 * i, i, -i, 9, 8, 7, 0, 1, 0, .5, .25, 1, 3) for i in range(3))
        body += struct.pack(order + "iHd", 1, 1, 2.5)
        body += struct.pack(order + "BI3HB6f", 1, 3, 0, 1, 2, 6, 0, 0, 1, 0, 0, 1)
        save("ply", "rich_" + name, rich + body)
    save("ply", "bad_count", (head % "ascii").replace("vertex 4", "vertex 1000000000") + "0 0 0\n")
    save("ply", "bad_strips", "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n"
         "property float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n")
    save("ply", "bad_list", (head % "ascii") + "0 0 0\n" * 4 + "99999999 0 1 2\n")


def stl():
    def corners(f):
        return [V[i] for i in f]
    body = b"".join(struct.pack("<12fH", 0, 0, 1, *[c for p in corners(f) for c in p], 0) for f in F)
    save("stl", "binary", b"x".ljust(80, b" ") + struct.pack("<I", 4) + body)
    save("stl", "binary_solid", b"solid".ljust(80, b" ") + struct.pack("<I", 4) + body)
    text = "".join("facet normal 0 0 1\nouter loop\n" + "".join("vertex %g %g %g\n" % p for p in corners(f)) +
                   "endloop\nendfacet\n" for f in F)
    save("stl", "ascii", "solid a b\n" + text + "endsolid a b\n")
    save("stl", "two", "solid a\n" + text + "endsolid a\nsolid\n" + text.upper() + "ENDSOLID\n")
    save("stl", "bad_count", b"x".ljust(80, b" ") + struct.pack("<I", 1000000000) + body)
    save("stl", "bad_nan", "solid a\nfacet normal 0 0 nan\nouter loop\nvertex nan 0 0\n")
    save("stl", "bad_zeros", b"\0" * 100)


def off():
    verts = "".join("%g %g %g\n" % v for v in V)
    faces = "".join("3 %d %d %d\n" % f for f in F)
    save("off", "plain", "OFF\n4 4 6\n" + verts + faces)
    save("off", "oneline", "# c\nOFF 4 4\n\n" + verts + "# d\n" + faces.replace("\n", " 1 0 0\n"))
    save("off", "colours", "COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n0 1 0 0 0 255 0\n3 0 1 2\n")
    save("off", "all", "STCNOFF 3 1 0\n0 0 0 0 0 1 .5 0 0 0 0\n1 0 0 0 0 1 1 1 1 1 0\n0 1 0 0 0 1 0 0 0 0 1\n3 0 1 2\n")
    save("off", "bad_binary", "OFF BINARY\n")
    save("off", "bad_count", "OFF\n1000000000 1000000000 0\n")
    save("off", "bad_index", "OFF\n3 1 0\n" + verts + "3 0 1 7\n")


def gltf():
    positions = struct.pack("<12f", *[c for v in V for c in v])
    indices = struct.pack("<12H", *[i for f in F for i in f])
    uvs = struct.pack("<8B", 0, 0, 255, 0, 0, 255, 9, 9)
    sparse = struct.pack("<HH", 2, 0) + struct.pack("<3f", 7, 8, 9)
    data = positions + indices + uvs + sparse
    root = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "children": [2], "translation": [1, 2, 3], "scale": [1, -1, 1], "name": "a"},
                  {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 5, 5, 1]},
                  {"mesh": 0, "rotation": [0, 0, 0.7071067811865475, 0.7071067811865476]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 2, "NORMAL": 0, "COLOR_0": 0},
                                    "indices": 1, "extras": {"group": "g"}},
                                   {"attributes": {"POSITION": 3}, "mode": 5}, {"attributes": {"POSITION": 0}, "mode": 6},
                                   {"attributes": {"POSITION": 0}, "mode": 1}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
                      {"bufferView": 2, "componentType": 5121, "count": 4, "type": "VEC2", "normalized": True},
                      {"componentType": 5126, "count": 4, "type": "VEC3", "sparse": {
                          "count": 1, "indices": {"bufferView": 3, "componentType": 5123},
                          "values": {"bufferView": 4}}}],
        "bufferViews": [{"buffer": 0, "byteLength": 48, "byteStride": 12}, {"buffer": 0, "byteOffset": 48, "byteLength": 24},
                        {"buffer": 0, "byteOffset": 72, "byteLength": 8}, {"buffer": 0, "byteOffset": 80, "byteLength": 2},
                        {"buffer": 0, "byteOffset": 84, "byteLength": 12}],
        "buffers": [{"byteLength": len(data)}]}

    def glb(document, binary):
        text = json.dumps(document, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
    save("gltf", "glb", glb(root, data))
    embedded = dict(root, buffers=[{"byteLength": len(data), "uri": "data:application/octet-stream;base64," +
                                    base64.b64encode(data).decode()}])
    save("gltf", "embedded", json.dumps(embedded, separators=(",", ":")))
    small = {"asset": {"version": "2.0"}, "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
             "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
             "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36}]}
    save("gltf", "small", glb(small, positions[:36]))
    save("gltf", "bad_cycle", glb(dict(small, nodes=[{"children": [1]}, {"children": [0]}], scenes=[{"nodes": [0]}]), data))
    save("gltf", "bad_draco", json.dumps({"asset": {"version": "2.0"}, "extensionsRequired": ["KHR_draco_mesh_compression"]}))
    save("gltf", "bad_uri", json.dumps(dict(small, buffers=[{"byteLength": 36, "uri": "../x.bin"}])))
    save("gltf", "bad_json", '{"asset":{"version":"2.0"},')


def msh():
    save("msh", "v2", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n" +
         "".join("%d %g %g %g\n" % (i + 1, *v) for i, v in enumerate(V)) +
         "$EndNodes\n$Elements\n2\n1 2 2 7 1 1 3 2\n2 4 2 9 1 1 2 3 4\n$EndElements\n")
    save("msh", "v4", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n" +
         "".join("%g %g %g\n" % v for v in V) +
         "$EndNodes\n$Elements\n2 2 1 2\n2 1 2 1\n1 1 3 2\n3 1 4 1\n2 1 2 3 4\n$EndElements\n")
    nodes = struct.pack("<4Q", 1, 4, 1, 4) + struct.pack("<3iQ", 3, 1, 0, 4) + struct.pack("<4Q", 1, 2, 3, 4)
    nodes += b"".join(struct.pack("<3d", *v) for v in V)
    elements = struct.pack("<4Q", 1, 1, 1, 1) + struct.pack("<3iQ", 3, 1, 4, 1) + struct.pack("<5Q", 1, 1, 2, 3, 4)
    save("msh", "v4_binary", b"$MeshFormat\n4.1 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n$Nodes\n" + nodes +
         b"\n$EndNodes\n$Elements\n" + elements + b"\n$EndElements\n")
    nodes = b"".join(struct.pack("<i3d", i + 1, *v) for i, v in enumerate(V))
    elements = struct.pack("<3i", 4, 1, 2) + struct.pack("<7i", 1, 9, 1, 1, 2, 3, 4)
    save("msh", "v2_binary", b"$MeshFormat\n2.2 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n$Nodes\n4\n" + nodes +
         b"\n$EndNodes\n$Elements\n1\n" + elements + b"\n$EndElements\n")
    save("msh", "bad_count", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1000000000\n1 0 0 0\n")
    save("msh", "bad_version", "$MeshFormat\n9.9 0 8\n$EndMeshFormat\n")


def tetgen():
    node = "# c\n4 3 0 0\n" + "".join("%d %g %g %g\n" % (i, *v) for i, v in enumerate(V))
    save("tetgen", "zero", node.encode() + b"\xff" + b"1 4 0\n0 0 1 2 3\n")
    node = "4 3 1 1\n" + "".join("%d %g %g %g 5 1\n" % (i + 1, *v) for i, v in enumerate(V))
    save("tetgen", "one", node.encode() + b"\xff" + b"1 4 1\n1 1 2 3 4 9\n# end\n")
    save("tetgen", "bad_count", b"1000000000 3 0 0\n0 0 0 0\n\xff1 4 0\n0 0 1 2 3\n")
    save("tetgen", "bad_index", node.encode() + b"\xff" + b"1 4 0\n1 1 2 3 8\n")


def medit():
    save("medit", "tet", "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n" + "".join("%g %g %g 0\n" % v for v in V) +
         "Triangles\n1\n1 3 2 5\nQuadrilaterals\n1\n1 2 3 4 0\nTetrahedra\n1\n1 2 3 4 7\nEnd\n")
    save("medit", "other", "MeshVersionFormatted\n1\n# c\nDimension\n3\nVertices 4\n" + "".join("%g %g %g 0\n" % v for v in V) +
         "Edges\n1\n1 2 0\nCorners\n1\n1\nTetrahedra 1\n1 2 3 4 1\nEnd")
    save("medit", "bad_count", "MeshVersionFormatted 2\nDimension 3\nVertices\n1000000000\n0 0 0 0\n")


def vtk():
    points = "".join("%g %g %g\n" % v for v in V)
    save("vtk", "grid", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n" + points +
         "CELLS 2 9\n4 0 1 2 3\n3 0 2 1\nCELL_TYPES 2\n10\n5\nCELL_DATA 2\nSCALARS region int 1\nLOOKUP_TABLE default\n3\n4\n")
    save("vtk", "poly", "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n" + points +
         "POLYGONS 2 8\n3 0 1 2\n3 0 2 3\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\n")
    save("vtk", "v5", "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n" + points +
         "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n")
    save("vtk", "binary", b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n" +
         struct.pack(">12f", *[c for v in V for c in v]) + b"\nCELLS 1 5\n" + struct.pack(">5i", 4, 0, 1, 2, 3) +
         b"\nCELL_TYPES 1\n" + struct.pack(">i", 10) + b"\n")
    save("vtk", "bad_count", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1000000000 float\n0 0 0\n")


def vtkxml():
    flat = " ".join("%g" % c for v in V for c in v)
    grid = ('<?xml version="1.0"?><VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            'header_type="UInt64"><UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1"><Points>%s</Points>'
            '<Cells>%s%s%s</Cells></Piece></UnstructuredGrid>%s</VTKFile>')
    ascii_array = '<DataArray type="%s" Name="%s" NumberOfComponents="%d" format="ascii">%s</DataArray>'
    save("vtkxml", "ascii", grid % (ascii_array % ("Float64", "Points", 3, flat),
                                    ascii_array % ("Int64", "connectivity", 1, "0 1 2 3"),
                                    ascii_array % ("Int64", "offsets", 1, "4"), ascii_array % ("UInt8", "types", 1, "10"), ""))
    arrays = [("Float32", "Points", 3, struct.pack("<12f", *[c for v in V for c in v])),
              ("Int32", "connectivity", 1, struct.pack("<4i", 0, 1, 2, 3)), ("Int32", "offsets", 1, struct.pack("<i", 4)),
              ("UInt8", "types", 1, struct.pack("<B", 10))]
    inline = ['<DataArray type="%s" Name="%s" NumberOfComponents="%d" format="binary">%s</DataArray>' %
              (t, n, c, base64.b64encode(struct.pack("<Q", len(d)) + d).decode()) for t, n, c, d in arrays]
    save("vtkxml", "base64", grid % (*inline, ""))
    blob, tags = b"", []
    for t, n, c, d in arrays:
        tags.append('<DataArray type="%s" Name="%s" NumberOfComponents="%d" format="appended" offset="%d"/>' % (t, n, c, len(blob)))
        blob += struct.pack("<Q", len(d)) + d
    text = grid % (*tags, '<AppendedData encoding="raw">_@@</AppendedData>')
    save("vtkxml", "raw", text.encode().replace(b"@@", blob))
    poly = ('<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian"><PolyData><Piece NumberOfPoints="4" '
            'NumberOfPolys="2"><Points>%s</Points><Polys>%s%s</Polys></Piece></PolyData></VTKFile>')
    save("vtkxml", "poly", poly % (ascii_array % ("Float32", "Points", 3, flat),
                                   ascii_array % ("Int32", "connectivity", 1, "0 2 1 0 1 3"),
                                   ascii_array % ("Int32", "offsets", 1, "3 6")))
    save("vtkxml", "bad_count", (grid % (ascii_array % ("Float64", "Points", 3, flat), "", "", "", "")).replace(
        'NumberOfPoints="4"', 'NumberOfPoints="1000000000"'))


def run():
    """Chunks as fuzz_run.cpp takes them: type, length, payload."""
    def text(t):
        return struct.pack("<I", len(t)) + t.encode()

    def chunk(kind, payload):
        return bytes([kind, len(payload)]) + payload
    scene = text("p") + text("s") + struct.pack("<d", 60) + text("{}")
    mesh = struct.pack("<I", 0) + text("m") + struct.pack("<III", 3, 1, 0) + struct.pack("<9f", *range(9)) + \
        struct.pack("<III", 0, 1, 2)
    body = struct.pack("<I", 0) + text("b") + struct.pack("<I", 0xffffffff) + text("glass") + \
        struct.pack("<IdBQ", 0, 1.0, 2, 0)
    poses = struct.pack("<II", 1, 0) + bytes(range(34))
    frame = struct.pack("<HQ", 1, len(poses)) + poses
    gone = struct.pack("<HQII", 2, 8, 1, 0)
    field = struct.pack("<HQH", 3, 11, 1) + b"f" + struct.pack("<If", 1, 2.0)
    events = struct.pack("<IBII8f", 1, 0, 0, 1, *range(8)) + text("t")
    names = struct.pack("<I", 1) + text("energy")
    stat = struct.pack("<IId", 0, 1, 3.0)
    end = struct.pack("<B", 0) + text("") + struct.pack("<Q", 5) + text("{}")
    start = chunk(0, scene) + chunk(1, mesh) + chunk(2, body)
    save("run", "frames", start + chunk(10, names) + chunk(5, stat) + chunk(6, events) + chunk(4, frame + field) +
         chunk(3, frame) + chunk(3, gone) + chunk(8, struct.pack("<Q", 9) + b"state") + chunk(9, end))
    cage = struct.pack("<I", 1) + text("c") + struct.pack("<III", 4, 0, 1) + struct.pack("<12f", *range(12)) + \
        struct.pack("<IIII", 0, 1, 2, 3)
    embedding = struct.pack("<IIIII", 0, 0, 1, 3, 1) + struct.pack("<III", 0, 0, 0) + \
        struct.pack("<4f", 1, 0, 0, 0) * 3 + struct.pack("<I", 3)
    tear = struct.pack("<IIQIIIIIIB", 0, 0, 1, 0xffffffff, 0, 1, 0, 1, 0, 0) + struct.pack("<3f", 1, 2, 3) + \
        struct.pack("<II", 2, 4)
    added = struct.pack("<IIQIIIIIIB", 1, 0, 2, 0, 1, 0, 0, 0, 1, 7) + struct.pack("<III", 0, 1, 2) + b"\1" + \
        struct.pack("<6f", *range(6)) + struct.pack("<H", 0)
    front = struct.pack("<IIIBI", 1, 0, 0, 1, 1) + struct.pack("<13fB", *range(13), 1)
    inputs = struct.pack("<IQQ", 1, 3, 4) + text("grip") + text("{}")
    points = struct.pack("<IffIB", 0, 0.1, 0, 4, 0) + bytes(48) + struct.pack("<H", 0)
    values = struct.pack("<IffIHH", 0, 0.1, 0, 3, 1, 1) + b"s" + struct.pack("<B3H", 1, 1, 2, 3)
    def section(number, payload):
        return struct.pack("<HQ", number, len(payload)) + payload
    save("run", "changes", chunk(0, scene) + chunk(1, mesh) + chunk(1, cage) + chunk(17, embedding) + chunk(2, body) +
         chunk(16, tear) + chunk(16, added) + chunk(18, inputs) + chunk(19, front) +
         chunk(4, frame + section(4, points)) + chunk(3, section(6, values)) + chunk(3, frame) + b"\r\1\1")
    save("run", "empty", start)
    save("run", "file", b"\0SUNDRUN\n" + struct.pack("<II", 1, 0))


def scene():
    here = Path(__file__).resolve().parents[2]
    for path in sorted((here / "scenes").glob("*.json")):
        save("scene", path.stem, path.read_text())
    save("scene", "units", '{"world": {"duration": "2 s", "gravity": [0, "-1 gee", "3 m/s^2"]}}')
    save("scene", "bad_key", '{"wrld": {}}')
    save("scene", "include", '{"include": ["x.json"]}')


def sdf():
    """Layout: docs/file-formats.md. The checksum is left 0; the fuzz target makes it fit."""
    def field(base, child, degrees, version=1, domain=(-1, -1, -1, 1, 1, 1), extra=b""):
        counts = [(p + 1) * (p + 2) * (p + 3) // 6 for p in degrees]
        begin = [sum(counts[:i]) for i in range(len(counts) + 1)]
        values = [0.25 * ((i * 7) % 5 - 2) for i in range(begin[-1])]
        body = struct.pack("<6d", *domain) + struct.pack("<6d", -0.5, -0.5, -0.5, 0.5, 0.5, 0.5)
        body += struct.pack("<3d", 1e-3, 9e-4, 1e-2) + struct.pack("<4I", *base, 0)
        body += struct.pack("<3Q", len(child), len(degrees), len(values))
        body += struct.pack("<%dd" % len(values), *values) + struct.pack("<%di" % len(child), *child)
        body += struct.pack("<%dI" % len(begin), *begin) + bytes(degrees) + extra
        return b"SUNDSDF\n" + struct.pack("<IIQ", version, 0, 0) + body

    save("sdf", "one_cell", field((1, 1, 1), [-1], [2]))
    save("sdf", "grid", field((2, 1, 3), [-1 - i for i in range(6)], [0, 1, 2, 3, 4, 5]))
    save("sdf", "split", field((1, 1, 1), [1] + [-1 - i for i in range(8)], [1, 2, 1, 2, 1, 2, 1, 3]))
    save("sdf", "twice", field((1, 1, 1), [1, 9] + [-1 - i for i in range(15)], [1] * 15))
    save("sdf", "bad_version", field((1, 1, 1), [-1], [2], version=9))
    save("sdf", "bad_base", field((0xffffffff, 0xffffffff, 0xffffffff), [-1], [2]))
    save("sdf", "bad_child", field((1, 1, 1), [0] + [-1 - i for i in range(8)], [1] * 8))
    save("sdf", "bad_domain", field((1, 1, 1), [-1], [2], domain=(0, 0, 0, 1, 0, 1)))
    save("sdf", "bad_end", field((1, 1, 1), [-1], [2], extra=b"x"))
    save("sdf", "tiny_domain", field((1, 1, 1), [-1], [2], domain=(0, 0, 0, 1e-310, 1e-310, 1e-310)))
    save("sdf", "cut_off", field((1, 1, 1), [-1], [2])[:150])


def state():
    """Bytes over a state: how, then place, count and bytes of each change."""
    def change(place, content):
        return struct.pack("<IB", place, len(content)) + content

    save("state", "same", b"\0")
    save("state", "cut", b"\1" + change(200, b""))
    save("state", "longer", b"\2")
    save("state", "count", b"\0" + change(8, b"\xff\xff\xff\x7f"))
    save("state", "not_finite", b"\0" + change(60, struct.pack("<d", float("nan"))) + change(300, struct.pack("<d", 1e300)))


def http():
    ours = "Host: 127.0.0.1:8321\r\n"
    save("http", "get", f"GET /api/run HTTP/1.1\r\n{ours}Accept: */*\r\n\r\n")
    save("http", "pipelined", "HEAD /api/mesh/1 HTTP/1.1\r\nHost: localhost:8321\r\nConnection: close\r\n\r\n"
         "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
    save("http", "range", f"GET /api/frames/0-11?x HTTP/1.1\r\n{ours}Range: bytes=0-99999999\r\n\r\n")
    save("http", "origin", f"\r\n\r\nGET / HTTP/1.1\r\n{ours}Origin: null\r\nSec-Fetch-Site: cross-site\r\n"
         "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n")
    save("http", "body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello")
    save("http", "broken", "GET /\0 HTTP/2.0\r\n: a\r\n b\n\r\r\n\r\n")


for write in (obj, ply, stl, off, gltf, msh, tetgen, medit, vtk, vtkxml, run, scene, sdf, state, http):
    write()
