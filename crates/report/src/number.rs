//! Formats numbers, also for the tables of `eval` and of the terminal.

use aske_stats::Interval;

/// `44.9%`.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1}%", 100.0 * share) } else { "–".to_owned() }
}

/// `44.9%`: the share of hits; a dash if it is of nothing.
pub fn percent_of(hits: u64, of: u64) -> String {
    if of == 0 { "–".to_owned() } else { percent(hits as f64 / of as f64) }
}

/// `44.9`: a share in percentage points, without a unit.
pub fn points(share: f64) -> String {
    if share.is_finite() { fixed(100.0 * share, 1) } else { "–".to_owned() }
}

/// `+3.1`: a difference in points.
pub fn signed(share: f64) -> String {
    if share.is_finite() { with_sign(&points(share)) } else { "–".to_owned() }
}

/// `−0.4`: with a minus sign, but none before zero.
pub fn fixed(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{value:.digits$}");
    let zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
}

fn with_sign(number: &str) -> String {
    let zero = number.chars().all(|c| matches!(c, '0' | '.'));
    if zero || number.starts_with('−') { number.to_owned() } else { format!("+{number}") }
}

/// `42.7 to 47.1`, for shares; intervals by Student's t can reach below 0 and above 1.
pub fn range(interval: Interval) -> String {
    format!("{} to {}", points(interval.low.max(0.0)), points(interval.high.min(1.0)))
}

/// `42.7 to 47.1%`, or a dash.
pub fn percent_range(interval: Option<Interval>) -> String {
    or_dash(interval, |interval| format!("{}%", range(interval)))
}

/// `−1.2 to +3.4`, for differences.
pub fn signed_range(interval: Interval) -> String {
    format!("{} to {}", signed(interval.low), signed(interval.high))
}

/// `0.031`, or `< 0.001`.
pub fn p_value(p: f64) -> String {
    if !p.is_finite() {
        "–".to_owned()
    } else if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// `1,900`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 session`, `1,900 sessions`.
pub fn counted(number: impl TryInto<u64>, one: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// `103k`, `1.0M`, `1.2B`: the number of parameters of a model, given in billions.
pub fn size(billions: f64) -> String {
    let (scale, unit) = match billions {
        small if small < 999.5e-6 => (1e6, "k"),
        medium if medium < 0.9995 => (1e3, "M"),
        _ => (1.0, "B"),
    };
    let number = billions * scale;
    let digits = usize::from(unit != "k" && number < 9.95);
    format!("{number:.digits$}{unit}")
}

/// A formatted value, or a dash if there is none.
pub fn or_dash<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(0.4489), "44.9%");
        assert_eq!(signed(-0.0001), "0.0");
        assert_eq!(signed(0.031), "+3.1");
        assert_eq!(signed(-0.031), "−3.1");
        assert_eq!(percent(f64::NAN), "–");
        assert_eq!((percent_of(0, 5), percent_of(0, 0)), ("0.0%".to_owned(), "–".to_owned()));
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(counted(1900, "session"), "1,900 sessions");
        let sizes = [0.000_015, 0.000_102_72, 0.000_994_72, 0.135, 0.9997, 1.2, 70.6, 235.0];
        let sizes: Vec<String> = sizes.into_iter().map(size).collect();
        assert_eq!(sizes, ["15k", "103k", "995k", "135M", "1.0B", "1.2B", "71B", "235B"]);
        assert_eq!((size(0.002), size(0.000_999_6)), ("2.0M".to_owned(), "1.0M".to_owned()));
        assert_eq!(p_value(0.0004), "< 0.001");
        assert_eq!(range(Interval { low: 0.427, high: 0.471 }), "42.7 to 47.1");
    }
}
