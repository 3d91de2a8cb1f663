r"""What wrong group sizes do to the gap of two groups: its variance grows, and it gets a bias.

The estimate of a mean is divided by the size that is assumed, so it is :math:`n_G / \tilde n_G` times what it should
be, its variance the square of that times, and its mean is off by an amount that no number of clients takes away.
"""

from fairgauge.paper.mechanisms import Published


def assumed_variance(mechanism: Published, minority: float, clients: float, factor: float) -> float:
    """Return the largest variance of the gap if the minority is taken for so many times as large as it is.

    Args:
        mechanism: The mechanism.
        minority: How many clients are in the smaller group.
        clients: How many clients there are.
        factor: What its size is taken for, as a multiple of it.
    """
    return _variance(mechanism, minority, clients, factor, None)


def assumed_mse(mechanism: Published, minority: float, clients: float, factor: float) -> float:
    """Return the mean squared error of the gap then, if everybody holds the value 1, so that the true gap is 0."""
    first, second = _scales(minority, clients, factor)
    return _variance(mechanism, minority, clients, factor, 1.0) + (first - second) ** 2


def _variance(mechanism: Published, minority: float, clients: float, factor: float, square: float | None) -> float:
    variances = (mechanism.variance(size, clients, square=square) for size in (minority, clients - minority))
    return sum(v * s**2 for v, s in zip(variances, _scales(minority, clients, factor), strict=True))


def _scales(minority: float, clients: float, factor: float) -> tuple[float, float]:
    """Return by what each group's estimate is multiplied."""
    return 1 / factor, (clients - minority) / (clients - factor * minority)
