#!/usr/bin/env python3
"""Makes scenes/log-splits.vtk, the cage of the log: a grid of bricks of six tetrahedra each, every second one mirrored, without
those that hold no wood, and slit where the log is sawn, since both sides would hang together by common vertices.

Usage:  tools/log_cage.py scenes/log-splits.vtk
"""
import itertools, math, sys
R, S = 0.09, 0.23
xs = [-0.096,-0.048,0,0.048,0.096]; ys=[-0.002,0.045,0.092,0.138,0.184,0.23,0.302]; zs=[-0.096,-0.048,0,0.048,0.096]
verts={}; pts=[]
def vid(i,j,k,right):
    key=(i,j,k, right if xs[i]==0 and ys[j]>S+1e-9 else None)
    if key not in verts: verts[key]=len(pts); pts.append((xs[i],ys[j],zs[k]))
    return verts[key]
def out(t):
    P=[pts[v] for v in t]; n=12
    for a in range(n+1):
        for b in range(n+1-a):
            for c in range(n+1-a-b):
                w=(a/n,b/n,c/n,1-(a+b+c)/n)
                x=sum(w[q]*P[q][0] for q in range(4)); z=sum(w[q]*P[q][2] for q in range(4))
                if math.hypot(x,z)<R+1e-4: return False
    return True
tets=[]
for i,j,k in itertools.product(range(len(xs)-1),range(len(ys)-1),range(len(zs)-1)):
    right = xs[i]>=0
    for p in itertools.permutations(range(3)):
        c=[0,0,0]; path=[tuple(c)]
        for a in p: c[a]=1; path.append(tuple(c))
        q=[]
        for d in path:
            e=[d[m]^((i,j,k)[m]&1) for m in range(3)]
            q.append(vid(i+e[0],j+e[1],k+e[2],right))
        tets.append(q)
tets=[t for t in tets if not out(t)]
def vol(t):
    a,b,c,d=[pts[v] for v in t]; u=[b[m]-a[m] for m in range(3)]; v=[c[m]-a[m] for m in range(3)]; w=[d[m]-a[m] for m in range(3)]
    return u[0]*(v[1]*w[2]-v[2]*w[1])-u[1]*(v[0]*w[2]-v[2]*w[0])+u[2]*(v[0]*w[1]-v[1]*w[0])
for t in tets:
    if vol(t)<0: t[0],t[1]=t[1],t[0]
used=sorted({v for t in tets for v in t}); new={v:n for n,v in enumerate(used)}
f=open(sys.argv[1],'w')
f.write("# vtk DataFile Version 3.0\nCage of the log, slit where it is sawn\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n"%len(used))
for v in used: f.write("%g %g %g\n"%pts[v])
f.write("CELLS %d %d\n"%(len(tets),5*len(tets)))
for t in tets: f.write("4 %d %d %d %d\n"%tuple(new[v] for v in t))
f.write("CELL_TYPES %d\n"%len(tets)+"10\n"*len(tets))
print(len(used),len(tets))
