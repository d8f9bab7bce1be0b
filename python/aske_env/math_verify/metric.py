"""A score over lists of texts: `math_metric`."""

import logging
from collections.abc import Callable, Sequence

from .grader import verify
from .parser import ExprExtractionConfig, ExtractionTarget, parse

logger = logging.getLogger(__name__)

Extracted = tuple[list[str], list[str]]


def math_metric(
    gold_extraction_target: Sequence[ExtractionTarget] = (ExprExtractionConfig(),),
    pred_extraction_target: Sequence[ExtractionTarget] = (ExprExtractionConfig(),),
    aggregation_function: Callable[[list[float]], float] = max,
    precision: int = 6,
) -> Callable[[list[str], list[str]], tuple[float, Extracted | None]]:
    """A function of gold texts and predictions: 1.0 per prediction that equals a gold answer, aggregated, and the
    answers found. It raises `ValueError` if a gold text has no answer."""

    def score(golds: list[str], predictions: list[str]) -> tuple[float, Extracted | None]:
        preds = [parse(text, pred_extraction_target) for text in predictions]
        parsed = [parse(text, gold_extraction_target) for text in golds]
        if any(not gold for gold in parsed):
            raise ValueError(
                f"No gold targets found for at least one gold. Gold: {golds}, Pred: {predictions}"
            )
        if not any(preds):
            logger.warning("No prediction found. Gold: %s, Pred: %s", golds, predictions)
        right = [float(any(verify(gold, pred, precision) for gold in parsed)) for pred in preds]
        shown = ([str(item) for gold in parsed for item in gold], [str(item) for pred in preds for item in pred])
        return aggregation_function(right), shown

    return score
