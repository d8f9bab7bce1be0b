//! A page as a browser reads it: its elements in the order of the document.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// What a browser makes of a page.
pub(crate) struct Tree {
    /// What it had to mend.
    pub(crate) errors: Vec<String>,
    elements: Vec<Element>,
    /// Texts in order, each with the element it stands in.
    texts: Vec<(usize, String)>,
}

struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    parent: Option<usize>,
    /// The place after its last descendant.
    end: usize,
}

impl Tree {
    pub(crate) fn parse(text: &str) -> Self {
        let dom = parse_document(RcDom::default(), ParseOpts::default()).one(text);
        let errors = dom.errors.borrow().iter().map(ToString::to_string).collect();
        let mut tree = Self { errors, elements: Vec::new(), texts: Vec::new() };
        tree.add(&dom.document, None);
        tree
    }

    fn add(&mut self, node: &Handle, parent: Option<usize>) {
        let mut place = parent;
        match &node.data {
            NodeData::Element { name, attrs, .. } => {
                let attrs = attrs.borrow();
                let pair =
                    |attr: &html5ever::Attribute| (attr.name.local.to_string(), attr.value.to_string());
                let attributes = attrs.iter().map(pair).collect();
                place = Some(self.elements.len());
                self.elements.push(Element { name: name.local.to_string(), attributes, parent, end: 0 });
            }
            NodeData::Text { contents } => {
                self.texts.push((parent.unwrap_or_default(), contents.borrow().to_string()));
            }
            _ => {}
        }
        for child in node.children.borrow().iter() {
            self.add(child, place);
        }
        if let Some(place) = place.filter(|_| place != parent) {
            self.elements[place].end = self.elements.len();
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = usize> {
        0..self.elements.len()
    }

    pub(crate) fn named<'t>(&'t self, name: &'t str) -> impl Iterator<Item = usize> + 't {
        self.all().filter(move |place| self.elements[*place].name == name)
    }

    pub(crate) fn with_class<'t>(&'t self, class: &'t str) -> impl Iterator<Item = usize> + 't {
        let has = move |place: &usize| {
            self.attr(*place, "class").is_some_and(|all| all.split(' ').any(|one| one == class))
        };
        self.all().filter(has)
    }

    pub(crate) fn attributes(&self, place: usize) -> impl Iterator<Item = (&str, &str)> {
        self.elements[place].attributes.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn attr(&self, place: usize, name: &str) -> Option<&str> {
        self.attributes(place).find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    pub(crate) fn parent(&self, place: usize) -> Option<usize> {
        self.elements[place].parent
    }

    pub(crate) fn within(&self, place: usize, ancestor: usize) -> bool {
        place > ancestor && place < self.elements[ancestor].end
    }

    /// All text in an element.
    pub(crate) fn text(&self, place: usize) -> String {
        let inside = place..self.elements[place].end;
        self.texts.iter().filter(|(owner, _)| inside.contains(owner)).map(|(_, text)| text.as_str()).collect()
    }
}
