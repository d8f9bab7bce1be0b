//! The paper's datasets in a Hugging Face cache, filled with problems that the test server can solve.

use aske_export::{Table, write};
use std::fmt::Write as _;
use std::path::Path;

/// The problems of the suite: sums that the test server can do.
pub(crate) fn problem(number: u32) -> (String, String) {
    let (a, b) = (number % 400 + 1, number / 3 + 2);
    (format!("What is {a} + {b}?"), (a + b).to_string())
}

/// Lays the paper's four datasets into a Hugging Face cache, each in the format of its release.
pub(crate) fn hub_cache(root: &Path) {
    let snapshot = |repo: &str, file: &str| {
        let path = root.join(format!("datasets--{repo}/snapshots/abc/{file}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let parquet = |repo: &str, count: u32, id: &'static str, other: &dyn Fn(&mut Table)| {
        let problems = || (0..count).map(problem);
        let mut table = Table::default();
        table.whole(id, (0..count).map(|number| Some(number.into())));
        table.text("problem", problems().map(|(problem, _)| Some(problem)));
        table.text("answer", problems().map(|(_, answer)| Some(answer)));
        other(&mut table);
        let path = snapshot(repo, "data/train-00000-of-00001.parquet");
        write(std::iter::once(Ok(table)), &path).unwrap();
    };
    parquet("AI-MO--aimo-validation-aime", 90, "id", &|table| {
        table.text("solution", std::iter::repeat_n(Some("…"), 90));
    });
    parquet("MathArena--hmmt_feb_2025", 30, "problem_idx", &|table| {
        table.texts("problem_type", std::iter::repeat_n(vec![Some("Algebra".to_owned())], 30));
    });
    for (part, from) in [("I", 0), ("II", 15)] {
        let line = |number| {
            let (question, answer) = problem(number);
            // The release has an answer in degrees.
            let answer = if number == 19 { format!("{answer}^\\circ") } else { answer };
            serde_json::json!({ "question": question, "answer": answer }).to_string()
        };
        let lines: Vec<String> = (from..from + 15).map(line).collect();
        std::fs::write(
            snapshot("opencompass--AIME2025", &format!("aime2025-{part}.jsonl")),
            lines.join("\n"),
        )
        .unwrap();
    }
    let mut csv = String::from("Problem ID,Problem,Short Answer,Category,Subcategory,Source\r\n");
    for number in 0..400 {
        let (problem, answer) = problem(number);
        // Writing to a string cannot fail.
        let _ = write!(csv, "imo-{number},\"{problem}\nShow your \"\"work\"\".\",{answer},Algebra,,\r\n");
    }
    std::fs::write(snapshot("Hwilner--imo-answerbench", "answerbench.csv"), csv).unwrap();
}
