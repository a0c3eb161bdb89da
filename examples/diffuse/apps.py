"""The seven applications of the Diffuse paper in their natural form, for any module like NumPy and SciPy's sparse.

Each is a class with arrays as its state and turn(), one iteration; result() has the arrays to compare.

    python examples/diffuse/run.py            # all of them, beside NumPy and SciPy
"""


class BlackScholes:
    """Prices of call and put options."""

    def __init__(self, np, sparse, n):
        self.np = np
        places = np.arange(n) / n
        self.price, self.strike, self.time = 10 + 40 * places, 60 - 30 * places, 1 + places
        self.rate, self.volatility = 0.02, 0.3

    def normal(self, d):
        """The distribution function, by a polynomial."""
        np = self.np
        k = 1.0 / (1.0 + 0.2316419 * np.absolute(d))
        tail = np.exp(-0.5 * d * d) * 0.3989422804014327 * (
            k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        )  # fmt: skip
        return np.where(d > 0, 1.0 - tail, tail)

    def turn(self):
        np = self.np
        root = np.sqrt(self.time)
        spread = self.volatility * root
        d1 = (np.log(self.price / self.strike) + (self.rate + 0.5 * self.volatility**2) * self.time) / spread
        d2 = d1 - spread
        c1, c2 = self.normal(d1), self.normal(d2)
        worth = self.strike * np.exp(-self.rate * self.time)
        self.call = self.price * c1 - worth * c2
        self.put = worth * (1.0 - c2) - self.price * (1.0 - c1)

    def result(self):
        return self.call, self.put


class Jacobi:
    """x = (b - R x) / d for a dense matrix."""

    def __init__(self, np, sparse, n):
        self.np = np
        row, column = np.arange(n).reshape(n, 1) + 0.0, np.arange(n).reshape(1, n) + 0.0
        matrix = 1.0 / (1.0 + np.absolute(row - column))
        self.d = np.full(n, 2.0 * n)
        self.rest = matrix - (row == column) * matrix
        self.b = np.arange(n) / n
        self.x = np.zeros(n)

    def turn(self):
        self.x = (self.b - self.np.dot(self.rest, self.x)) / self.d

    def result(self):
        return (self.x,)


def poisson(np, sparse, n):
    """The five-point Laplacian on n by n points."""
    size = n * n
    beside = np.ones(size - 1)
    beside[n - 1 :: n] = 0.0
    far = np.ones(size - n)
    return sparse.diags([-far, -beside, 4.0 * np.ones(size), -beside, -far], [-n, -1, 0, 1, n], format="csr")


class ConjugateGradients:
    def __init__(self, np, sparse, n):
        self.A = poisson(np, sparse, n)
        self.x = np.zeros(n * n)
        self.r = np.arange(n * n) / (n * n) + 0.5
        self.p = self.r.copy()
        self.rr = self.r.dot(self.r)

    def turn(self):
        q = self.A @ self.p
        alpha = self.rr / self.p.dot(q)
        self.x = self.x + alpha * self.p
        self.r = self.r - alpha * q
        rr = self.r.dot(self.r)
        self.p = self.r + (rr / self.rr) * self.p
        self.rr = rr

    def result(self):
        return self.x, self.r


class BiCGSTAB:
    def __init__(self, np, sparse, n):
        self.A = poisson(np, sparse, n)
        self.x = np.zeros(n * n)
        self.r = np.arange(n * n) / (n * n) + 0.5
        self.shadow, self.p = self.r.copy(), self.r.copy()
        self.rho = self.shadow.dot(self.r)

    def turn(self):
        v = self.A @ self.p
        alpha = self.rho / self.shadow.dot(v)
        s = self.r - alpha * v
        t = self.A @ s
        omega = t.dot(s) / t.dot(t)
        self.x = self.x + alpha * self.p + omega * s
        self.r = s - omega * t
        rho = self.shadow.dot(self.r)
        self.p = self.r + (rho / self.rho) * (alpha / omega) * (self.p - omega * v)
        self.rho = rho

    def result(self):
        return self.x, self.r


class Multigrid:
    """Conjugate gradients, preconditioned by a V-cycle of two levels with weighted Jacobi sweeps."""

    def __init__(self, np, sparse, n):
        self.omega, size = 2.0 / 3.0, n * n
        self.A = poisson(np, sparse, n)
        # Full weighting of points at even places.
        half = n // 2
        one = sparse.diags([0.25, 0.5, 0.25], [-1, 0, 1], shape=(n, n), format="csr")[1 : 2 * half : 2]
        self.R = sparse.csr_array(sparse.kron(one, one))
        self.P = sparse.csr_array(4.0 * self.R.T)
        self.coarse = sparse.csr_array(self.R @ self.A @ self.P)
        self.d, self.d_coarse = np.full(size, 4.0), np.asarray(self.coarse.diagonal())
        self.x = np.zeros(size)
        self.r = np.arange(size) / size + 0.5
        z = self.cycle(self.r)
        self.p, self.rz = z, self.r.dot(z)

    def cycle(self, r):
        x = self.omega * r / self.d
        coarse_r = self.R @ (r - self.A @ x)
        coarse_x = self.omega * coarse_r / self.d_coarse
        x = x + self.P @ coarse_x
        return x + self.omega * (r - self.A @ x) / self.d

    def turn(self):
        q = self.A @ self.p
        alpha = self.rz / self.p.dot(q)
        self.x = self.x + alpha * self.p
        self.r = self.r - alpha * q
        z = self.cycle(self.r)
        rz = self.r.dot(z)
        self.p = z + (rz / self.rz) * self.p
        self.rz = rz

    def result(self):
        return self.x, self.r


class ChannelFlow:
    """Navier and Stokes in a channel with periodic ends: step 12 of "12 steps", with its pressure sweeps."""

    def __init__(self, np, sparse, n, sweeps=5):
        self.np, self.sweeps = np, sweeps
        self.u, self.v, self.p = np.zeros((n, n)), np.zeros((n, n)), np.ones((n, n))
        self.h = 2.0 / (n - 1)
        self.rho, self.nu, self.force = 1.0, 0.1, 1.0
        self.dt = 0.1 * self.h * self.h / self.nu

    def source(self):
        """The right-hand side of the pressure's equation."""
        np, u, v, h, dt = self.np, self.u, self.v, self.h, self.dt
        b = np.zeros_like(u)

        def fill(rows, at, left, right):
            du, dv = (u[rows, right] - u[rows, left]) / (2 * h), (v[2:, at] - v[:-2, at]) / (2 * h)
            uy, vx = (u[2:, at] - u[:-2, at]) / (2 * h), (v[rows, right] - v[rows, left]) / (2 * h)
            b[rows, at] = self.rho * ((du + dv) / dt - du * du - 2 * uy * vx - dv * dv)

        rows = slice(1, -1)
        fill(rows, slice(1, -1), slice(0, -2), slice(2, None))
        fill(rows, -1, -2, 0)
        fill(rows, 0, -1, 1)
        return b

    def pressure(self, b):
        p, h2 = self.p, self.h * self.h
        rows = slice(1, -1)
        for _ in range(self.sweeps):
            old = p.copy()

            def relax(at, left, right):
                p[rows, at] = ((old[rows, right] + old[rows, left]) * h2 + (old[2:, at] + old[:-2, at]) * h2) / (
                    4 * h2
                ) - h2 / 4 * b[rows, at]

            relax(slice(1, -1), slice(0, -2), slice(2, None))
            relax(-1, -2, 0)
            relax(0, -1, 1)
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]

    def turn(self):
        u0, v0 = self.u.copy(), self.v.copy()
        self.pressure(self.source())
        u, v, p, h, dt = self.u, self.v, self.p, self.h, self.dt
        rows = slice(1, -1)

        def move(at, left, right):
            along, across = u0[rows, at] * dt / h, v0[rows, at] * dt / h
            for new, old, push, force in (
                (u, u0, p[rows, right] - p[rows, left], self.force * dt),
                (v, v0, p[2:, at] - p[:-2, at], 0.0),
            ):
                new[rows, at] = (
                    old[rows, at]
                    - along * (old[rows, at] - old[rows, left])
                    - across * (old[rows, at] - old[:-2, at])
                    - dt / (2 * self.rho * h) * push
                    + self.nu * dt / (h * h) * (old[rows, right] - 2 * old[rows, at] + old[rows, left])
                    + self.nu * dt / (h * h) * (old[2:, at] - 2 * old[rows, at] + old[:-2, at])
                    + force
                )

        move(slice(1, -1), slice(0, -2), slice(2, None))
        move(-1, -2, 0)
        move(0, -1, 1)
        for wall in (0, -1):
            u[wall, :] = 0.0
            v[wall, :] = 0.0

    def result(self):
        return self.u, self.v, self.p


class ShallowWater:
    """Shallow water by a central-upwind scheme with limited slopes and two stages a step; closed walls."""

    gravity = 9.81

    def __init__(self, np, sparse, n):
        self.np, self.n, self.dx = np, n, 1.0 / n
        y, x = np.arange(n).reshape(n, 1) / n, np.arange(n).reshape(1, n) / n
        drop = np.exp(-100.0 * ((x - 0.4) ** 2 + (y - 0.6) ** 2))
        self.h, self.hu, self.hv = 1.0 + 0.2 * drop, np.zeros((n, n)), np.zeros((n, n))
        self.dt = 0.05 * self.dx

    def padded(self, q, turn_x, turn_y):
        """With two ghost cells on each side that mirror what is inside."""
        n = self.n
        wide = self.np.zeros((n + 4, n + 4))
        wide[2:-2, 2:-2] = q
        for k in (0, 1):
            wide[2:-2, 1 - k] = turn_x * q[:, k]
            wide[2:-2, n + 2 + k] = turn_x * q[:, n - 1 - k]
            wide[1 - k, 2:-2] = turn_y * q[k, :]
            wide[n + 2 + k, 2:-2] = turn_y * q[n - 1 - k, :]
        return wide

    def slopes(self, q):
        """The smallest of three differences along the last dimension, 0 where their signs differ."""
        np = self.np
        a, c = 1.3 * (q[:, 1:-1] - q[:, :-2]), 1.3 * (q[:, 2:] - q[:, 1:-1])
        b = 0.5 * (q[:, 2:] - q[:, :-2])
        least = np.minimum(np.minimum(a, b), c)
        most = np.maximum(np.maximum(a, b), c)
        return np.where(least > 0, least, np.where(most < 0, most, 0.0))

    def flux(self, h, along, across):
        """Through faces between cells of each row: of water, and of momentum along and across."""
        np, g = self.np, self.gravity
        sides = []
        for q in (h, along, across):
            s = 0.5 * self.slopes(q)
            sides.append((q[:, 1:-2] + s[:, :-1], q[:, 2:-1] - s[:, 1:]))
        (hl, hr), (ml, mr), (tl, tr) = sides
        ul, ur, vl, vr = ml / hl, mr / hr, tl / hl, tr / hr
        cl, cr = np.sqrt(g * hl), np.sqrt(g * hr)
        right = np.maximum(np.maximum(ul + cl, ur + cr), 0.0)
        left = np.minimum(np.minimum(ul - cl, ur - cr), 0.0)
        width = right - left

        def through(fl, fr, ql, qr):
            return (right * fl - left * fr + right * left * (qr - ql)) / width

        water = through(ml, mr, hl, hr)
        forward = through(ml * ul + 0.5 * g * hl * hl, mr * ur + 0.5 * g * hr * hr, ml, mr)
        sideways = through(ml * vl, mr * vr, tl, tr)
        return [f[:, 1:] - f[:, :-1] for f in (water, forward, sideways)]

    def rates(self, h, hu, hv):
        h, hu, hv = self.padded(h, 1, 1), self.padded(hu, -1, 1), self.padded(hv, 1, -1)
        rows, columns = h[2:-2], h[:, 2:-2].T
        x = self.flux(rows, hu[2:-2], hv[2:-2])
        y = self.flux(columns, hv[:, 2:-2].T, hu[:, 2:-2].T)
        by = -1.0 / self.dx
        return by * (x[0] + y[0].T), by * (x[1] + y[2].T), by * (x[2] + y[1].T)

    def turn(self):
        state = self.h, self.hu, self.hv
        first = [q + self.dt * rate for q, rate in zip(state, self.rates(*state))]
        second = [q + self.dt * rate for q, rate in zip(first, self.rates(*first))]
        self.h, self.hu, self.hv = (0.5 * (q + new) for q, new in zip(state, second))

    def result(self):
        return self.h, self.hu, self.hv


# Launches of each turn in the paper, fused; and a size to run it at.
APPS = {
    "Black-Scholes": (BlackScholes, 1, 1_000_000),
    "Jacobi": (Jacobi, 2, 1500),
    "CG": (ConjugateGradients, 4.1, 700),
    "BiCGSTAB": (BiCGSTAB, 8.1, 700),
    "GMG": (Multigrid, 11.1, 512),
    "CFD": (ChannelFlow, 40.7, 500),
    "shallow water": (ShallowWater, 152.8, 500),
}
