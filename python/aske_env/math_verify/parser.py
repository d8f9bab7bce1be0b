"""Answers from text: `parse` and its configurations."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from .._native import Expression, math_verify_parse
from .errors import TimeoutException

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LatexNormalizationConfig:
    """Steps of normalisation; that of latex2sympy2_extended, which has the same fields, is accepted as well."""

    basic_latex: bool = True
    units: bool = False
    malformed_operators: bool = False
    nits: bool = False
    boxed: Literal["all", "last", "none"] = "all"
    equations: bool = False


@dataclass(frozen=True)
class LatexExtractionConfig:
    """Looks for formulas between delimiters and for boxes. Boxes have the given priority, 0 the first; -1: none."""

    try_extract_without_anchor: bool = True
    boxed_match_priority: int = 50
    normalization_config: Any = field(
        default_factory=lambda: LatexNormalizationConfig(units=True, malformed_operators=True, nits=True)
    )


@dataclass(frozen=True)
class ExprExtractionConfig:
    """Looks for numbers and arithmetic in plain text."""

    try_extract_without_anchor: bool = True


@dataclass(frozen=True)
class StringExtractionConfig:
    """Looks for one of some words."""

    strings: tuple[str, ...] = ("A", "B", "C", "D")
    try_extract_without_anchor: bool = True
    lowercase: bool = True


ExtractionTarget = LatexExtractionConfig | ExprExtractionConfig | StringExtractionConfig


def parse(
    pred: str,
    extraction_config: Iterable[ExtractionTarget] = (LatexExtractionConfig(), ExprExtractionConfig()),
    fallback_mode: Literal["no_fallback", "first_match"] = "first_match",
    extraction_mode: Literal["first_match", "any_match"] = "any_match",
    parsing_timeout: float | None = 5,
    raise_on_error: bool = False,
) -> list[Any]:
    """The answer in a text: an expression, then the text it was found as; empty without an answer."""
    check_timeout(parsing_timeout)
    try:
        targets = [_fields(config) for config in extraction_config]
        if not isinstance(pred, str):
            if not targets:
                return []
            if isinstance(pred, (bytes, bytearray, memoryview)):
                raise TypeError("cannot use a string pattern on a bytes-like object")
            raise TypeError(f"expected string or bytes-like object, got '{type(pred).__name__}'")
        found = math_verify_parse(pred, targets, fallback_mode == "first_match", extraction_mode == "first_match")
    except Exception:
        if raise_on_error:
            raise
        logger.debug("Error parsing: %.200r", pred, exc_info=True)
        return []
    if found is None:
        if raise_on_error:
            raise TimeoutException(f"Timeout during parsing: {pred:.200}")
        logger.warning("Timeout during parsing: %.200r", pred)
        return []
    return found


def check_timeout(seconds: float | None) -> None:
    """Refuses what is not a number, as the original does."""
    if seconds is not None:
        seconds <= 0  # noqa: B015


def _fields(config: Any) -> tuple[Any, ...]:
    """The fields of a configuration, which must be hashable as in the original."""
    hash(config)
    if isinstance(config, LatexExtractionConfig):
        steps = config.normalization_config
        return (
            bool(config.try_extract_without_anchor),
            config.boxed_match_priority,
            (
                bool(steps.basic_latex),
                bool(steps.units),
                bool(steps.malformed_operators),
                bool(steps.nits),
                str(steps.boxed),
                bool(steps.equations),
            ),
        )
    if isinstance(config, ExprExtractionConfig):
        return (bool(config.try_extract_without_anchor),)
    return (list(config.strings), bool(config.try_extract_without_anchor), bool(config.lowercase))


__all__ = [
    "Expression",
    "ExprExtractionConfig",
    "ExtractionTarget",
    "LatexExtractionConfig",
    "LatexNormalizationConfig",
    "StringExtractionConfig",
    "parse",
]
