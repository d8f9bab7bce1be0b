//! Verdicts of math-verify 0.9.0, run as `verify(parse("\boxed{gold}"), parse("\boxed{pred}"))`.

use super::{Item, Mode, Normalisation, Options, Target, compare, parse, verify};
use aske_algebra::verdict::Verdict;

fn check(equal: bool, pairs: &[(&str, &str)]) {
    for (gold, pred) in pairs {
        let expected = if equal { Verdict::Equal } else { Verdict::Different };
        assert_eq!(compare(gold, pred).verdict, expected, "{gold} ## {pred}");
    }
}

#[test]
fn numbers() {
    check(
        true,
        &[
            ("12:00", "12:00"),
            (r"\frac{24}{22", r"\frac{12}{11}"),
            ("1{,}000", "1000"),
            (r"1.5000004", r"\frac32"),
            ("0.333333", r"\frac13"),
            (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}"),
            ("2.0", "2"),
            ("5.0", r"\sqrt{25}"),
            (r"50\%", "50"),
            (r"50\%", r"\frac12"),
            (r"3\frac12", r"\frac72"),
            (r"1.2\times10^3", "1200"),
            (r"\sqrt{-16}", "4I"),
            ("2.25\\pi", r"\frac{9\pi}{4}"),
            ("101_2", "101"),
            (r"\infty", r"\lim_{x\to\infty} x^2"),
        ],
    );
    check(
        false,
        &[
            ("5.", "5"),
            ("0.33333", r"\frac13"),
            ("1.0000004", "1"),
            (r"3\%", "3.0"),
            ("1 000", "1000"),
            (r"\sqrt[3]{-8}", "-2"),
            (r"4.1\times10^{2}", "410"),
            (r"10\cdot 2^{0.5}", r"10\sqrt2"),
            (r"\sin 30^\circ", r"\frac12"),
        ],
    );
}

#[test]
fn formulas_and_symbols() {
    check(
        true,
        &[
            (r"\text{Evelyn}", "Evelyn"),
            ("E", "e"),
            (r"\text{5}", "5"),
            ("X^2", "x^2"),
            (r"\sqrt{x^2}", "|x|"),
            (r"x+0.5", r"x+\frac12"),
            ("3+4i", "4i+3"),
            (r"\{x\}", r"\{\frac{2x}{2}\}"),
            (r"16 \to 30", r"17 \to 30"),
        ],
    );
    check(
        false,
        &[
            ("x", r"\frac{2x}{2}"),
            ("3+4i", r"3+4\cdot i"),
            (r"\ln x^2", r"2\ln x"),
            ("5+9t^2+5t", "9t^2+5t+5"),
            (r"\text{ab}", "ba"),
            (r"\frac{n(n+1)}{2}", r"\sum_{i=1}^{n} i"),
        ],
    );
}

#[test]
fn sets_and_intervals() {
    check(
        true,
        &[
            ("3,2,1", "(1,2,3)"),
            ("(3,2,1)", "3,2,1"),
            ("(1,2)", "1,2"),
            ("2,1", "(1,2)"),
            ("[2,1]", r"\{2,1\}"),
            (r"\{5\}", "5"),
            (r"\mathbb{R}\setminus\{2\}", r"(-\infty,2)\cup(2,\infty)"),
            (r"[1,3]\cup[2,5]", "[1,5]"),
            (r"x=5 \text{ or } x=-5", r"\pm5"),
        ],
    );
    check(
        false,
        &[
            ("(1,2,3)", "3,2,1"),
            ("(1,2)", "2,1"),
            ("[1,2]", r"\{1,2\}"),
            (r"[7,18]\cap[13,22]", "[13,18]"),
            (r"[0,4]\setminus\{4\}", "[0,4)"),
            ("(x,y)", "(y,x)"),
            (r"\emptyset", r"\text{no solution}"),
        ],
    );
}

#[test]
fn relations() {
    check(
        true,
        &[
            ("3", "x^2+2=3"),
            ("x+y=5", "5"),
            ("1<x<2", "(1,2)"),
            ("x^2>4", r"(-\infty,-2)\cup(2,\infty)"),
            ("x^2=4", "2,-2"),
            ("x+1>3", "2<x"),
            ("x+y=5", "2x+2y=10"),
            ("xy=1", r"y=\frac1x"),
            ("x^2+1=0", "x^2+5=0"),
            (r"x\in\{1,2\}", "x=2,1"),
        ],
    );
    check(
        false,
        &[
            ("x+2y=5", "5"),
            ("(1,2)", "1<x<2"),
            ("1<x<2", "2>x>1"),
            ("x<2", "2x<4"),
            ("2x=4", "x=2"),
            ("x=5", "y=5"),
            (r"x\in\{6\}", "x=6"),
            ("y=22", "r=22"),
        ],
    );
}

/// Texts and what `parse` gives for them in math-verify 0.9.0, an expression as `…`.
#[test]
fn answers_in_texts() {
    let found = |text: &str, targets: &[Target], mode| {
        let items = parse(text, targets, mode).unwrap_or_default();
        let shown = items.into_iter().map(|item| match item {
            Item::Expression(_) => "…".to_owned(),
            Item::Text(text) => text,
        });
        shown.collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("The answer is 5.", vec!["…", "5"]),
        ("So we get $5$.", vec!["…", "5"]),
        ("$x^2$, $5$ and $7$", vec!["…", "x^2 and 5 and 7"]),
        (r"$\frac12$ is not \boxed{3}", vec!["…", "3"]),
        ("final answer is $9$, \\boxed{1}", vec!["…", "1"]),
        ("no answer", vec![]),
        ("$1 + $", vec!["…", "1 +"]),
    ] {
        assert_eq!(found(text, &Target::usual(), Mode::default()), expected, "{text}");
    }
    let words = |lowercase| {
        [Target::Words { words: vec!["A".to_owned(), "B".to_owned()], anchorless: true, lowercase }]
    };
    assert_eq!(found("The answer is A.", &words(false), Mode::default()), ["A", "A"]);
    assert_eq!(found("Final answer is B", &words(true), Mode::default()), ["b", "B"]);
    let bare = [Target::Latex { anchorless: true, boxed_priority: -1, normalisation: Normalisation::LATEX }];
    assert!(found("\\boxed{1}", &bare, Mode { fallback: false, first_match: true }).is_empty());
}

#[test]
fn options_of_a_comparison() {
    let items = |text: &str| parse(text, &Target::usual(), Mode::default()).unwrap_or_default();
    let equal = |gold: &str, pred: &str, options: Options| {
        verify(&items(gold), &items(pred), &options).verdict == Verdict::Equal
    };
    let usual = Options::default();
    assert!(
        equal("$f(x)$", "$f(y)$", Options { strict: false, ..usual }) && !equal("$f(x)$", "$f(y)$", usual)
    );
    assert!(
        equal("$0.334$", "$0.333$", Options { float_rounding: 2, ..usual })
            && !equal("$0.334$", "$0.333$", usual)
    );
    let (set, relation) = ("$x \\in [-2,7]$", r"$-2 \le x \le 7$");
    assert!(equal(set, relation, Options { set_relation: true, ..usual }) && !equal(set, relation, usual));
    assert!(equal(relation, set, usual));
}

/// Long and deep inputs end, without a crash.
#[test]
fn hostile_inputs() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(8000), close.repeat(8000));
    for text in [
        deep("(", ")"),
        deep("{", "}"),
        deep(r"\sqrt{", "}"),
        "x".repeat(60_000),
        "|".repeat(60_000),
        format!("2{}", "^2".repeat(20_000)),
        "/3".repeat(20_000),
        vec![r"\binom{2000}{1000}"; 3000].join(""),
    ] {
        compare(&text, "1");
        compare("1", &text);
    }
}
