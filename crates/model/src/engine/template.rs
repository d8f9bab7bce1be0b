//! Renders chat templates, and keeps the text of messages apart from that of the template.

use super::error::BoxError;
use super::python;
use crate::{ErrorCause, ProviderError};
use aske_chat::{ChatRole, Message};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use std::hash::{BuildHasher, RandomState};

/// A part of a rendered conversation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Segment<'a> {
    /// Text of the template, where names of control tokens are control tokens.
    Template(&'a str),
    /// Text of a message, which never contains control tokens.
    Message(&'a str),
}

/// Strings at which templates split thinking from the rest of a message.
pub(crate) const CUTS: [&str; 2] = ["<think>", "</think>"];

/// A compiled chat template.
pub(crate) struct Template {
    environment: Environment<'static>,
    bos: String,
    eos: String,
    /// Strings at which it splits messages.
    cuts: Vec<&'static str>,
    /// Further template variables.
    variables: Value,
}

const NAME: &str = "chat";

impl Template {
    /// Compiles a template as transformers does, and renders one conversation to see that it works.
    ///
    /// `cuts` are strings at which it may split messages, such as the tags around thinking.
    pub(crate) fn new(
        source: String,
        bos: String,
        eos: String,
        cuts: Vec<&'static str>,
    ) -> Result<Self, BoxError> {
        let wrong = |error: Error| format!("chat template: {error}");
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(wrong)?);
        // Templates are not trusted: their run time is bounded.
        environment.set_fuel(Some(10_000_000));
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.set_unknown_method_callback(python::method);
        let cuts = cuts.into_iter().filter(|cut| source.contains(cut)).collect();
        environment.add_template_owned(NAME, source).map_err(wrong)?;
        let template = Self { environment, bos, eos, cuts, variables: context! {} };
        let (text, mark) = template.render(&[Message::user("x")]).map_err(wrong)?;
        if segments(&text, &mark).contains(&Segment::Message("x")) {
            Ok(template)
        } else {
            Err("chat template: the rendered text lacks the user's message".into())
        }
    }

    /// Sets further template variables, such as `enable_thinking`.
    pub(crate) fn with(self, variables: serde_json::Map<String, serde_json::Value>) -> Self {
        Self { variables: Value::from(minijinja::value::Serde(variables)), ..self }
    }

    /// Renders a conversation with a random mark around every message, so that a message cannot forge its boundaries.
    /// Returns the text and the mark.
    fn render(&self, messages: &[Message]) -> Result<(String, String), Error> {
        let mark = format!("\u{e000}{:016x}\u{e001}", RandomState::new().hash_one(messages.len()));
        let messages: Vec<Value> = messages
            .iter()
            .map(|message| {
                let content = marked(&message.content, &mark, &self.cuts);
                context! { role => role(message.role), content }
            })
            .collect();
        let text = self.environment.get_template(NAME)?.render(context! {
            messages,
            add_generation_prompt => true,
            bos_token => self.bos.as_str(),
            eos_token => self.eos.as_str(),
            ..self.variables.clone()
        })?;
        Ok((text, mark))
    }

    /// The tokens of a conversation: `encode` is called for each segment.
    pub(crate) fn prompt(
        &self,
        messages: &[Message],
        encode: impl Fn(&Segment) -> Result<Vec<u32>, ProviderError>,
    ) -> Result<Vec<u32>, ProviderError> {
        let rejected = |message: String| ProviderError::new(ErrorCause::Rejected, message);
        let (text, mark) =
            self.render(messages).map_err(|error| rejected(format!("chat template: {error}")))?;
        // With a mark lost, a message could pass for the template.
        if !text.matches(mark.as_str()).count().is_multiple_of(2) {
            return Err(rejected("the chat template cuts a message apart".to_owned()));
        }
        let mut tokens = Vec::new();
        for segment in segments(&text, &mark) {
            tokens.extend(encode(&segment)?);
        }
        Ok(tokens)
    }
}

/// Puts marks around a message, or around every part of it between cuts.
fn marked(content: &str, mark: &str, cuts: &[&str]) -> String {
    let next = |text: &str| {
        let found = cuts.iter().filter_map(|cut| text.find(cut).map(|at| (at, at + cut.len())));
        found.min()
    };
    let (mut rest, mut out) = (content, String::new());
    while let Some((at, end)) = next(rest) {
        out += &loosely_marked(&rest[..at], mark);
        out += &rest[at..end];
        rest = &rest[end..];
    }
    if out.is_empty() { format!("{mark}{rest}{mark}") } else { out + &loosely_marked(rest, mark) }
}

/// Puts marks around a part of a message, with its outer newlines outside, where a template may strip them.
fn loosely_marked(part: &str, mark: &str) -> String {
    let begin = part.len() - part.trim_start_matches('\n').len();
    let said = part.trim_matches('\n');
    format!("{}{mark}{said}{mark}{}", &part[..begin], &part[begin + said.len()..])
}

fn role(speaker: ChatRole) -> &'static str {
    match speaker {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
    }
}

/// Splits a rendered conversation at its marks.
fn segments<'a>(text: &'a str, mark: &str) -> Vec<Segment<'a>> {
    let parts = text.split(mark).enumerate();
    let segments = parts
        .map(|(index, part)| if index % 2 == 0 { Segment::Template(part) } else { Segment::Message(part) });
    segments.filter(|piece| !matches!(piece, Segment::Template("") | Segment::Message(""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}";

    fn template(source: &str) -> Result<Template, BoxError> {
        Template::new(source.to_owned(), "<s>".to_owned(), "<end>".to_owned(), vec!["<think>", "</think>"])
    }

    /// As Qwen3's template takes thinking out of what was said before.
    const THINKING: &str = "{%- set ns = namespace(last=messages|length - 1) %}
        {%- for message in messages[::-1] %}
            {%- if message.role == 'user' and not message.content.startswith('<tool>') and message.content is string %}
                {%- set ns.last = messages|length - 1 - loop.index0 %}{%- break %}
            {%- endif %}
        {%- endfor %}
        {%- for message in messages %}
            {%- set content = message.content %}{%- set thought = '' %}
            {%- if message.role == 'assistant' and '</think>' in content %}
                {%- set thought = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\n') %}
            {%- endif %}
            {{- '<' + message.role + '>' }}
            {%- if thought and loop.index0 > ns.last %}{{- '<think>' + thought.strip('\n') + '</think>' }}{%- endif %}
            {{- content + '<end>' }}
        {%- endfor %}{{- '<assistant>' }}{%- if tools %}{{- tools|tojson }}{%- endif %}";

    #[test]
    fn thinking_can_be_taken_out_and_what_is_said_stays_apart() {
        let template = template(THINKING).unwrap();
        let thought = Message::assistant("<think>\na <end>\n</think>\n\nb <end>");
        let (text, mark) =
            template.render(&[Message::user("q"), thought.clone(), Message::user("r")]).unwrap();
        assert_eq!(
            segments(&text, &mark),
            [
                Segment::Template("<user>"),
                Segment::Message("q"),
                Segment::Template("<end><assistant>"),
                Segment::Message("b <end>"),
                Segment::Template("<end><user>"),
                Segment::Message("r"),
                Segment::Template("<end><assistant>"),
            ]
        );
        let (text, mark) = template.render(&[Message::user("q"), thought]).unwrap();
        assert!(segments(&text, &mark).contains(&Segment::Message("a <end>")));
    }

    #[test]
    fn what_is_said_stays_apart_from_the_frame() {
        let template = template(CHAT).unwrap();
        let said = [Message::system(""), Message::user("<end>"), Message::assistant("hi {{ 1 }}")];
        let (text, mark) = template.render(&said).unwrap();
        let found = segments(&text, &mark);
        let expected = [
            Segment::Template("<system>"),
            Segment::Template("<end><user>"),
            Segment::Message("<end>"),
            Segment::Template("<end><assistant>"),
            Segment::Message("hi {{ 1 }}"),
            Segment::Template("<end><assistant>"),
        ];
        assert_eq!(found, expected);
        assert_ne!(template.render(&said).unwrap().1, mark, "each rendering has its own mark");
    }

    #[test]
    fn a_wrong_template_is_refused_when_it_is_read() {
        for source in [
            "{% for %}",
            "no message",
            "{{ raise_exception('no') }}",
            "{% for i in range(10000) %}\
            {% for j in range(10000) %}{{ i }}{% endfor %}{% endfor %}",
        ] {
            assert!(template(source).is_err(), "{source}");
        }
    }
}
