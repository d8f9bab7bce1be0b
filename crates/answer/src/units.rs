//! Units: what they measure and by which exact factor they differ.

use crate::tree::Rational;
use dashu_int::IBig;
use smol_str::SmolStr;

/// A unit as an exact multiple of base units; a unit that is not known is a base unit of its own.
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
        Self { factor: Rational::ONE, bases: vec![(SmolStr::new_static("degree"), 1)] }
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
}

/// Units of two letters or more, which are no product of variables.
const ABBREVIATIONS: &[&str] = &[
    "cm", "mm", "km", "dm", "nm", "ft", "kg", "mg", "lb", "lbs", "oz", "ml", "mL", "hr", "hrs", "sec", "min",
    "mph", "kmh", "kph", "kW", "kJ", "Hz", "kHz", "Pa", "kPa", "mol", "deg", "rad", "yd", "mi", "sq", "cu",
    "mV", "kV", "mA", "cc",
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
    let mut unit = Unit::none();
    let mut sign = 1;
    let mut pending = 1;
    let mut words = 0;
    let spaced =
        text.replace('/', " / ").replace(['*', '·', '(', ')', '-'], " ").replace("^{", "^").replace('}', "");
    for word in spaced.split_whitespace() {
        match word.to_ascii_lowercase().as_str() {
            "/" | "per" => {
                sign = -1;
                continue;
            }
            "square" | "sq" | "sq." | "squared" | "cubic" | "cu" | "cu." | "cubed" => {
                let power = if word.to_ascii_lowercase().starts_with("cu") { 3 } else { 2 };
                if word.ends_with("ed") {
                    // Behind the unit: it has been counted once.
                    let last = unit.bases.last().cloned()?;
                    let factor = unit.factor.clone();
                    unit = unit.times(&Unit { factor, bases: vec![(last.0, 1)] }, power - 1);
                } else {
                    pending = power;
                }
                continue;
            }
            "of" | "the" | "a" | "an" | "each" => continue,
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
        let one = known(name)?;
        unit = unit.times(&one, sign * power * pending);
        pending = 1;
    }
    (words > 0).then_some(unit)
}

fn known(name: &str) -> Option<Unit> {
    let ratio = |above: i64, below: u64| Rational::from_parts(IBig::from(above), below.into());
    let of = |factor: Rational, base: &'static str| {
        Some(Unit { factor, bases: vec![(SmolStr::new_static(base), 1)] })
    };
    // Case matters for letters (m, M), not for words.
    match name {
        "m" => return of(ratio(1, 1), "metre"),
        "g" => return of(ratio(1, 1000), "kilogram"),
        "s" => return of(ratio(1, 1), "second"),
        "h" => return of(ratio(3600, 1), "second"),
        "L" | "l" => return Some(litres(ratio(1, 1000))),
        "mL" => return Some(litres(ratio(1, 1_000_000))),
        "N" => return of(ratio(1, 1), "newton"),
        "J" => return of(ratio(1, 1), "joule"),
        "W" => return of(ratio(1, 1), "watt"),
        "V" => return of(ratio(1, 1), "volt"),
        "A" => return of(ratio(1, 1), "ampere"),
        "K" => return of(ratio(1, 1), "kelvin"),
        "C" | "°C" => return of(ratio(1, 1), "celsius"),
        "F" | "°F" => return of(ratio(1, 1), "fahrenheit"),
        _ => {}
    }
    let lower = name.to_ascii_lowercase();
    match lower.trim_end_matches('.') {
        "unit" | "units" | "u" => Some(Unit::none()),
        "cm" | "centimeter" | "centimeters" | "centimetre" | "centimetres" => of(ratio(1, 100), "metre"),
        "mm" | "millimeter" | "millimeters" | "millimetre" | "millimetres" => of(ratio(1, 1000), "metre"),
        "dm" | "decimeter" | "decimeters" => of(ratio(1, 10), "metre"),
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => of(ratio(1000, 1), "metre"),
        "meter" | "meters" | "metre" | "metres" => of(ratio(1, 1), "metre"),
        "in" | "inch" | "inches" => of(ratio(254, 10_000), "metre"),
        "ft" | "foot" | "feet" => of(ratio(3048, 10_000), "metre"),
        "yd" | "yard" | "yards" => of(ratio(9144, 10_000), "metre"),
        "mi" | "mile" | "miles" => of(ratio(1_609_344, 1000), "metre"),
        "kg" | "kilogram" | "kilograms" | "kilo" | "kilos" => of(ratio(1, 1), "kilogram"),
        "gram" | "grams" => of(ratio(1, 1000), "kilogram"),
        "mg" | "milligram" | "milligrams" => of(ratio(1, 1_000_000), "kilogram"),
        "ton" | "tons" | "tonne" | "tonnes" => of(ratio(1000, 1), "kilogram"),
        "lb" | "lbs" | "pound" | "pounds" => of(ratio(45_359_237, 100_000_000), "kilogram"),
        "oz" | "ounce" | "ounces" => of(ratio(45_359_237, 1_600_000_000), "kilogram"),
        "sec" | "secs" | "second" | "seconds" => of(ratio(1, 1), "second"),
        "ms" | "millisecond" | "milliseconds" => of(ratio(1, 1000), "second"),
        "min" | "mins" | "minute" | "minutes" => of(ratio(60, 1), "second"),
        "hr" | "hrs" | "hour" | "hours" => of(ratio(3600, 1), "second"),
        "day" | "days" => of(ratio(86_400, 1), "second"),
        "week" | "weeks" => of(ratio(604_800, 1), "second"),
        "month" | "months" => of(ratio(1, 12), "year"),
        "yr" | "yrs" | "year" | "years" => of(ratio(1, 1), "year"),
        "liter" | "liters" | "litre" | "litres" => Some(litres(ratio(1, 1000))),
        "ml" | "milliliter" | "milliliters" | "millilitre" | "millilitres" | "cc" => {
            Some(litres(ratio(1, 1_000_000)))
        }
        "degree" | "degrees" | "deg" => Some(Unit::degree()),
        "rad" | "radian" | "radians" => of(ratio(1, 1), "radian"),
        "dollar" | "dollars" | "usd" | "$" | "bucks" => of(ratio(1, 1), "dollar"),
        "cent" | "cents" => of(ratio(1, 100), "dollar"),
        "euro" | "euros" | "eur" => of(ratio(1, 1), "euro"),
        "mph" => Some(Unit::none().times(&known("mile")?, 1).times(&known("hour")?, -1)),
        "kmh" | "kph" | "kmph" => Some(Unit::none().times(&known("km")?, 1).times(&known("hour")?, -1)),
        other if other.chars().all(char::is_alphabetic) && !other.is_empty() => {
            Some(Unit { factor: Rational::ONE, bases: vec![(singular(other), 1)] })
        }
        _ => None,
    }
}

fn litres(cubic_metres: Rational) -> Unit {
    Unit { factor: cubic_metres, bases: vec![(SmolStr::new_static("metre"), 3)] }
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
