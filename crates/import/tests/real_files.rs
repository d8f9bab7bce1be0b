//! Files that verifiers itself has written: `make/results.py` and `make/traces.py` say how.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use aske_import::{FieldMap, Import, ImportError, ImportOptions, ImportSummary, MissingData, SkipReason};
use aske_record::{Identity, Manifest, NewRun, Record, Replies, SessionRecord, read_grades, read_records};
use aske_session::{Domain, Outcome, Role, Side, Slot};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn options(map: &[&str]) -> ImportOptions {
    let mut all = FieldMap::default();
    for text in map {
        all.set(text.parse().unwrap());
    }
    ImportOptions {
        domain: Domain::math(),
        packs: Vec::new(),
        question_words: 200,
        rounds: None,
        asker: None,
        map: all,
        strict: false,
    }
}

/// The folder that an import makes, and what it says.
fn imported(
    files: &[PathBuf],
    options: &ImportOptions,
) -> Result<(TempDir, Contents, ImportSummary), ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("run");
    let mut import = Import::begin(files, options, NewRun::begin(&into)?)?;
    while import.step()? {}
    let (imported, run) = import.finish()?;
    run.finish(&Manifest::new("test", Identity::default(), toml::Table::new()))?;
    let contents = Contents { records: read_records(&into)?, path: into };
    Ok((folder, contents, imported))
}

/// An imported run.
#[derive(Debug)]
struct Contents {
    path: PathBuf,
    records: Vec<Record>,
}

fn sessions(contents: &Contents) -> BTreeMap<String, &SessionRecord> {
    contents.records.iter().map(|record| (record.id(), record.session().unwrap())).collect()
}

fn outcomes(contents: &Contents, grader: &str) -> BTreeMap<String, Outcome> {
    let lines = read_grades(&contents.path, grader).unwrap();
    lines.iter().map(|line| (line.record.clone(), line.grade.outcome)).collect()
}

#[test]
fn results_of_verifiers_0_3_become_sessions() {
    let (_folder, contents, imported) = imported(&[data("results/results.jsonl")], &options(&[])).unwrap();
    assert_eq!(
        (imported.asker.name.as_str(), imported.asker.original.as_str()),
        ("asker-toy-1", "asker/toy-1")
    );
    assert_eq!((imported.rounds, imported.count.sessions, imported.count.graded), (2, 6, 6));
    assert!(imported.count.gaps.is_empty() && imported.count.left.is_empty(), "{imported:?}");

    // The outcomes as the file has them; ours, from the answers, must be the same.
    let expected = BTreeMap::from([
        ("solver-30:solver-80/0".to_owned(), Outcome::Calibrated),
        ("solver-30:solver-80/1".to_owned(), Outcome::BadCrossCheck),
        ("solver-30:solver-80/2".to_owned(), Outcome::Calibrated),
        ("solver-60:solver-90/0".to_owned(), Outcome::TooEasy),
        ("solver-60:solver-90/1".to_owned(), Outcome::Calibrated),
        ("solver-60:solver-90/2".to_owned(), Outcome::Calibrated),
    ]);
    assert_eq!(outcomes(&contents, "standard"), expected);
    assert_eq!(outcomes(&contents, "aske"), expected);

    // One session as it stands in the file.
    let session = sessions(&contents)["solver-60:solver-90/1"];
    let turns = &session.transcript.turns;
    let questions: Vec<&str> = turns.iter().map(|turn| turn.question.as_deref().unwrap()).collect();
    assert_eq!(questions, ["What is 95023 + 39551?", "What is 81 + 33?", "What is 6854 + 7924?"]);
    let answers: Vec<[&str; 2]> = turns
        .iter()
        .map(|turn| turn.solved.as_ref().unwrap().each_ref().map(|solved| solved.answer.as_deref().unwrap()))
        .collect();
    assert_eq!(answers, [["134574", "134574"], ["124", "114"], ["14779", "14778"]]);
    assert_eq!((session.used["asker"].usage.prompt, session.used["asker"].usage.completion), (261, 78));

    let calls = Replies::open(&contents.path).unwrap().of_record("solver-60:solver-90/1").unwrap();
    assert_eq!(calls.len(), 3 + 2 * 2, "three replies of the asker, two shown of each solver");
    let shown = &calls[&Slot::first(2, Role::Solver(Side::One))];
    assert_eq!(shown.reply.content, "\\boxed{124}\nThe two numbers were added.");
    assert_eq!(shown.model, "solver-60");
}

#[test]
fn traces_of_verifiers_0_4_become_sessions_with_what_they_used() {
    let map = ["answer_one=info.final_replies.0", "answer_two=info.final_replies.1", "check=info.reference"];
    let map = [&map[..], &["outcome=rewards.calibration.score"]].concat();
    let (_folder, contents, imported) = imported(&[data("traces/traces.jsonl")], &options(&map)).unwrap();
    assert_eq!((imported.rounds, imported.count.sessions, imported.count.check_draws), (2, 4, 1));
    assert!(
        imported.count.gaps.is_empty() && imported.count.unfound.as_ref().unwrap().is_empty(),
        "{imported:?}"
    );
    // By the rewards 1.0 and 0.2 of the file, and by its answers.
    let expected = BTreeMap::from([
        ("solver-30:solver-80/0".to_owned(), Outcome::Calibrated),
        ("solver-30:solver-80/1".to_owned(), Outcome::Calibrated),
        ("solver-60:solver-90/0".to_owned(), Outcome::Calibrated),
        ("solver-60:solver-90/1".to_owned(), Outcome::TooEasy),
    ]);
    assert_eq!(outcomes(&contents, "standard"), expected);
    assert_eq!(outcomes(&contents, "aske"), expected);
    for session in sessions(&contents).values() {
        // The sums of `usage` over the file's calls.
        let used = session.used["asker"];
        assert_eq!((used.calls, used.usage.prompt, used.usage.completion), (3, 267, 78));
    }
}

#[test]
fn what_a_file_does_not_tell_is_counted_and_not_made_up() {
    let map = ["outcome=info.nowhere", "one=info.nowhere", "check=info.reference"];
    let (_folder, contents, imported) = imported(&[data("traces/traces.jsonl")], &options(&map)).unwrap();
    let gaps =
        BTreeMap::from([(MissingData::Solvers, 4), (MissingData::Final, 4), (MissingData::Outcome, 4)]);
    assert_eq!(imported.count.gaps, gaps);
    assert_eq!(imported.count.unfound.unwrap().len(), 2);
    assert!(read_grades(&contents.path, "standard").unwrap().is_empty());
    for session in sessions(&contents).values() {
        assert_eq!(session.solvers[0], "model-1");
        assert!(!session.transcript.is_answered());
    }
}

#[test]
fn lines_that_cannot_be_read_are_named_and_rollouts_that_failed_are_no_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.jsonl");
    let text = std::fs::read_to_string(data("results/results.jsonl")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[1] = lines[1].replace("\"error\": null", "\"error\": {\"error\": \"ModelError\"}");
    lines[2] = "[1, 2]".to_owned();
    let end = lines[3].find(", \"reward\"").unwrap();
    lines[3].truncate(end);
    lines[4] = lines[4].replace("#Question#\\nWhat is", "What is");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let files = [file];
    let (_folder, _, imported) = self::imported(&files, &options(&[])).unwrap();
    assert_eq!((imported.count.sessions, imported.count.bad), (3, 2));
    assert_eq!(imported.count.left, BTreeMap::from([(SkipReason::Failed, 1)]));
    assert_eq!(imported.count.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(
        imported.count.gaps,
        BTreeMap::from([(MissingData::Asker, 3)]),
        "there is no metadata.json beside"
    );

    let strict = ImportOptions { strict: true, ..options(&[]) };
    let Err(ImportError::Line(bad)) = self::imported(&files, &strict) else { unreachable!() };
    assert!(
        bad.to_string()
            .ends_with("results.jsonl:3: neither a rollout of results.jsonl nor an episode of traces.jsonl")
    );
    let other = ImportOptions { asker: Some("nobody".into()), rounds: Some(9), ..options(&[]) };
    let error = self::imported(&[data("results/results.jsonl")], &other).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no rollout to import\n  6 do not have the number of asker turns of a complete session"
    );
}
