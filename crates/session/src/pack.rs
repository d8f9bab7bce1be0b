//! A prompt pack: small text files with named placeholders, written `{{name}}`.

mod builtin;
mod review;
mod template;

use crate::Domain;
use std::collections::BTreeMap;
use std::fmt;
use template::Template;

/// A file of a pack: its name without `.txt`, the placeholders it may use and those it must use.
struct FileSpec {
    name: &'static str,
    allowed: &'static [&'static str],
    required: &'static [&'static str],
    /// An empty file is allowed: then nothing is sent.
    may_be_empty: bool,
}

const fn file(
    name: &'static str,
    allowed: &'static [&'static str],
    required: &'static [&'static str],
) -> FileSpec {
    FileSpec { name, allowed, required, may_be_empty: false }
}

const fn optional(name: &'static str) -> FileSpec {
    FileSpec { name, allowed: &[], required: &[], may_be_empty: true }
}

const BOTH: &[&str] = &["boundary_a_answer", "boundary_b_answer"];

/// Every file of a pack.
const FILES: &[FileSpec] = &[
    file("asker_system", &["num_probing"], &[]),
    file("asker_system_unprobed", &[], &[]),
    file("asker_first", &["num_probing", "structure"], &[]),
    file(
        "asker_next",
        &["boundary_a_answer", "boundary_b_answer", "next_question_num", "num_probing", "structure"],
        BOTH,
    ),
    file("asker_final", &["boundary_a_answer", "boundary_b_answer", "num_probing", "structure"], BOTH),
    file("asker_final_unprobed", &["structure"], &[]),
    file("recover_probing_truncated", &["next_question_num", "num_probing", "structure"], &[]),
    file("recover_probing_malformed", &["next_question_num", "num_probing", "structure"], &[]),
    file("recover_final_truncated", &["num_probing", "structure"], &[]),
    file("recover_final_malformed", &["num_probing", "structure"], &[]),
    file("structure", &[], &[]),
    optional("solver_system"),
    optional("solver_suffix"),
    optional("solver_final_system"),
    optional("solver_final_suffix"),
    file("no_answer", &[], &[]),
    file("no_reply", &[], &[]),
    optional("equivalence_system"),
    file("equivalence_user", &["reference", "candidate"], &["reference", "candidate"]),
];

/// The name of a file in earlier versions. Packs with these names are read, and the hash of a pack uses them, so that it is
/// the same in every version.
fn earlier_name(name: &'static str) -> &'static str {
    match name {
        "solver_final_system" => "grade_system",
        "solver_final_suffix" => "grade_suffix",
        name => name,
    }
}

/// An error in a file of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackIssue {
    /// The file, with its ending.
    pub file: String,
    /// The line, counted from 1, if the error is on one.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for PackIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// The errors of an invalid pack.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct PackError(pub Vec<PackIssue>);

/// A checked prompt pack.
#[derive(Clone, Debug)]
pub struct Pack {
    templates: BTreeMap<&'static str, Template>,
    hash: String,
}

impl Pack {
    /// The pack that ships for a domain.
    ///
    /// # Panics
    /// Never: a test loads every shipped pack.
    #[expect(clippy::expect_used, reason = "the shipped files are fixed, and a test loads them all")]
    pub fn builtin(domain: &Domain) -> Self {
        Self::parse(&Self::builtin_files(domain)).expect("the shipped packs are complete")
    }

    /// The files that ship for a domain, by file name: mathematics with the domain's own laid over.
    pub fn builtin_files(domain: &Domain) -> BTreeMap<String, String> {
        builtin::files(domain.name())
    }

    /// The packs that ship beside those of the domains.
    pub const EXTRA: [&'static str; 2] = ["nano", "small"];

    /// The files of a pack that ships beside those of the domains, by file name.
    pub fn extra_files(name: &str) -> Option<BTreeMap<String, String>> {
        Self::EXTRA.contains(&name).then(|| builtin::files(name))
    }

    /// Checks and reads the files of a pack, given by file name.
    pub fn parse(files: &BTreeMap<String, String>) -> Result<Self, PackError> {
        let mut problems = Vec::new();
        let mut templates = BTreeMap::new();
        for spec in FILES {
            let name = format!("{}.txt", spec.name);
            match files.get(&name).or_else(|| files.get(&format!("{}.txt", earlier_name(spec.name)))) {
                None => problems.push(PackIssue { file: name, line: None, what: "missing file".into() }),
                Some(text) => {
                    let template = Template::parse(text);
                    problems.extend(check(spec, &name, &template));
                    templates.insert(spec.name, template);
                }
            }
        }
        for (name, stem) in files.keys().filter_map(|name| Some((name, name.strip_suffix(".txt")?))) {
            if !FILES.iter().any(|spec| stem == spec.name || stem == earlier_name(spec.name)) {
                let what = "no prompt has this name".into();
                problems.push(PackIssue { file: name.clone(), line: None, what });
            }
        }
        if problems.is_empty() {
            let hash = hash(&templates);
            Ok(Self { templates, hash })
        } else {
            Err(PackError(problems))
        }
    }

    /// The hash of all texts, in hexadecimal; part of a run's identity.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// A prompt with its placeholders filled in; `{{structure}}` is filled from the pack itself.
    pub(crate) fn render(&self, name: &str, values: &[(&str, &str)]) -> String {
        let structure = self.templates.get("structure").map_or("", |template| &template.source);
        self.templates.get(name).map_or_else(String::new, |template| {
            template.render(|wanted| match wanted {
                "structure" => structure,
                _ => values.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value),
            })
        })
    }

    /// The solver answers in a message of this pack; `None` if it contains none.
    pub fn answers<'m>(&self, message: &'m str) -> Option<[&'m str; 2]> {
        let captured = |name| self.templates.get(name).and_then(|template| template.capture(message));
        let values = ["asker_next", "asker_final"].into_iter().find_map(captured)?;
        let value = |name: &str| values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        Some([value("boundary_a_answer")?, value("boundary_b_answer")?])
    }

    /// The suffixes of probing and final questions.
    pub fn solver_suffixes(&self) -> [String; 2] {
        ["solver_suffix", "solver_final_suffix"].map(|name| self.render(name, &[]))
    }

    /// The messages that put a probing question to a solver, which sees the question and nothing else.
    pub fn probing_question(&self, question: &str) -> Vec<aske_chat::Message> {
        self.question("solver_system", question, &self.render("solver_suffix", &[]))
    }

    /// The messages that put a final question to a solver or to the cross-check solver.
    pub fn final_question(&self, question: &str) -> Vec<aske_chat::Message> {
        self.question("solver_final_system", question, &self.render("solver_final_suffix", &[]))
    }

    fn question(&self, system: &str, question: &str, suffix: &str) -> Vec<aske_chat::Message> {
        let prompt = if suffix.is_empty() { question.to_owned() } else { format!("{question}\n\n{suffix}") };
        self.instructed(system, prompt)
    }

    /// The two messages that put one answer pair to the equivalence checker.
    pub fn equivalence(&self, reference: &str, candidate: &str) -> Vec<aske_chat::Message> {
        let user = self.render("equivalence_user", &[("reference", reference), ("candidate", candidate)]);
        self.instructed("equivalence_system", user)
    }

    /// A user message under the system prompt of this name, which may be empty.
    pub(crate) fn instructed(&self, system: &str, user: String) -> Vec<aske_chat::Message> {
        let system = self.render(system, &[]);
        let system = (!system.is_empty()).then(|| aske_chat::Message::system(system));
        system.into_iter().chain([aske_chat::Message::user(user)]).collect()
    }
}

fn check(spec: &FileSpec, name: &str, template: &Template) -> Vec<PackIssue> {
    let mut problems = Vec::new();
    let mut problem = |line, what| problems.push(PackIssue { file: name.to_owned(), line, what });
    for (placeholder, line) in template.placeholders() {
        if !spec.allowed.contains(&placeholder) {
            let known = match spec.allowed {
                [] => "this file has no placeholders".to_owned(),
                may => format!("it may use {}", braced(may)),
            };
            problem(Some(line), format!("unknown placeholder {{{{{placeholder}}}}}; {known}"));
        }
    }
    for required in spec.required {
        if !template.placeholders().any(|(placeholder, _)| placeholder == *required) {
            problem(None, format!("the placeholder {{{{{required}}}}} is missing"));
        }
    }
    if template.source.is_empty() && !spec.may_be_empty {
        problem(None, "the file is empty".to_owned());
    }
    problems
}

fn braced(names: &[&str]) -> String {
    names.iter().map(|name| format!("{{{{{name}}}}}")).collect::<Vec<_>>().join(", ")
}

fn hash(templates: &BTreeMap<&'static str, Template>) -> String {
    let mut hasher = blake3::Hasher::new();
    let named: BTreeMap<&str, &Template> =
        templates.iter().map(|(name, template)| (earlier_name(name), template)).collect();
    for (name, template) in named {
        for part in [name, template.source.as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_pack_is_complete() {
        let mut hashes = std::collections::HashSet::new();
        for name in Domain::NAMES {
            let files = Pack::builtin_files(&name.parse().unwrap());
            let pack = Pack::parse(&files).unwrap_or_else(|problems| panic!("{name}:\n{problems}"));
            assert!(hashes.insert(pack.hash().to_owned()), "{name} is the same as another");
        }
    }

    #[test]
    fn a_wrong_pack_is_named_by_file_and_line() {
        let mut files = Pack::builtin_files(&Domain::math());
        files.remove("no_answer.txt");
        files.insert("asker_next.txt".into(), "one\n{{boundary_a_answer}} {{boundary_c_answer}}".into());
        files.insert("asker_frist.txt".into(), "typo".into());
        files.insert("structure.txt".into(), "  \n".into());
        let problems = Pack::parse(&files).unwrap_err().to_string();
        for expected in [
            "no_answer.txt: missing file",
            "asker_next.txt:2: unknown placeholder {{boundary_c_answer}}; it may use {{boundary_a_answer}}",
            "asker_next.txt: the placeholder {{boundary_b_answer}} is missing",
            "asker_frist.txt: no prompt has this name",
            "structure.txt: the file is empty",
        ] {
            assert!(problems.contains(expected), "{expected} not in:\n{problems}");
        }
    }

    #[test]
    fn what_the_asker_was_shown_is_found_again_in_every_pack() {
        let named = Pack::EXTRA.into_iter().filter_map(Pack::extra_files);
        let domains = Domain::NAMES.map(|name| Pack::builtin_files(&name.parse().unwrap()));
        for files in named.chain(domains) {
            let pack = Pack::parse(&files).unwrap();
            let shown = ["\\boxed{4}\nI added.", "\\boxed{5}\n\nModel guess"];
            let values = [("boundary_a_answer", shown[0]), ("boundary_b_answer", shown[1])];
            for name in ["asker_next", "asker_final"] {
                let values = [values[0], values[1], ("next_question_num", "3"), ("num_probing", "4")];
                assert_eq!(pack.answers(&pack.render(name, &values)), Some(shown), "{name}");
            }
            assert_eq!(pack.answers(&pack.render("asker_first", &[("num_probing", "4")])), None);
        }
    }

    #[test]
    fn a_pack_with_the_names_of_earlier_versions_is_the_same_pack() {
        let new = Pack::builtin_files(&Domain::math());
        let mut old = new.clone();
        for (name, earlier) in
            [("solver_final_system", "grade_system"), ("solver_final_suffix", "grade_suffix")]
        {
            let text = old.remove(&format!("{name}.txt")).unwrap();
            old.insert(format!("{earlier}.txt"), text);
        }
        let (old, new) = (Pack::parse(&old).unwrap(), Pack::parse(&new).unwrap());
        assert_eq!(old.hash(), new.hash());
        assert_eq!(old.final_question("q"), new.final_question("q"));
    }

    #[test]
    fn any_changed_word_changes_the_hash() {
        let mut files = Pack::builtin_files(&Domain::math());
        let before = Pack::parse(&files).unwrap().hash;
        files.get_mut("no_reply.txt").unwrap().push('!');
        assert_ne!(Pack::parse(&files).unwrap().hash, before);
    }

    #[test]
    fn what_a_model_wrote_is_never_read_as_a_placeholder() {
        let pack = Pack::builtin(&Domain::math());
        let hostile = "{{structure}} {{boundary_b_answer}}";
        let values = [("boundary_a_answer", hostile), ("boundary_b_answer", "\\boxed{2}")];
        let text = pack.render("asker_final", &values);
        assert!(text.contains(hostile));
    }
}
