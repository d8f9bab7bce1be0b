//! How many calls were in flight, over time.

use serde::Serialize;

/// A pause longer than this begins a new span: the run was stopped and continued.
const PAUSE_MS: i64 = 15 * 60 * 1000;
/// Values of a curve.
const BINS: i64 = 200;
/// The latest time that is believed, in the year 5138: the file may be damaged.
const MAX_MS: i64 = 100_000_000_000_000;
/// Spans that are shown, the latest ones.
const MAX_SPANS: usize = 12;

/// A time without long pauses.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Span {
    /// Its first and last moment, in milliseconds since 1970.
    from: i64,
    to: i64,
    calls: usize,
    /// The largest number of calls at once.
    most: usize,
    /// The mean number of calls in flight in each of equal parts of the span.
    in_flight: Vec<f64>,
}

/// The spans of some calls, each with its beginning and end.
pub(crate) fn spans(mut calls: Vec<[i64; 2]>) -> Vec<Span> {
    calls.retain(|[from, to]| 0 <= *from && from <= to && *to <= MAX_MS);
    calls.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    let (mut first, mut end) = (0, i64::MIN);
    for at in 0..calls.len() {
        let [from, to] = calls[at];
        if at > first && from.saturating_sub(end) > PAUSE_MS {
            spans.push(span(&calls[first..at]));
            (first, end) = (at, i64::MIN);
        }
        end = end.max(to);
    }
    if first < calls.len() {
        spans.push(span(&calls[first..]));
    }
    spans.drain(..spans.len().saturating_sub(MAX_SPANS));
    spans
}

/// The span of calls that are sorted by their beginning.
fn span(calls: &[[i64; 2]]) -> Span {
    let from = calls[0][0];
    let to = calls.iter().map(|call| call[1]).max().unwrap_or(from).max(from + 1);
    let length = to - from;
    let mut busy = vec![0; usize::try_from(BINS).unwrap_or_default()];
    for [begin, end] in calls {
        // In parts of a bin, of which there are as many as the span has milliseconds.
        let [begin, end] = [begin, end].map(|time| (time - from) * BINS);
        let first = usize::try_from(begin / length).unwrap_or_default();
        for (bin, busy) in (begin / length..).zip(busy.iter_mut().skip(first)) {
            if bin * length >= end {
                break;
            }
            *busy += end.min((bin + 1) * length) - begin.max(bin * length);
        }
    }
    let in_flight =
        busy.into_iter().map(|busy: i64| (1e3 * busy as f64 / length as f64).round() / 1e3).collect();
    Span { from, to, calls: calls.len(), most: most(calls), in_flight }
}

fn most(calls: &[[i64; 2]]) -> usize {
    let mut ends: Vec<i64> = calls.iter().map(|call| call[1]).collect();
    ends.sort_unstable();
    let (mut ended, mut most) = (0, 0);
    for (begun, [from, _]) in calls.iter().enumerate() {
        while ended < ends.len() && ends[ended] <= *from && ended < begun {
            ended += 1;
        }
        most = most.max(begun + 1 - ended);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_has_the_time_of_all_calls_below_it() {
        // Two calls of 200 s, half of it together: 300 s with a mean of 1, 2 and 1.
        let all = spans(vec![[100_000, 300_000], [0, 200_000]]);
        let [span] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((span.from, span.to, span.calls, span.most), (0, 300_000, 2, 2));
        assert!((span.in_flight[10] - 1.0).abs() < 1e-3 && (span.in_flight[100] - 2.0).abs() < 1e-3);
        let seconds: f64 = span.in_flight.iter().map(|calls| calls * 300.0 / 200.0).sum();
        assert!((seconds - 400.0).abs() < 0.5, "{seconds}");
    }

    #[test]
    fn a_long_pause_begins_a_new_span_and_odd_times_are_passed_over() {
        let hour = 3_600_000;
        let found = spans(vec![[hour, hour + 5], [0, 10], [9, 3], [10, 20]]);
        let calls: Vec<(usize, usize)> = found.iter().map(|span| (span.calls, span.most)).collect();
        assert_eq!(calls, [(2, 1), (1, 1)]);
        assert_eq!(spans(Vec::new()), []);
        assert_eq!(spans(vec![[7, 7]])[0].in_flight.len(), 200);
        assert!(spans(vec![[i64::MIN / 4, i64::MAX / 4], [0, 1]])[0].most >= 1);
    }
}
