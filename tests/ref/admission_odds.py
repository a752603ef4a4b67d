#!/usr/bin/env python3
"""Known answers of tests/unit/admission/test_odds.c: exact rational sums over every
outcome (or a rational convolution, where there are too many), and the moments of
Beta(a, a) from the gamma function with a found by the secant method."""
from fractions import Fraction as F
from itertools import product
from math import exp, lgamma

q = [F(1, 2), F(2, 5), F(1, 4), F(1, 10)]


def groups(hist):
    return [p for n, p in zip(hist, q) for _ in range(n)]


def enumerate_fewer(need, hist):
    total = F(0)
    for outcome in product((0, 1), repeat=sum(hist)):
        if sum(outcome) < need:
            term = F(1)
            for hit, p in zip(outcome, groups(hist)):
                term *= p if hit else 1 - p
            total += term
    return float(total)


def convolve_fewer(need, hist):
    d = [F(1)]
    for p in groups(hist):
        d = [a * (1 - p) + b * p for a, b in zip(d + [F(0)], [F(0)] + d)]
    return float(sum(d[:need]))


def moment(a, k):
    return exp(lgamma(a + k) + lgamma(2 * a) - lgamma(a) - lgamma(2 * a + k))


def prior(size, trainable):
    def f(a):
        return 1 - 2 * moment(a, size) - trainable
    x, y = 0.5, 0.6
    while abs(f(y)) > 1e-13:
        x, y = y, max(1e-6, y - f(y) * (y - x) / (f(y) - f(x)))
    return [trainable] + [1 - moment(y, size) / moment(y, k) for k in range(1, size)]


for need, hist in ((1, (2, 1, 0, 3)), (3, (2, 3, 1, 2)), (4, (1, 2, 3, 4))):
    assert abs(enumerate_fewer(need, hist) - convolve_fewer(need, hist)) < 1e-15
    print("fewer", need, hist, "%.12f" % enumerate_fewer(need, hist))
for need, hist in ((12, (12, 12, 12, 12)), (20, (13, 12, 12, 12)),
                   (180, (200, 100, 100, 200))):
    print("fewer", need, hist, "%.12f" % convolve_fewer(need, hist))
for size, trainable in ((8, 0.5), (16, 0.9)):
    print("prior", size, trainable, *("%.9f" % x for x in prior(size, trainable)))
