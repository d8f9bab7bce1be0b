//! Checks that the prompts of a pack explain to the asker how to reply.
//!
//! A pack without this can be run, so that earlier runs stay readable, but `aske prompts check` rejects it.

use super::{Pack, PackIssue, Template};
use crate::Section;

/// The prompts that explain a reply to the asker. Each must name the tag of every section.
const EXPLAINS: [&str; 3] = ["asker_system", "asker_system_unprobed", "structure"];

/// The prompts that follow a reply without a question. Each must name the tag of a question.
const REMINDS: [&str; 4] = [
    "recover_probing_truncated",
    "recover_probing_malformed",
    "recover_final_truncated",
    "recover_final_malformed",
];

impl Pack {
    /// The prompts that do not explain how to reply, or how often the asker may probe.
    pub fn review(&self) -> Vec<PackIssue> {
        let mut problems = Vec::new();
        let mut problem = |name: &str, what: String| {
            problems.push(PackIssue { file: format!("{name}.txt"), line: None, what });
        };
        for name in EXPLAINS {
            let text = self.render(name, &[]);
            let missing: Vec<String> =
                Section::ALL.into_iter().filter(|section| !section.is_in(&text)).map(Section::tag).collect();
            if !missing.is_empty() {
                problem(name, format!("the asker must be told to write {}", missing.join(", ")));
            }
        }
        for name in REMINDS {
            if !Section::Question.is_in(&self.render(name, &[])) {
                problem(name, format!("the asker must be told to write {}", Section::Question.tag()));
            }
        }
        let counts = |name: &str| {
            let uses = |template: &Template| template.placeholders().any(|(name, _)| name == "num_probing");
            self.templates.get(name).is_some_and(uses)
        };
        if !counts("asker_system") && !counts("asker_first") {
            let what = "the asker must be told the number of probing rounds: {{num_probing}}, here or in asker_first.txt";
            problem("asker_system", what.to_owned());
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Domain;

    #[test]
    fn every_shipped_pack_tells_the_asker_what_to_write() {
        let named = Pack::EXTRA.into_iter().filter_map(Pack::extra_files);
        let domains = Domain::NAMES.map(|name| Pack::builtin_files(&name.parse().unwrap()));
        for files in named.chain(domains) {
            assert_eq!(Pack::parse(&files).unwrap().review(), []);
        }
    }

    #[test]
    fn an_asker_that_is_told_nothing_is_named_by_file() {
        let mut files = Pack::builtin_files(&Domain::math());
        files.insert("asker_system.txt".into(), "Ask a hard question. #Draft#".into());
        files.insert("recover_final_malformed.txt".into(), "Again.".into());
        let problems = Pack::parse(&files).unwrap().review();
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "asker_system.txt: the asker must be told to write #Reasoning#, #Question#",
                "recover_final_malformed.txt: the asker must be told to write #Question#",
                "asker_system.txt: the asker must be told the number of probing rounds: {{num_probing}}, here or in asker_first.txt",
            ]
        );
        // The first message may say how many rounds there are.
        files.insert("asker_system.txt".into(), "#Reasoning# #Draft# #Question#".into());
        files.insert("asker_first.txt".into(), "Question 1 of {{num_probing}}.".into());
        files.remove("recover_final_malformed.txt");
        files.insert("recover_final_malformed.txt".into(), "{{structure}}".into());
        assert_eq!(Pack::parse(&files).unwrap().review(), []);
    }
}
