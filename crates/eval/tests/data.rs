//! Files of every format, and the benchmark that ships.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use aske_answer::{Rules, Verdict};
use aske_eval::locate::{SearchPaths, find};
use aske_eval::{AnswerKind, Dataset, Declaration};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn parquet(path: &Path, packed: Compression, columns: Vec<(&'static str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let how = Some(WriterProperties::builder().set_compression(packed).build());
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), how).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read(data: &str) -> Dataset {
    find(data, &SearchPaths::default()).unwrap().remove(0).read().unwrap()
}

#[test]
fn the_same_problems_are_the_same_dataset_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("problem_idx", Arc::new(Int64Array::from(vec![1, 2]))),
        ("problem", Arc::new(StringArray::from(vec!["What is $\\frac{1}{2}$, in \"words\"?", "Two\nlines"]))),
        ("answer", Arc::new(StringArray::from(vec!["half", "\\sqrt{2}"]))),
    ];
    for (name, packed) in [
        ("plain.parquet", Compression::UNCOMPRESSED),
        ("snappy.parquet", Compression::SNAPPY),
        ("gzip.parquet", Compression::GZIP(GzipLevel::default())),
        ("zstd.parquet", Compression::ZSTD(ZstdLevel::default())),
        ("lz4.parquet", Compression::LZ4_RAW),
    ] {
        parquet(&at(name), packed, columns.clone());
    }
    std::fs::write(
        at("p.jsonl"),
        "{\"problem_idx\": 1, \"problem\": \"What is $\\\\frac{1}{2}$, in \\\"words\\\"?\", \"answer\": \"half\"}\n\
         {\"problem_idx\": 2, \"problem\": \"Two\\nlines\", \"answer\": \"\\\\sqrt{2}\"}\n",
    )
    .unwrap();
    std::fs::write(
        at("p.csv"),
        "problem_idx,problem,answer\n1,\"What is $\\frac{1}{2}$, in \"\"words\"\"?\",half\n2,\"Two\nlines\",\\sqrt{2}\n",
    )
    .unwrap();
    let files = [
        "plain.parquet",
        "snappy.parquet",
        "gzip.parquet",
        "zstd.parquet",
        "lz4.parquet",
        "p.jsonl",
        "p.csv",
    ];
    let prints = files.map(|name| read(&at(name).display().to_string()).fingerprint());
    assert!(prints.iter().all(|print| *print == prints[0]), "{prints:?}");
    std::fs::write(at("p.csv"), "problem_idx,problem,answer\n1,x,half\n").unwrap();
    assert_ne!(read(&at("p.csv").display().to_string()).fingerprint(), prints[0]);
}

#[test]
fn a_list_of_answers_is_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.parquet");
    let mut lists = ListBuilder::new(StringBuilder::new());
    for answers in [vec!["2"], vec!["1", "-1"]] {
        for answer in answers {
            lists.values().append_value(answer);
        }
        lists.append(true);
    }
    parquet(
        &path,
        Compression::SNAPPY,
        vec![
            ("id", Arc::new(Int64Array::from(vec![7, 8]))),
            ("question", Arc::new(StringArray::from(vec!["q", "r"]))),
            ("final_answer", Arc::new(lists.finish())),
        ],
    );
    let data = read(&format!("olympiadbench={}", path.display()));
    let answers: Vec<&str> = data.problems.iter().map(|problem| problem.answer.as_str()).collect();
    assert_eq!(answers, ["2", "1, -1"]);
}

#[test]
fn the_shipped_benchmark_is_whole_and_every_answer_can_be_compared() {
    let data = read("ladder");
    let mut levels: BTreeMap<u32, usize> = BTreeMap::new();
    for problem in &data.problems {
        *levels.entry(problem.level.unwrap()).or_default() += 1;
    }
    assert_eq!(levels, (1..=5).map(|level| (level, 20)).collect());
    let rules = Rules::default();
    for problem in &data.problems {
        let same = rules.compare(&problem.answer, &problem.answer).verdict;
        assert_eq!(same, Verdict::Equal, "{}: {}", problem.id, problem.answer);
        let other = rules.compare(&problem.answer, "314159/271828").verdict;
        assert_ne!(other, Verdict::Equal, "{}: {}", problem.id, problem.answer);
    }
    let integers = data.problems.iter().filter(|problem| problem.kind == AnswerKind::Integer).count();
    assert!((40..=60).contains(&integers), "about half: {integers}");
}

#[test]
fn every_declaration_that_ships_has_a_licence_a_count_and_a_source() {
    for declared in Declaration::builtin().unwrap() {
        assert!(declared.licence.is_some() && declared.problems.is_some(), "{}", declared.name);
        assert!(declared.hub.is_some() || declared.name == "ladder");
    }
}
