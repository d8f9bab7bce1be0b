//! The page as a whole: its structure, its size, and hostile texts in it.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail them")]

mod fixture;
mod tree;

use aske_evidence::{Evidence, Run};
use aske_report::page;
use aske_session::Outcome;
use proptest::prelude::*;
use std::time::Instant;
use tree::Tree;

const SOLUTION: &str = "#Reasoning#\nThe second one failed at $x^2$; go on with sums.\n\n**Step 1.** We have \\(a_n = \\sum_{k=1}^{n} k^2\\) and\n\\[\n\\begin{aligned} a_n &= \\frac{n(n+1)(2n+1)}{6} \\\\ a_{20} &= 2870 \\end{aligned}\n\\]\nA ticket costs $5, so $2870 \\cdot 5 = 14350$.\n\n$$\\boxed{14350}$$ ";

fn folders(wrote: &str, count: usize) -> (tempfile::TempDir, Vec<Run>) {
    let folder = tempfile::tempdir().unwrap();
    let runs = (0..count)
        .map(|place| fixture::folder(&folder.path().join(place.to_string()), place, wrote))
        .collect();
    (folder, runs)
}

/// Elements that load, send or run something.
const ACTIVE: [&str; 8] = ["script", "link", "iframe", "img", "object", "embed", "form", "base"];

/// The page's tree; a browser would stumble over nothing in it.
fn well_formed(text: &str) -> Tree {
    let tree = Tree::parse(text);
    assert_eq!(tree.errors, Vec::<String>::new());
    tree
}

#[test]
fn the_page_has_every_section_in_order_and_every_figure_its_numbers() {
    let (_folder, runs) = folders(SOLUTION, 3);
    let text = page(&fixture::evidence(), &runs).unwrap();
    if let Some(path) = std::env::var_os("ASKE_REPORT_PAGE") {
        std::fs::write(path, &text).unwrap();
    }
    let html = well_formed(&text);
    let headings: Vec<String> = html.named("h2").map(|heading| html.text(heading)).collect();
    assert_eq!(
        headings,
        [
            "Result",
            "Outcomes",
            "Pair maps",
            "Comparisons",
            "Ability scales",
            "Another cross-check solver",
            "Without probing",
            "Difficulty",
            "Validity",
            "Sessions to read"
        ]
    );
    let nav = html.named("nav").next().unwrap();
    let contents = html.named("a").filter(|a| html.within(*a, nav));
    let linked: Vec<&str> = contents.filter_map(|a| html.attr(a, "href")).collect();
    let main = html.named("main").next().unwrap();
    let sections = html.named("section").filter(|section| html.parent(*section) == Some(main));
    let ids: Vec<String> =
        sections.map(|section| format!("#{}", html.attr(section, "id").unwrap())).collect();
    assert_eq!(linked, ids);
    // 3 maps, direction and sides for each of 3 runs; bars, shares, forest, 3 scales, regrading, baseline (2), difficulty.
    assert_eq!(html.named("svg").count(), 15 + 10);
    assert_eq!(html.named("figure").count(), 15 + 10);
    for figure in html.named("figure") {
        let first = |name| html.named(name).find(|place| html.within(*place, figure)).unwrap();
        let svg = first("svg");
        assert_eq!(html.attr(svg, "role"), Some("img"));
        assert!(!html.text(first("title")).is_empty());
        assert!(html.text(first("desc")).len() > 20);
        let numbers = html.with_class("numbers").find(|place| html.within(*place, figure)).unwrap();
        assert!(
            html.named("th").any(|head| html.within(head, numbers) && html.attr(head, "scope").is_some())
        );
    }
    let mut all: Vec<&str> = html.all().filter_map(|place| html.attr(place, "id")).collect();
    let before = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), before, "ids are unique");
    assert_eq!(html.with_class("session").count(), 12);
    assert!(html.named("math").count() > 100);
    assert_eq!(ACTIVE.map(|name| html.named(name).count()), [0; 8]);
}

#[test]
fn the_result_can_be_quoted() {
    let evidence = fixture::evidence();
    let html = well_formed(&page(&evidence, &[]).unwrap());
    let quotes: Vec<String> = html.with_class("quote").map(|quote| html.text(quote)).collect();
    let rate = 100.0 * evidence.runs[0].outcomes[0].rate;
    let begin = format!("gemini-3.1-pro writes a calibrated question in {rate:.1}% of sessions (95%: ");
    assert!(quotes[0].starts_with(&begin) && quotes[0].ends_with(", over pairs)."), "{}", quotes[0]);
    let findings: Vec<String> = html.with_class("findings").map(|list| html.text(list)).collect();
    assert_eq!(findings.len(), 3, "every run's headline has its findings");
    assert!(findings[0].contains("note Repeats a probe: 12.9% (241 of 1872)"), "{}", findings[0]);
    let weighted = 100.0 * evidence.runs[2].sampling.unwrap().rate.value;
    assert!(
        quotes[2].contains(&format!("{weighted:.1}%")) && quotes[2].contains("weighted"),
        "{}",
        quotes[2]
    );
    let luck: Vec<String> = html.with_class("luck").map(|luck| html.text(luck)).collect();
    assert!(luck[0].contains("points are real separation") && luck[0].contains("sampling luck"));
    assert!(luck.last().unwrap().contains("aske audit paper-gemini-3.1-flash-lite --draws 4"));
}

#[test]
fn few_pairs_have_both_intervals_and_an_empty_share_is_a_dash() {
    let mut evidence = fixture::evidence();
    evidence.runs.truncate(1);
    (evidence.comparisons, evidence.ability, evidence.regrades) = (Vec::new(), None, Vec::new());
    let run = &mut evidence.runs[0];
    run.cells.truncate(3);
    run.baseline = None;
    run.caveats.few_pairs = Some("On these 3 pairs it is so.".to_owned());
    let new = &mut run.caveats.new.calibrated;
    (new.sessions, new.of, new.rate, new.these_pairs) = (0, 0, 0.0, None);
    let text = page(&evidence, &[]).unwrap();
    let html = well_formed(&text);
    let quote = html.with_class("quote").map(|quote| html.text(quote)).next().unwrap();
    assert!(quote.contains(" on these 3 pairs, ") && quote.ends_with(" over pairs)."), "{quote}");
    let few = html.with_class("luck").map(|luck| html.text(luck)).next().unwrap();
    assert_eq!(few, "On these 3 pairs it is so.");
    let row = html.named("tr").map(|row| html.text(row)).find(|row| row.starts_with("new")).unwrap();
    assert!(row.starts_with("new0––"), "{row}");
    for outcome in Outcome::ALL {
        assert!(text.contains(outcome.as_str()), "{outcome}");
    }
    assert!(!text.contains("too easy") && !text.contains("bad cross-check"));
}

#[test]
fn nothing_and_little_are_shown_too() {
    let nothing = Evidence { runs: Vec::new(), comparisons: Vec::new(), ability: None, regrades: Vec::new() };
    well_formed(&page(&nothing, &[]).unwrap());
    let mut little = fixture::evidence();
    little.runs.truncate(1);
    (little.comparisons, little.ability, little.regrades) = (Vec::new(), None, Vec::new());
    let run = &mut little.runs[0];
    (run.sessions, run.sampling, run.audit, run.baseline) = (0, None, None, None);
    (run.difficulty, run.regrades, run.highlights) = (Vec::new(), Vec::new(), Vec::new());
    run.solvers.clear();
    run.cells.clear();
    run.outcomes.clear();
    run.used.clear();
    run.validity = aske_evidence::Validity::default();
    well_formed(&page(&little, &[]).unwrap());
}

#[test]
fn three_full_runs_fit_and_are_quick() {
    let (_folder, runs) = folders(&SOLUTION.repeat(40), 3);
    let evidence = fixture::evidence();
    let start = Instant::now();
    let text = page(&evidence, &runs).unwrap();
    let (size, took) = (text.len(), start.elapsed());
    println!("{size} bytes in {took:?}");
    assert!(size < 3_000_000, "{size}");
    let mut many = evidence.clone();
    many.runs.extend(evidence.runs.iter().chain(&evidence.runs).cloned());
    let nine = page(&many, &runs).unwrap().len();
    assert!(nine < 3_300_000, "nine runs: {nine}");
    println!("nine runs: {nine} bytes");
    // Far below in a release build; this one is for tests, on a shared machine.
    assert!(took.as_secs() < 5, "{took:?}");
    well_formed(&text);
}

const HOSTILE: &str = "</div></details><script>alert(1)</script><img src=x onerror=alert(2)>\
    [a](javascript:alert(3)) $\\href{javascript:alert(4)}{x}$ $\\text{<img src=x onerror=alert(5)>}$ \u{202e}txet\u{202c} \
    </style></title></svg><svg onload=alert(6)> <!-- <![CDATA[ ]]> &lt;b&gt; &#x3c;script> \u{0}\u{ffff}\u{e0041} $\\sqrt{\\sqrt{$ \
    <a href=\"javascript:alert(7)\">x</a> <math><mi xlink:href=x>";

fn harmless(text: &str) {
    let html = well_formed(text);
    assert_eq!(ACTIVE.map(|name| html.named(name).count()), [0; 8]);
    assert!(html.named("a").all(|a| html.attr(a, "href").is_some_and(|href| href.starts_with('#'))));
    for (name, value) in html.all().flat_map(|place| html.attributes(place)) {
        // What a solver wrote is shown in a title, where it does nothing.
        assert!(
            !name.starts_with("on") && (name == "title" || !value.contains("javascript:")),
            "{name}={value}"
        );
    }
    assert!(!text.to_lowercase().contains("<script"));
    assert!(!text.contains('\u{202e}') && !text.contains('\u{0}'));
}

#[test]
fn hostile_texts_are_shown_and_do_nothing() {
    let (_folder, runs) = folders(HOSTILE, 1);
    let mut evidence = fixture::evidence();
    let run = &mut evidence.runs[0];
    run.asker = HOSTILE.to_owned();
    run.solvers[3].name = HOSTILE.to_owned();
    run.validity.leaked.examples = vec![HOSTILE.to_owned()];
    run.caveats.findings[0].text = HOSTILE.to_owned();
    run.highlights[0].why = HOSTILE.to_owned();
    run.regrades[0].grader = HOSTILE.to_owned();
    run.used.insert(HOSTILE.to_owned(), aske_record::RoleUsage::default());
    let text = page(&evidence, &runs).unwrap();
    harmless(&text);
    assert!(text.contains("&lt;script&gt;alert(1)") && text.contains("U+202E"));
}

#[test]
fn a_line_of_a_megabyte_is_cut() {
    for wrote in ["<".repeat(1_000_000), "$x$ ".repeat(250_000), "{".repeat(1_000_000)] {
        let (_folder, runs) = folders(&wrote, 1);
        let start = Instant::now();
        let text = page(&fixture::evidence(), &runs).unwrap();
        assert!(text.len() < 3_000_000 && text.contains("more characters"), "{}", text.len());
        assert!(start.elapsed().as_secs() < 10);
        well_formed(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_text_gets_out_of_its_place(text in r#"(<|>|</|script|&|"|'|\$|\\|\{|\}|style|-->|<!--|math|[a-c]|\PC|\x00|\u{202e}|\n){0,60}"#) {
        let mut evidence = fixture::evidence();
        evidence.runs.truncate(1);
        (evidence.comparisons, evidence.ability) = (Vec::new(), None);
        let bare = page(&evidence, &[]).unwrap();
        let run = &mut evidence.runs[0];
        run.check = format!("a{text}b");
        run.validity.leaked.examples[0].push_str(&text);
        let shown = page(&evidence, &[]).unwrap();
        harmless(&shown);
        prop_assert_eq!(shown.matches('<').count() - shown.matches("class=\"hidden\"").count() * 2, bare.matches('<').count());
    }
}
