"""Permutations of the prompt order by an independent Philox4x32-10, for test_order.c.

    python3 tests/ref/order.py
"""
M = 0xFFFFFFFF


def philox(c, k):
    c, k = list(c), list(k)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & M, a >> 32 ^ c[3] ^ k[1], a & M]
        k = [k[0] + 0x9E3779B9 & M, k[1] + 0xBB67AE85 & M]
    return c


def permutation(n, seed, epoch, order=2):  # RANDOM_ORDER
    row = list(range(n))
    for i in range(n - 1, 0, -1):
        key = (seed & M, seed >> 32 ^ order << 24)
        r = philox((epoch & M, 0, i, epoch >> 32), key)
        j = (r[1] << 32 | r[0]) * (i + 1) >> 64
        row[i], row[j] = row[j], row[i]
    return row


assert philox((0, 0, 0, 0), (0, 0))[0] == 0x6627E8D5  # Random123's kat_vectors
print(permutation(10, 42, 0))
print(permutation(10, 42, 1))
print(permutation(10, 1 << 40 | 7, 0))
print(permutation(17290, 42, 3)[:6])
