"""Opens what `sunder export --to vtk` and `--to ply` wrote with VTK itself and prints what it found as JSON.
`vtk_read.py FILE.pvd [FILE.ply]`, run by a Python that has the module vtk."""
import json
import pathlib
import sys
import xml.etree.ElementTree

import vtk


def arrays(data):
    return {data.GetArrayName(i): data.GetArray(i).GetNumberOfComponents() for i in range(data.GetNumberOfArrays())}


def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


pvd = pathlib.Path(sys.argv[1])
steps = [(float(d.get("timestep")), d.get("file")) for d in xml.etree.ElementTree.parse(pvd).iter("DataSet")]
frames = []
for time, name in steps:
    volume = name.endswith(".vtu")
    out = read(vtk.vtkXMLUnstructuredGridReader() if volume else vtk.vtkXMLPolyDataReader(), pvd.parent / name)
    bodies = out.GetCellData().GetArray("body")
    stamp = out.GetFieldData().GetArray("TimeValue")
    frames.append({"time": time, "stamp": stamp.GetValue(0), "points": out.GetNumberOfPoints(), "cells": out.GetNumberOfCells(),
                   "bodies": len({bodies.GetValue(i) for i in range(bodies.GetNumberOfValues())}),
                   "bounds": out.GetBounds()})
result = {"vtk": vtk.vtkVersion().GetVTKVersion(), "frames": frames, "cell_arrays": arrays(out.GetCellData())}
if len(sys.argv) > 2:
    ply = read(vtk.vtkPLYReader(), sys.argv[2])
    result["ply"] = {"points": ply.GetNumberOfPoints(), "cells": ply.GetNumberOfCells(), "bounds": ply.GetBounds(),
                     "point_arrays": arrays(ply.GetPointData())}
print(json.dumps(result))
