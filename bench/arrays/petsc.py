"""PETSc's cg and bcgs on the five-point Laplacian, 60 turns without a preconditioner: a line of JSON for each.

mpirun -n 2 python3 petsc.py 500 1000
"""

import json
import sys
import time

import petsc4py

petsc4py.init([])
from petsc4py import PETSc  # noqa: E402


def poisson(n, varies):
    def value(row, column, plain):
        return plain * (1 + row / (n * n)) * (1 + column / (n * n)) if varies else plain

    A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    for row in range(*A.getOwnershipRange()):
        i, j = divmod(row, n)
        A[row, row] = value(row, row, 4.0)
        for column, is_there in ((row - n, i > 0), (row + n, i < n - 1), (row - 1, j > 0), (row + 1, j < n - 1)):
            if is_there:
                A[row, column] = value(row, column, -1.0)
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
