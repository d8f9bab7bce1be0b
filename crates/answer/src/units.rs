//! Units of measurement and exact conversion factors.
//!
//! A word is a unit only if it is known to be one, or if it names what was counted (`12 apples`). Any other word
//! behind a number may change the number (`3 million`, `5 is wrong`), so it is not read as a unit.

use crate::vocabulary;
use aske_algebra::expr::Rational;
use dashu_int::IBig;
use smol_str::SmolStr;

/// A unit as an exact multiple of base units; what is counted is a base unit of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    /// How many base units one of it is.
    pub factor: Rational,
    /// Base units and their exponents, sorted by name, none zero.
    pub bases: Vec<(SmolStr, i32)>,
}

impl Unit {
    /// No unit at all.
    pub(crate) fn none() -> Self {
        Self { factor: Rational::ONE, bases: Vec::new() }
    }

    /// Degrees of an angle.
    pub(crate) fn degree() -> Self {
        Self::base("degree")
    }

    /// A base unit.
    fn base(name: &'static str) -> Self {
        Self { factor: Rational::ONE, bases: vec![(SmolStr::new_static(name), 1)] }
    }

    /// Whether it measures angles in degrees.
    pub(crate) fn is_degree(&self) -> bool {
        matches!(self.bases.as_slice(), [(name, 1)] if name == "degree")
    }

    /// Whether nothing is measured.
    pub(crate) fn is_none(&self) -> bool {
        self.bases.is_empty()
    }

    /// The unit times another to a power.
    #[must_use]
    pub(crate) fn times(mut self, other: &Self, power: i32) -> Self {
        self.factor *= other.factor.pow(power as isize);
        for (name, exponent) in &other.bases {
            match self.bases.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known += exponent * power,
                None => self.bases.push((name.clone(), exponent * power)),
            }
        }
        self.bases.retain(|(_, exponent)| *exponent != 0);
        self.bases.sort();
        self
    }

    fn scaled(mut self, above: i64, below: u64) -> Self {
        self.factor *= ratio(above, below);
        self
    }
}

fn ratio(above: i64, below: u64) -> Rational {
    Rational::from_parts(IBig::from(above), below.into())
}

/// Short forms of units that are no product of variables.
const ABBREVIATIONS: &[&str] = &[
    "cm", "mm", "km", "dm", "nm", "ft", "kg", "mg", "lb", "lbs", "oz", "ml", "mL", "hr", "hrs", "sec", "min",
    "mph", "kmh", "kph", "kW", "kJ", "Hz", "kHz", "Pa", "kPa", "mol", "deg", "rad", "yd", "mi", "sq", "cu",
    "mV", "kV", "mA", "cc", "mW", "MW", "GW", "kN", "MN", "MJ", "GJ", "mJ", "MHz", "GHz", "MPa", "GPa",
    "kWh", "eV", "keV", "MeV", "GeV", "kcal", "cal", "mins", "secs", "yrs", "MV", "MA", "kA", "cL", "dL",
    "Wh", "hPa", "ms", "ns", "mN", "kB", "MB", "GB", "TB", "USD", "EUR", "GBP",
];

/// Whether a run of letters is the usual short form of a unit.
pub(crate) fn is_abbreviation(word: &str) -> bool {
    ABBREVIATIONS.contains(&word)
}

/// Reads a unit: `cm`, `square feet`, `km/h`, `m/s^2`, `dollars per hour`, `apples`.
pub(crate) fn read(text: &str) -> Option<Unit> {
    if text.len() > 60 {
        return None;
    }
    let text = text.trim().trim_end_matches(['.', ',']).replace("**", "^");
    let text = text.strip_prefix("in ").unwrap_or(&text);
    // `12 years old`
    let text = text.strip_suffix(" old").filter(|age| age.starts_with("year")).unwrap_or(text);
    let text =
        ["degrees ", "degree "].iter().find_map(|degrees| text.strip_prefix(degrees)).map_or(text, |scale| {
            let temperature = ["celsius", "fahrenheit"].iter().any(|name| scale.eq_ignore_ascii_case(name));
            if temperature { scale } else { text }
        });
    let mut unit = Unit::none();
    let mut sign = 1;
    let mut pending = 1;
    let mut last = Unit::none();
    let mut counted: Vec<&str> = Vec::new();
    let mut words = 0;
    let spaced =
        text.replace('/', " / ").replace(['*', '·', '(', ')'], " ").replace("^{", "^").replace('}', "");
    for word in spaced.split_whitespace() {
        match word.to_ascii_lowercase().as_str() {
            "/" | "per" => {
                sign = -1;
                continue;
            }
            // Behind the unit, which has been counted once.
            "squared" | "square" | "sq" if words > 0 && (sign > 0 || word == "squared") => {
                unit = unit.times(&last, sign);
                continue;
            }
            "square" | "sq" | "sq." => {
                pending = 2;
                continue;
            }
            "cubic" | "cu" | "cu." => {
                pending = 3;
                continue;
            }
            // `miles an hour`
            "a" | "an" if words > 0 => {
                sign = -1;
                continue;
            }
            "cubed" if words > 0 => {
                unit = unit.times(&last, 2 * sign);
                continue;
            }
            "of" | "the" | "each" => continue,
            _ => {}
        }
        words += 1;
        if words > 4 {
            return None;
        }
        let (name, power) = match word.split_once('^') {
            Some((name, power)) => (name, power.parse::<i32>().ok().filter(|p| (-9..=9).contains(p))?),
            None => (word, 1),
        };
        let Some(one) = known(name) else {
            if power != 1 || pending != 1 || !is_noun(name) {
                return None;
            }
            if sign < 0 {
                unit = unit.times(&counted_unit(&[name]), -1);
            } else {
                counted.push(name);
            }
            continue;
        };
        unit = unit.times(&one, sign * power * pending);
        last = one;
        pending = 1;
    }
    if !counted.is_empty() {
        // The last word names what was counted: `red marbles`.
        let counts = counted
            .last()
            .is_some_and(|noun| is_plural(noun) || text.contains('/') || text.contains(" per "));
        if !counts || counted.len() > 2 {
            return None;
        }
        unit = unit.times(&counted_unit(&counted), 1);
    }
    (words > 0).then_some(unit)
}

/// A unit for what was counted.
fn counted_unit(words: &[&str]) -> Unit {
    let name = words.iter().map(|word| singular(&word.to_lowercase())).collect::<Vec<_>>().join(" ");
    Unit { factor: Rational::ONE, bases: vec![(SmolStr::new(name), 1)] }
}

/// A unit by its symbol, where case matters, or by its name, where it does not.
fn known(name: &str) -> Option<Unit> {
    by_symbol(name).or_else(|| by_name(name.to_ascii_lowercase().trim_end_matches('.')))
}

/// Powers of ten before a unit's symbol.
const PREFIXES: &[(&str, i32)] = &[
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("h", 2),
    ("d", -1),
    ("c", -2),
    ("m", -3),
    ("μ", -6),
    ("µ", -6),
    ("u", -6),
    ("n", -9),
    ("p", -12),
];

/// Powers of ten before a unit's name.
const PREFIX_NAMES: &[(&str, i32)] = &[
    ("kilo", 3),
    ("mega", 6),
    ("giga", 9),
    ("tera", 12),
    ("hecto", 2),
    ("deci", -1),
    ("centi", -2),
    ("milli", -3),
    ("micro", -6),
    ("nano", -9),
    ("pico", -12),
];

fn power_of_ten(power: i32) -> Rational {
    Rational::from(10_u8).pow(power as isize)
}

/// The unit of a symbol of the International System, or of another usual symbol.
fn by_symbol(symbol: &str) -> Option<Unit> {
    if let Some(unit) = metric_symbol(symbol) {
        return Some(unit);
    }
    for (prefix, power) in PREFIXES {
        if let Some(unit) =
            symbol.strip_prefix(prefix).filter(|rest| takes_prefix(rest)).and_then(metric_symbol)
        {
            return Some(Unit { factor: unit.factor * power_of_ten(*power), bases: unit.bases });
        }
    }
    Some(match symbol {
        "h" | "hr" | "hrs" => Unit::base("second").scaled(3600, 1),
        "min" | "mins" => Unit::base("second").scaled(60, 1),
        "sec" | "secs" => Unit::base("second"),
        "C" | "°C" => Unit::base("celsius"),
        "F" | "°F" => Unit::base("fahrenheit"),
        "ha" => metres(2).scaled(10_000, 1),
        "in" => metres(1).scaled(254, 10_000),
        "ft" => metres(1).scaled(3048, 10_000),
        "yd" => metres(1).scaled(9144, 10_000),
        "mi" => metres(1).scaled(1_609_344, 1000),
        "lb" | "lbs" => Unit::base("kilogram").scaled(45_359_237, 100_000_000),
        "oz" => Unit::base("kilogram").scaled(45_359_237, 1_600_000_000),
        "cc" => metres(3).scaled(1, 1_000_000),
        "kmh" | "kph" | "kmph" => speed(1000),
        "mph" => speed(1).scaled(1_609_344, 1000),
        "kWh" => joules().scaled(3_600_000, 1),
        "Wh" => joules().scaled(3600, 1),
        _ => return None,
    })
}

/// Whether a power of ten may stand before this symbol.
fn takes_prefix(symbol: &str) -> bool {
    !matches!(symbol, "" | "t" | "K")
}

/// Units of the International System by symbol, without a prefix.
fn metric_symbol(symbol: &str) -> Option<Unit> {
    Some(match symbol {
        "m" => metres(1),
        "g" => Unit::base("kilogram").scaled(1, 1000),
        "s" => Unit::base("second"),
        "A" => Unit::base("ampere"),
        "K" => Unit::base("kelvin"),
        "mol" => Unit::base("mole"),
        "L" | "l" => metres(3).scaled(1, 1000),
        "N" => newtons(),
        "J" => joules(),
        "W" => joules().times(&Unit::base("second"), -1),
        "V" => volts(),
        "Pa" => newtons().times(&metres(1), -2),
        "Hz" => Unit::none().times(&Unit::base("second"), -1),
        "Ω" => volts().times(&Unit::base("ampere"), -1),
        "eV" => Unit::base("electronvolt"),
        "cal" => Unit::base("calorie"),
        "B" => Unit::base("byte"),
        _ => return None,
    })
}

fn metres(power: i32) -> Unit {
    Unit::none().times(&Unit::base("metre"), power)
}

fn newtons() -> Unit {
    Unit::base("kilogram").times(&metres(1), 1).times(&Unit::base("second"), -2)
}

fn joules() -> Unit {
    newtons().times(&metres(1), 1)
}

fn volts() -> Unit {
    joules().times(&Unit::base("second"), -1).times(&Unit::base("ampere"), -1)
}

/// So many metres an hour.
fn speed(metres_an_hour: i64) -> Unit {
    metres(1).times(&Unit::base("second"), -1).scaled(metres_an_hour, 3600)
}

/// The unit of a name in lower case.
fn by_name(name: &str) -> Option<Unit> {
    let name = match name {
        "feet" => "foot",
        "inches" => "inch",
        "henries" => "henry",
        "celsius" => "celsius",
        other => other.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(other),
    };
    if let Some(unit) = metric_name(name) {
        return Some(unit);
    }
    for (prefix, power) in PREFIX_NAMES {
        if let Some(unit) = name.strip_prefix(prefix).and_then(metric_name) {
            return Some(Unit { factor: unit.factor * power_of_ten(*power), bases: unit.bases });
        }
    }
    Some(match name {
        "unit" => Unit::base("unit"),
        "inch" => metres(1).scaled(254, 10_000),
        "foot" => metres(1).scaled(3048, 10_000),
        "yard" => metres(1).scaled(9144, 10_000),
        "mile" => metres(1).scaled(1_609_344, 1000),
        "hectare" => metres(2).scaled(10_000, 1),
        "kilo" => Unit::base("kilogram"),
        "ton" | "tonne" => Unit::base("kilogram").scaled(1000, 1),
        "lb" | "pound" => Unit::base("kilogram").scaled(45_359_237, 100_000_000),
        "ounce" => Unit::base("kilogram").scaled(45_359_237, 1_600_000_000),
        "sec" => Unit::base("second"),
        "min" | "minute" => Unit::base("second").scaled(60, 1),
        "hr" | "hour" => Unit::base("second").scaled(3600, 1),
        "day" => Unit::base("second").scaled(86_400, 1),
        "week" => Unit::base("second").scaled(604_800, 1),
        "month" => Unit::base("year").scaled(1, 12),
        "yr" | "year" => Unit::base("year"),
        "decade" => Unit::base("year").scaled(10, 1),
        "degree" | "deg" => Unit::degree(),
        "rad" | "radian" => Unit::base("radian"),
        "celsius" => Unit::base("celsius"),
        "fahrenheit" => Unit::base("fahrenheit"),
        "kelvin" => Unit::base("kelvin"),
        "dollar" | "usd" | "$" | "buck" => Unit::base("dollar"),
        "cent" => Unit::base("dollar").scaled(1, 100),
        "euro" | "eur" => Unit::base("euro"),
        "sterling" | "gbp" => Unit::base("sterling"),
        "penny" | "pence" => Unit::base("sterling").scaled(1, 100),
        "kmh" | "kph" | "kmph" => speed(1000),
        "mph" => speed(1).scaled(1_609_344, 1000),
        _ => return None,
    })
}

/// Units of the International System by name, singular and without a prefix.
fn metric_name(name: &str) -> Option<Unit> {
    metric_symbol(match name {
        "meter" | "metre" => "m",
        "gram" | "gramme" => "g",
        "second" => "s",
        "ampere" | "amp" => "A",
        "mole" => "mol",
        "liter" | "litre" => "L",
        "newton" => "N",
        "joule" => "J",
        "watt" => "W",
        "volt" => "V",
        "pascal" => "Pa",
        "hertz" => "Hz",
        "ohm" => "Ω",
        "electronvolt" => "eV",
        "calorie" => "cal",
        "byte" => "B",
        _ => return None,
    })
}

/// Irregular plurals and words that are their own plural.
const PLURALS: &[&str] = &[
    "people", "men", "women", "children", "mice", "geese", "teeth", "sheep", "fish", "deer", "dice",
    "vertices",
];

/// Whether a word can be part of what was counted.
fn is_noun(word: &str) -> bool {
    let lower = word.to_lowercase();
    let letters = word.chars().all(char::is_alphabetic);
    // Capitals inside a word make it a symbol or a name.
    let plain = word.chars().skip(1).all(char::is_lowercase);
    letters
        && plain
        && word.chars().count() > 2
        && !crate::read::is_number_word(&lower)
        && !vocabulary::is_function_word(&lower)
}

/// Whether a word is a plural, and so what was counted.
fn is_plural(word: &str) -> bool {
    let lower = word.to_lowercase();
    PLURALS.contains(&lower.as_str())
        || lower.ends_with('s') && !lower.ends_with("ss") && !lower.ends_with("us") && !lower.ends_with("is")
}

/// The word without its plural.
fn singular(word: &str) -> SmolStr {
    let stem = match word {
        "men" | "women" => return SmolStr::new(word.replace("men", "man")),
        "people" | "persons" => "person",
        "children" => "child",
        _ if word.ends_with("ies") && word.len() > 4 => {
            return SmolStr::new(format!("{}y", &word[..word.len() - 3]));
        }
        _ if word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") => {
            &word[..word.len() - 2]
        }
        _ if word.ends_with('s') && !word.ends_with("ss") && word.len() > 2 => &word[..word.len() - 1],
        other => other,
    };
    SmolStr::new(stem)
}
