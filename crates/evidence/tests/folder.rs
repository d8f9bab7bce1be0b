//! Evidence from a folder whose every session is known.
#![expect(clippy::unwrap_used, reason = "a test that cannot write its folder has failed")]

use aske_chat::Finish;
use aske_evidence::{Evidence, Run, Severity, Verdict, evidence, headline};
use aske_record::{
    GradeLine, Identity, Manifest, PairId, PanelRecord, Record, RunDir, SCHEMA, SessionId, SessionRecord,
};
use aske_session::{Grade, GradingRules, Outcome, SolverAnswer, Transcript, Turn};
use std::collections::BTreeMap;
use std::path::Path;

const SOLVERS: [&str; 3] = ["small", "middle", "large"];

fn manifest(asker: &str) -> Manifest {
    let config = format!(
        "[asker]\nmodel = \"{asker}\"\n[check]\nmodel = \"check\"\n[boundary]\nsolvers = [\"small\", \"middle\", \"large\"]\n\
         [models.small]\nparams = 2.0\n[models.middle]\nparams = 6.0\n[models.large]\nparams = 9.0\n"
    );
    Manifest::new("0", Identity::default(), config.parse().unwrap())
}

fn solved(answer: &str) -> SolverAnswer {
    SolverAnswer { answer: Some(answer.to_owned()), finish: Finish::Stop }
}

fn turn(question: &str, answers: [&str; 2]) -> Turn {
    let solved = Some(answers.map(solved));
    Turn { question: Some(question.to_owned()), cut: false, error: None, missing: Vec::new(), solved }
}

/// A session of these solvers, Model 1 first, in which some are right about a question of its own.
fn session(solvers: [&str; 2], sample: u32, right: [bool; 2]) -> (SessionRecord, Grade) {
    let pair = PairId::new(solvers[0], solvers[1]).unwrap();
    let question =
        format!("What is the value of {sample} times the number of {pair} in the garden of numbers?");
    let answers = right.map(|right| if right { "7" } else { "8" });
    let record = SessionRecord {
        schema: SCHEMA,
        pair,
        sample,
        asker: "asker".to_owned(),
        solvers: solvers.map(str::to_owned),
        transcript: Transcript {
            turns: vec![turn("What is 1 + 1?", ["2", "2"]), turn(&question, answers)],
            check: vec![Some("7".to_owned()); 3],
        },
        used: BTreeMap::new(),
    };
    let grade = Grade {
        outcome: Outcome::of(right),
        right: Some(right),
        undecided: false,
        promoted: false,
        folded: false,
    };
    (record, grade)
}

fn write(folder: &Path, asker: &str, sessions: &[(SessionRecord, Grade)]) {
    let run = RunDir::open(folder, &manifest(asker)).unwrap();
    for (record, grade) in sessions {
        run.add_record(&Record::Session(record.clone())).unwrap();
        run.add_grade(&line(record, grade)).unwrap();
    }
}

fn line(record: &SessionRecord, grade: &Grade) -> GradeLine {
    GradeLine {
        schema: SCHEMA,
        record: record.id().to_string(),
        grade: grade.clone(),
        check: None,
        rules: GradingRules::default(),
    }
}

/// A list of runs shows the numbers of the tables.
fn same_in_a_list(folder: &Path, tables: &Evidence) {
    let (short, long) = (headline(&Run::read(folder, None).unwrap()), &tables.runs[0]);
    assert_eq!(short.calibrated, long.outcomes[0]);
    assert_eq!((short.findings, short.used), (long.caveats.findings.clone(), long.used.clone()));
    assert_eq!(short.separation, long.audit.as_ref().map(|audit| audit.estimates.separation));
    assert_eq!((short.sampling, short.pairs), (long.sampling, long.cells.len()));
}

#[test]
fn sessions_are_told_by_size_whoever_was_model_1() {
    let folder = tempfile::tempdir().unwrap();
    // The large one is Model 1 and right in the first, Model 2 and wrong in the second.
    let sessions = [
        session(["large", "small"], 0, [true, false]),
        session(["small", "large"], 1, [true, false]),
        session(["large", "small"], 2, [true, false]),
        session(["middle", "small"], 0, [true, true]),
    ];
    write(folder.path(), "asker", &sessions);
    let run = Run::read(folder.path(), None).unwrap();
    let tables = evidence(std::slice::from_ref(&run));
    let shown = &tables.runs[0];
    assert_eq!(shown.solvers.iter().map(|solver| solver.name.as_str()).collect::<Vec<_>>(), SOLVERS);
    assert_eq!(shown.cells.iter().map(|cell| cell.pair).collect::<Vec<_>>(), [[0, 1], [0, 2]]);
    let wide = &shown.cells[1];
    assert_eq!((wide.wins, wide.right, wide.separated), ([1, 2], [1, 2], true));
    assert_eq!((shown.direction.weaker.hits, shown.direction.weaker.of), (1, 3));
    assert_eq!((shown.direction.separated.hits, shown.direction.separated.of), (1, 3));
    assert_eq!((shown.solvers[0].right, shown.solvers[0].answered), (2, 4));
    let rates: Vec<f64> = shown.outcomes.iter().map(|share| share.rate).collect();
    assert_eq!(rates, [0.75, 0.25, 0.0, 0.0, 0.0]);
    let name = run.name(&run.sessions[0]);
    assert_eq!(name, "large:small/0");
    assert_eq!(run.record(run.session(&name).unwrap()).unwrap(), sessions[0].0);
}

#[test]
fn doubts_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (mut repeated, grade) = session(["small", "large"], 0, [false, true]);
    repeated.transcript.turns[1].question = Some("what is 1 + 1 ?".to_owned());
    let (mut leaking, _) = session(["small", "large"], 1, [false, true]);
    leaking.transcript.check = vec![Some("2026".to_owned()); 3];
    leaking.transcript.turns[1].question = Some("Which year is 2026, written in digits?".to_owned());
    let (mut cut, _) = session(["small", "large"], 2, [false, true]);
    cut.transcript.turns[1].solved.as_mut().unwrap()[0] =
        SolverAnswer { answer: None, finish: Finish::Length };
    let (mut again, _) = session(["small", "middle"], 5, [false, true]);
    again.transcript.turns[1].question = leaking.transcript.turns[1].question.clone();
    let (mut near, _) = session(["middle", "large"], 7, [false, true]);
    near.transcript.turns[1].question =
        cut.transcript.turns[1].question.as_ref().map(|text| text.replace("garden", "orchard"));
    let (_, mut disagreed) = session(["small", "large"], 3, [false, true]);
    disagreed.outcome = Outcome::BadCrossCheck;
    disagreed.right = None;
    let mut last = session(["small", "large"], 3, [false, true]).0;
    last.transcript.turns[1].question = Some("Name the largest prime below one hundred.".to_owned());
    let sessions: Vec<_> = [repeated, leaking, cut, again, near]
        .into_iter()
        .map(|record| (record, grade.clone()))
        .chain([(last, disagreed)])
        .collect();
    write(folder.path(), "asker", &sessions);
    let tables = evidence(&[Run::read(folder.path(), None).unwrap()]);
    same_in_a_list(folder.path(), &tables);
    let found = &tables.runs[0].validity;
    assert_eq!(found.from_probing.examples, ["large:small/0"]);
    assert_eq!((found.leaked.sessions, found.leaked.of), (1, 6));
    assert_eq!(found.duplicates.examples, ["middle:small/5"]);
    assert_eq!(found.near_duplicates.examples, ["large:middle/7"]);
    assert_eq!(found.disagreed.examples, ["large:small/3"]);
    let small = &found.solvers[0];
    assert_eq!((small.replies, small.truncated, small.unanswered), (10, 1, 1));
    assert_eq!(found.asker.turns, 12);
}

/// A session whose final question repeats its probe.
fn reusing(solvers: [&str; 2], sample: u32, right: [bool; 2]) -> (SessionRecord, Grade) {
    let (mut record, grade) = session(solvers, sample, right);
    let probe = record.transcript.turns[0].question.clone();
    record.transcript.turns[1].question = probe;
    (record, grade)
}

#[test]
fn the_calibrated_share_is_split_by_whether_the_final_question_repeats_a_probe() {
    let folder = tempfile::tempdir().unwrap();
    let mut sessions = Vec::new();
    for pair in [["small", "middle"], ["small", "large"], ["middle", "large"]] {
        sessions.extend((0..4).map(|sample| reusing(pair, sample, [false, sample < 3])));
        sessions.extend((4..6).map(|sample| session(pair, sample, [false, sample == 4])));
    }
    let (mut silent, _) = session(["small", "middle"], 6, [false, true]);
    silent.transcript.turns[1].question = None;
    sessions.push((silent, Grade::new(Outcome::NoQuestion, None)));
    write(folder.path(), "asker", &sessions);
    let mut run = Run::read(folder.path(), None).unwrap();
    let shown = &evidence(std::slice::from_ref(&run)).runs[0].caveats;
    let [reused, new] = [shown.reused.calibrated, shown.new.calibrated];
    assert_eq!((reused.sessions, reused.of, new.sessions, new.of), (9, 12, 3, 6));
    assert!((reused.rate - 0.75).abs() < 1e-12 && reused.over_pairs.is_some(), "{reused:?}");
    assert_eq!((shown.reused.audit, shown.new.audit), (None, None));
    assert!(shown.few_pairs.as_ref().unwrap().starts_with("On these 3 pairs"), "{shown:?}");
    let reuse = shown.findings.iter().find(|finding| finding.check == "Repeats a probe").unwrap();
    assert_eq!((reuse.severity, reuse.hits, reuse.of), (Severity::Note, 12, 18));
    assert!(reuse.text.ends_with("the paper allows it"), "{}", reuse.text);
    // Problems come before notes.
    assert!(shown.findings.is_sorted_by(|one, two| one.severity >= two.severity), "{shown:?}");
    assert_eq!(*shown, aske_evidence::caveats(&run));
    // Of a part of the sessions, only theirs.
    run.retain_sessions(|name| name == "large:small/0" || name == "large:small/5");
    assert!(run.session("large:small/5").is_some() && run.session("large:small/1").is_none());
    let part = aske_evidence::caveats(&run);
    assert_eq!((part.reused.calibrated.of, part.new.calibrated.of), (1, 1));
    // binom.test(1, 2) in R: 0.0126 to 0.9874.
    assert!(part.few_pairs.unwrap().starts_with("On this pair the calibrated rate is 1.3 to 98.7% (95%)"));
}

#[test]
fn two_askers_are_compared_on_the_sessions_they_share() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let pairs = [["small", "middle"], ["small", "large"], ["middle", "large"]];
    let all = |good: fn(u32) -> bool, samples: u32| {
        let every = pairs.into_iter().flat_map(|pair| (0..samples).map(move |sample| (pair, sample)));
        every.map(|(pair, sample)| session(pair, sample, [false, good(sample)])).collect::<Vec<_>>()
    };
    write(folders[0].path(), "better", &all(|_| true, 10));
    write(folders[1].path(), "worse", &all(|sample| sample % 2 == 0, 8));
    let runs = folders.each_ref().map(|folder| Run::read(folder.path(), None).unwrap());
    let tables = evidence(&runs);
    let compared = &tables.comparisons[0];
    assert_eq!((compared.paired.sessions, compared.paired.clusters), (24, 3));
    assert!((compared.paired.difference.value - 0.5).abs() < 1e-12);
    // Three pairs, all in one direction: the sign-flip test cannot go below 2/2³.
    assert!((compared.p_holm - 0.25).abs() < 1e-12, "{compared:?}");
    assert_eq!(compared.verdict, Verdict::Tied);
    let skills = tables.ability.unwrap().skills.unwrap();
    assert!(skills.askers[0].unwrap().value > skills.askers[1].unwrap().value);
}

#[test]
fn baselines_and_audits_are_read_from_their_panels() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "asker", &[session(["small", "large"], 0, [false, true])]);
    let run = RunDir::open(folder.path(), &manifest("asker")).unwrap();
    let right = |rights: &[(&str, &[bool])]| {
        Some(
            rights
                .iter()
                .map(|(name, right)| ((*name).to_owned(), right.to_vec()))
                .collect::<BTreeMap<_, _>>(),
        )
    };
    let panel =
        |name: &str, session: Option<&str>, question: bool, right: Option<BTreeMap<String, Vec<bool>>>| {
            let answer = |right: &Vec<bool>| right.iter().map(|_| solved("7")).collect();
            PanelRecord {
                schema: SCHEMA,
                name: name.to_owned(),
                session: session.map(str::to_owned),
                question: question.then(|| "What is 3 + 4?".to_owned()),
                check: vec![Some("7".to_owned())],
                answers: right.iter().flatten().map(|(name, right)| (name.clone(), answer(right))).collect(),
                right,
                rules: GradingRules::default(),
                used: BTreeMap::new(),
            }
        };
    let solvers = |one, two, three| right(&[("small", &[one]), ("middle", &[two]), ("large", &[three])]);
    for (number, panel) in [
        panel("0", None, true, solvers(false, true, true)),
        panel("1", None, true, solvers(false, false, false)),
        panel("2", None, true, None),
        panel("3", None, false, None),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(panel.name, number.to_string());
        run.add_record(&Record::Baseline(panel)).unwrap();
    }
    let few = right(&[("small", &[false, true]), ("large", &[true, true]), ("middle", &[true])]);
    let many = right(&[("small", &[false, true, false, false]), ("large", &[true, true, true, true])]);
    run.add_record(&Record::Audit(panel("4/large:small/0", Some("large:small/0"), true, many))).unwrap();
    run.add_record(&Record::Audit(panel("2/large:small/0", Some("large:small/0"), true, few))).unwrap();
    let tables = evidence(&[Run::read(folder.path(), None).unwrap()]);
    same_in_a_list(folder.path(), &tables);
    let baseline = tables.runs[0].baseline.as_ref().unwrap();
    // Question 0: two pairs calibrated, one too easy; 1: three too hard; 2: three bad cross-checks; 3: three without.
    let counts: Vec<u64> = baseline.outcomes.iter().map(|share| share.sessions).collect();
    assert_eq!(counts, [2, 1, 3, 3, 3]);
    assert_eq!((baseline.questions, baseline.cells.len()), (4, 3));
    // One audited session is one cluster, of which no interval can be made.
    assert!(tables.runs[0].audit.is_none());
    assert_eq!(Run::read(folder.path(), None).unwrap().audited()["large:small/0"].name, "4/large:small/0");
}

#[test]
fn a_run_that_grows_is_read_on_from_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let first = session(["small", "large"], 0, [false, true]);
    write(folder.path(), "asker", std::slice::from_ref(&first));
    let mut run = Run::read(folder.path(), None).unwrap();
    assert!(!run.refresh().unwrap(), "nothing is new");
    let writer = RunDir::open(folder.path(), &manifest("asker")).unwrap();
    let (record, grade) = session(["middle", "large"], 1, [true, true]);
    // A grade may be seen before its record.
    writer.add_grade(&line(&record, &grade)).unwrap();
    assert!(run.refresh().unwrap());
    assert_eq!(run.sessions.len(), 1);
    writer.add_record(&Record::Session(record.clone())).unwrap();
    assert!(run.refresh().unwrap());
    assert_eq!(run.sessions[1].grade, Some(grade));
    assert_eq!(run.name(&run.sessions[1]), SessionId { pair: record.pair, sample: 1 }.to_string());
}
