"""Benchmarks of ctxaudit beside a peer or a floor, measured in turn in one run.

Guarantees: data is generated from a fixed seed; every figure that is compared comes from the same
run on the same files; a bar that is missed is printed as missed.

Example:
    python -m benchmarks --only startup
"""

__all__: list[str] = []
