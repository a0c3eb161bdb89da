"""PETSc's cg and bcgs on the five-point Laplacian, 60 turns without a preconditioner: a line of JSON for each.

mpirun -n 2 python3 petsc.py 500 1000
"""

import json
import sys
import time

import numpy as np
import petsc4py

petsc4py.init([])
from petsc4py import PETSc  # noqa: E402


def poisson(n, varies):
    """Rows of this rank, each in the order of its columns."""
    first, last = np.array(PETSc.Vec().createMPI(n * n).getOwnershipRange())
    row = np.arange(first, last)
    i, j = np.divmod(row, n)
    column = row[:, None] + np.array([-n, -1, 0, 1, n])
    is_there = np.stack([i > 0, j > 0, i >= 0, j < n - 1, i < n - 1], axis=1)
    value = np.broadcast_to([-1.0, -1.0, 4.0, -1.0, -1.0], column.shape)
    if varies:
        value = value * (1 + row[:, None] / (n * n)) * (1 + column / (n * n))
    begins = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
    csr = (begins.astype("i4"), column[is_there].astype("i4"), value[is_there])
    A = PETSc.Mat().createAIJ(((len(row), n * n), (len(row), n * n)), csr=csr)
    A.assemble()
    return A


for n in map(int, sys.argv[1:]):
    plain, varying = poisson(n, False), poisson(n, True)
    x, b = plain.createVecs()
    b.set(1.0)
    for name, kind, A in (("cg", "cg", plain), ("bicgstab", "bcgs", plain), ("cg, varying", "cg", varying),
                          ("bicgstab, varying", "bcgs", varying)):  # fmt: skip
        solver = PETSc.KSP().create()
        solver.setOperators(A)
        solver.setType(kind)
        solver.getPC().setType("none")
        solver.setTolerances(rtol=1e-30, atol=0.0, divtol=1e30, max_it=60)
        solver.solve(b, x)
        found = []
        for _ in range(3):
            x.set(0.0)
            PETSc.COMM_WORLD.barrier()
            began = time.perf_counter()
            solver.solve(b, x)
            found.append((time.perf_counter() - began) / max(solver.getIterationNumber(), 1))
        if PETSc.COMM_WORLD.rank == 0:
            line = {"framework": "petsc", "name": name, "size": n, "seconds": min(found)}
            print(json.dumps(line), flush=True)
