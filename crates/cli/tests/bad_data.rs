//! Wrong datasets: one error that names the file and the row, one hint, exit status 2, and nothing begun.

mod common;

use common::World;
use insta::assert_snapshot;

/// What the program says about a file with this text.
fn refused(file: &str, text: &str) -> String {
    let world = World::new();
    world.write(file, text);
    said(&world, file)
}

fn said(world: &World, data: &str) -> String {
    let ran = world.expect(2, &["eval", "nano-15k", "--data", data]);
    assert_eq!(ran.stdout, "", "{ran}");
    assert_eq!(ran.stderr.matches("error:").count(), 1, "{ran}");
    assert_eq!(ran.stderr.matches("hint:").count(), 1, "{ran}");
    assert!(!world.path("runs").exists(), "nothing was begun");
    ran.stderr
}

#[test]
fn a_malformed_row_is_named_by_file_and_line() {
    let text = "{\"problem\": \"What is 1 + 1?\", \"answer\": \"2\"}\n{\"problem\": \"What is 2 + 2?\", \"answer\": \n";
    assert_snapshot!(refused("p.jsonl", text), @r"
    error: p.jsonl:2: malformed row: not valid JSON: it ends too early, at column 40
    hint: each line is one JSON object; fix or remove this one
    ");
    assert_snapshot!(refused("p.csv", "problem,answer\n\"1, or 2?\",2\n2 + 2?,4,even\n"), @r"
    error: p.csv:3: malformed row: 3 fields, and the header has 2
    hint: put quotes around fields with commas, quotes or line breaks, and double the quotes inside
    ");
    let told = refused("p.parquet", "this is no Parquet file");
    assert!(told.starts_with("error: p.parquet: not a Parquet file: "), "{told}");
    let world = World::new();
    std::fs::write(world.path("p.jsonl"), b"{}\n\xff\n").unwrap();
    assert_snapshot!(said(&world, "p.jsonl"), @r"
    error: p.jsonl:2: not UTF-8
    hint: save the file as UTF-8
    ");
}

#[test]
fn a_missing_column_is_named_with_what_is_there() {
    assert_snapshot!(refused("p.jsonl", "{\"problem\": \"q\", \"answer\": \"1\"}\n{\"problem\": \"q\", \"result\": 4}\n"), @r"
    error: p.jsonl:2: no column `answer` or `final_answer` or `Answer` or `Short Answer` for the answer
    hint: there are problem, result; declare `columns.answer` in a .toml file
    ");
    assert_snapshot!(refused("p.csv", "problems,answer\nx,1\n"), @r"
    error: p.csv:2: no column `problem` or `question` or `Problem` or `Question` for the problem
    hint: is it `problems`? Then declare `columns.problem` in a .toml file
    ");
}

#[test]
fn a_duplicate_id_is_named_by_both_rows() {
    let row = |id: &str| format!("{{\"id\": \"{id}\", \"problem\": \"q\", \"answer\": 1}}\n");
    assert_snapshot!(refused("p.jsonl", &[row("a"), row("b"), row("a")].concat()), @r"
    error: p.jsonl:3: duplicate id `a`, first at p.jsonl:1
    hint: give every problem a unique id, or declare another `columns.id`
    ");
    assert_snapshot!(refused("p.jsonl", &format!("{}{}", row("a"), "{\"problem\": \"q\", \"answer\": 1}\n")), @r"
    error: p.jsonl:2: no id, and other rows have one
    hint: give every problem an id, or none to number them
    ");
}

#[test]
fn an_empty_dataset_an_empty_problem_and_an_empty_answer_are_named() {
    assert_snapshot!(refused("p.jsonl", "\n\n"), @r"
    error: p.jsonl: no problems
    hint: the file is empty; name one with a row per problem
    ");
    assert_snapshot!(refused("p.csv", "problem,answer\n"), @r"
    error: p.csv: no problems
    hint: the file is empty; name one with a row per problem
    ");
    assert_snapshot!(refused("p.jsonl", "{\"problem\": \" \", \"answer\": \"1\"}\n"), @r"
    error: p.jsonl:1: empty problem
    hint: fix or remove the row
    ");
    assert_snapshot!(refused("p.jsonl", "{\"problem\": \"q\", \"answer\": null}\n"), @r"
    error: p.jsonl:1: empty answer
    hint: fix or remove the row
    ");
}

#[test]
fn an_answer_that_is_no_integer_from_0_to_999_is_named_where_integers_are_declared() {
    let world = World::new();
    world.write("mine.toml", "name = \"mine\"\nfiles = [\"p.jsonl\"]\nanswers = \"integer\"\n");
    world.write(
        "p.jsonl",
        "{\"problem\": \"q\", \"answer\": \"025\"}\n{\"problem\": \"q\", \"answer\": \"1/2\"}\n",
    );
    assert_snapshot!(said(&world, "mine.toml"), @r#"
    error: p.jsonl:2: the answer `1/2` is not an integer from 0 to 999
    hint: fix the row, or declare `answers = "free"`
    "#);
    world.write("p.jsonl", "{\"problem\": \"q\", \"answer\": 1000}\n");
    assert_snapshot!(said(&world, "aime-2025=p.jsonl"), @r#"
    error: p.jsonl:1: the answer `1000` is not an integer from 0 to 999
    hint: fix the row, or declare `answers = "free"`
    "#);
}

#[test]
fn an_unknown_name_a_wrong_ending_and_a_wrong_declaration_are_told() {
    let world = World::new();
    assert_snapshot!(said(&world, "aime-2024"), @r"
    error: --data: unknown dataset `aime-2024`
    hint: did you mean `aime-2025`?
    ");
    assert_snapshot!(said(&world, "none.jsonl"), @r"
    error: none.jsonl: No such file or directory
    hint: name an existing file that you can read
    ");
    world.write("p.xlsx", "x");
    assert_snapshot!(said(&world, "p.xlsx"), @r"
    error: p.xlsx: unknown file extension
    hint: a dataset is a .jsonl, .csv or .parquet file, or a .toml that declares one
    ");
    world.write("mine.toml", "name = \"mine\"\nfiles = [\"p.jsonl\"]\n\n[column]\nid = \"x\"\n");
    assert_snapshot!(said(&world, "mine.toml"), @r"
    error: mine.toml:4: unknown key `column`; known are `name`, `title`, `hub`, `files`, `licence`, `problems`, `answers`, `grading`, `comparison`, `instruction`, `columns`
    hint: docs/eval.md lists the keys of a declaration
    ");
    world.write("mine.toml", "name = \"mine\"\nfiles = [\"q.jsonl\"]\n");
    assert_snapshot!(said(&world, "mine.toml"), @r"
    error: mine.toml: no q.jsonl next to it
    hint: name files in the folder of the declaration
    ");
}

#[test]
fn a_dataset_that_is_nowhere_says_how_to_bring_it() {
    let world = World::new();
    let mut command = world.command(&["eval", "nano-15k", "--data", "math-500"]);
    command
        .env("HF_HUB_OFFLINE", "1")
        .env("HF_HUB_CACHE", world.path("hub"))
        .env("ASKE_CACHE", world.path("own"));
    let ran = common::finish(common::start(&mut command)).ended(2);
    assert_snapshot!(ran.stderr, @r"
    error: math-500: not on this machine
    hint: `hf download --repo-type dataset HuggingFaceH4/MATH-500` downloads it; or name a file: --data math-500=FILE
    ");
}
