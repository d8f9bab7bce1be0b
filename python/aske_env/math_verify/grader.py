"""The comparison of parsed answers: `verify`."""

import logging
import sys
from typing import Any

from .._native import Expression, math_verify_verify
from .errors import TimeoutException
from .parser import LatexExtractionConfig, check_timeout, parse

logger = logging.getLogger(__name__)


def verify(
    gold: Any,
    target: Any,
    float_rounding: int = 6,
    numeric_precision: int = 15,
    strict: bool = True,
    allow_set_relation_comp: bool = False,
    timeout_seconds: float | None = 5,
    raise_on_error: bool = False,
) -> bool:
    """Whether one of the gold answers equals one of the others. The order of the two matters.

    An answer is a result of `parse`, an element of one, a string, or an object of sympy. Strings are only compared
    with strings, and as text.
    """
    check_timeout(timeout_seconds)
    golds, targets = _items(gold), _items(target)
    if raise_on_error and any(isinstance(t, Expression) for t in targets):
        if any(isinstance(g, Expression) and g.is_undefined for g in golds):
            raise ValueError("Can't evaluate nan or zoo")
    equal = math_verify_verify(
        golds, targets, int(float_rounding or 0), int(numeric_precision), bool(strict), bool(allow_set_relation_comp)
    )
    if equal is None:
        if raise_on_error:
            raise TimeoutException("Timeout during comparison")
        logger.warning("Timeout during comparison")
    return bool(equal)


def _items(answer: Any) -> list[Any]:
    items = answer if isinstance(answer, list) else [answer]
    if all(isinstance(item, (Expression, str)) for item in items):
        return items
    return [item if isinstance(item, str) else _from_sympy(item) for item in items]


def expression_of(value: Any) -> Any:
    """A number or an object of sympy as an expression; anything else as it is."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return Expression("number", [(repr(value), False)])
        except ValueError:  # not finite, or with an exponent
            return value
    return _from_sympy(value)


def _from_sympy(value: Any) -> Any:
    """An object of sympy as an expression; anything else, and what math-verify cannot read, as it is."""
    sympy = sys.modules.get("sympy")
    if sympy is None or not isinstance(value, (sympy.Basic, sympy.MatrixBase)):
        return value
    latex = sympy.latex(value, mat_delim="", mat_str="pmatrix")
    found = parse(f"${latex}$", [LatexExtractionConfig()], fallback_mode="no_fallback")
    return found[0] if found else value
