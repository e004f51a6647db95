//! YAML text to located trees: documents, anchors, merge keys, duplicate keys, bounds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::model::Reason;

use super::scalar;
use super::tree::{Content, Document, Fault, Field, Keys, Mark, Node};

/// Deepest nesting of lists and maps.
pub(super) const MAX_DEPTH: usize = 64;
/// Most nodes that the aliases of one document may add.
const MAX_ALIAS_NODES: usize = 100_000;

/// Reads all documents of a file. A document that can't be read leaves the others as they are.
pub(super) fn read(text: &str) -> Vec<Document<'_>> {
    let mut read = Vec::new();
    for (first_line, chunk) in documents(text) {
        let mut builder = Builder::new(first_line - 1);
        let result = builder.read(chunk);
        read.append(&mut builder.done);
        if let Err(fault) = result {
            builder.faults.push(fault);
            read.push(Document { node: None, faults: builder.faults });
        }
    }
    read
}

/// The text between `---` lines with the number of its first line, as kubectl cuts a file. Such a line can't be part of
/// a scalar, so this needs no parser, and a fault in one document doesn't reach the next.
fn documents(text: &str) -> Vec<(u32, &str)> {
    let mut documents = Vec::new();
    let (mut start, mut start_line, mut at, mut only_comments) = (0, 1, 0, true);
    for (line_number, line) in (1..).zip(text.split_inclusive('\n')) {
        let marker = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        // Comments and directives belong to the document that follows them.
        if marker && !only_comments {
            documents.push((start_line, &text[start..at]));
            (start, start_line) = (at, line_number);
        }
        let trimmed = line.trim_start();
        only_comments = if marker {
            false
        } else {
            only_comments && (trimmed.is_empty() || trimmed.starts_with(['#', '%']))
        };
        at += line.len();
    }
    documents.push((start_line, &text[start..]));
    documents
}

/// The fault of a key that a map has already.
pub(super) fn duplicate_key(mark: Mark, first: Mark, key: &str, path: String) -> Fault {
    Fault {
        mark,
        reason: Reason::InvalidSyntax,
        path,
        message: format!(
            "the key {key} is given twice, first at line {}, column {}",
            first.line, first.column
        ),
        fix: "remove one of the two".to_owned(),
    }
}

/// A value that a later alias may repeat.
struct Anchored<'t> {
    node: Node<'t>,
    nodes: usize,
    depth: usize,
}

/// A list or map that isn't closed yet.
struct Open<'t> {
    mark: Mark,
    anchor: usize,
    value: Building<'t>,
    /// Nodes in it so far, itself included.
    nodes: usize,
    /// Depth of what is in it.
    depth: usize,
}

enum Building<'t> {
    List(Vec<Node<'t>>),
    Map(Map<'t>),
}

#[derive(Default)]
struct Map<'t> {
    fields: Vec<Field<'t>>,
    keys: Keys<'t>,
    /// The key whose value comes next, and whether it is `<<`.
    key: Option<(Cow<'t, str>, Mark, bool)>,
    /// Values of `<<`.
    merged: Vec<Node<'t>>,
}

struct Builder<'t> {
    line_offset: u32,
    stack: Vec<Open<'t>>,
    anchors: HashMap<usize, Anchored<'t>>,
    alias_nodes: usize,
    done: Vec<Document<'t>>,
    faults: Vec<Fault>,
}

type Result<T, E = Fault> = std::result::Result<T, E>;

impl<'t> Builder<'t> {
    fn new(line_offset: u32) -> Self {
        Self {
            line_offset,
            stack: Vec::new(),
            anchors: HashMap::new(),
            alias_nodes: 0,
            done: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn read(&mut self, text: &'t str) -> Result<()> {
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            match event {
                Ok((event, span)) => self.event(event, span)?,
                Err(error) => return Err(self.syntax(&error, text)),
            }
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'t>, span: Span) -> Result<()> {
        let mark = self.mark(span.start.line(), span.start.col());
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = self.is_plain(style, tag.as_deref(), mark)?;
                let node = Node { mark, content: Content::Scalar { text, plain } };
                self.finished(node, anchor, 1, 0)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "seq", mark)?;
                self.open(mark, anchor, Building::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "map", mark)?;
                self.open(mark, anchor, Building::Map(Map::default()))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, mark),
            Event::DocumentStart(_) => {
                self.anchors.clear();
                self.alias_nodes = 0;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, mark: Mark, anchor: usize, value: Building<'t>) -> Result<()> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.too_deep(mark));
        }
        if let Some(Open { value: Building::Map(Map { key: None, .. }), .. }) = self.stack.last() {
            let message = "a list or map stands where a key is expected".to_owned();
            let fix = "put text that begins with { or [ in quotes";
            return Err(self.fault(mark, message, fix));
        }
        self.stack.push(Open { mark, anchor, value, nodes: 1, depth: 0 });
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        let content = match open.value {
            Building::List(elements) => Content::List(elements),
            Building::Map(Map { mut fields, merged, .. }) => {
                if let Err(mark) = merge(&mut fields, merged) {
                    let message = "<< merges maps, and this is none".to_owned();
                    self.faults.push(self.fault(mark, message, "write <<: *NAME with the anchor of a map"));
                }
                Content::Map(fields)
            }
        };
        self.finished(Node { mark: open.mark, content }, open.anchor, open.nodes, open.depth + 1)
    }

    fn alias(&mut self, anchor: usize, mark: Mark) -> Result<()> {
        let Some(Anchored { node, nodes, depth }) = self.anchors.get(&anchor) else {
            let message = "the alias stands inside the value that its anchor names".to_owned();
            return Err(self.fault(mark, message, "write the value out, or move the anchor"));
        };
        let (node, nodes, depth) = (node.clone(), *nodes, *depth);
        self.alias_nodes += nodes;
        if self.alias_nodes > MAX_ALIAS_NODES {
            let message = format!("the aliases of the document repeat more than {MAX_ALIAS_NODES} values");
            return Err(self.fault(mark, message, "write out fewer of them"));
        }
        if self.stack.len() + depth > MAX_DEPTH {
            return Err(self.too_deep(mark));
        }
        self.finished(node, 0, nodes, depth)
    }

    /// Puts a finished value where it belongs: as a key, a value, an element, or a document.
    fn finished(&mut self, node: Node<'t>, anchor: usize, nodes: usize, depth: usize) -> Result<()> {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes, depth });
        }
        let Some(open) = self.stack.last_mut() else {
            self.done.push(Document { node: Some(node), faults: std::mem::take(&mut self.faults) });
            return Ok(());
        };
        open.nodes += nodes;
        open.depth = open.depth.max(depth);
        match &mut open.value {
            Building::List(elements) => elements.push(node),
            Building::Map(map) => match map.key.take() {
                None => return self.key(node),
                Some((_, _, true)) => map.merged.push(node),
                Some((name, mark, false)) => {
                    let mut node = node;
                    // An empty value has no place of its own.
                    if matches!(&node.content, Content::Scalar { text, plain: true } if text.is_empty()) {
                        node.mark = mark;
                    }
                    map.fields.push(Field { key: name, mark, value: node });
                }
            },
        }
        Ok(())
    }

    /// Takes a scalar as the key of the innermost map.
    fn key(&mut self, node: Node<'t>) -> Result<()> {
        let mark = node.mark;
        let Content::Scalar { text, plain } = node.content else {
            let message = "a list or map stands where a key is expected".to_owned();
            return Err(self.fault(mark, message, "put text that begins with { or [ in quotes"));
        };
        let is_merge = plain && text == "<<";
        if plain && !is_merge {
            self.check_key(&text, mark);
        }
        let Some(Open { value: Building::Map(map), .. }) = self.stack.last_mut() else { return Ok(()) };
        let first = map.keys.first(&map.fields, &text);
        if let Some(first) = first {
            let path = path_of(&self.stack, &text);
            self.faults.push(duplicate_key(mark, first, &text, path));
        }
        if let Some(Open { value: Building::Map(map), .. }) = self.stack.last_mut() {
            map.key = Some((text, mark, is_merge));
        }
        Ok(())
    }

    /// Keys are text to Kubernetes; kubectl turns `on:` into `true:`.
    fn check_key(&mut self, text: &str, mark: Mark) {
        let reading = scalar::read(text);
        let canonical = match &reading.value {
            scalar::Plain::Text => return,
            scalar::Plain::Null => "null".to_owned(),
            _ => reading.canonical().unwrap_or_default(),
        };
        if canonical == text {
            return;
        }
        let path = path_of(&self.stack, text);
        self.faults.push(Fault {
            mark,
            reason: Reason::AmbiguousScalar,
            path,
            message: format!("kubectl reads the key {text} as {}", reading.describe()),
            fix: format!("quote it: \"{text}\""),
        });
    }

    /// Whether the type of a scalar is read from its text.
    fn is_plain(&self, style: ScalarStyle, tag: Option<&Tag>, mark: Mark) -> Result<bool> {
        match tag {
            None => Ok(style == ScalarStyle::Plain),
            Some(tag) if tag.is_yaml_core_schema() => match tag.suffix.as_str() {
                "str" => Ok(false),
                "int" | "float" | "bool" | "null" => Ok(true),
                _ => Err(self.tag_fault(tag, mark)),
            },
            Some(tag) if tag.handle.is_empty() && tag.suffix == "!" => Ok(false),
            Some(tag) => Err(self.tag_fault(tag, mark)),
        }
    }

    fn refuse_tag(&self, tag: Option<&Tag>, allowed: &str, mark: Mark) -> Result<()> {
        match tag {
            Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == allowed) => {
                Err(self.tag_fault(tag, mark))
            }
            _ => Ok(()),
        }
    }

    fn tag_fault(&self, tag: &Tag, mark: Mark) -> Fault {
        let name = if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() };
        self.fault(
            mark,
            format!("the tag {name} means nothing here"),
            "remove it, or quote text that begins with !",
        )
    }

    fn too_deep(&self, mark: Mark) -> Fault {
        self.fault(mark, format!("values are nested more than {MAX_DEPTH} deep"), "flatten the value")
    }

    fn fault(&self, mark: Mark, message: String, fix: &str) -> Fault {
        let path = path_of(&self.stack, "");
        Fault { mark, reason: Reason::InvalidSyntax, path, message, fix: fix.to_owned() }
    }

    fn mark(&self, line: usize, column: usize) -> Mark {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Mark {
            line: number(line).max(1).saturating_add(self.line_offset),
            column: number(column).saturating_add(1),
        }
    }

    fn syntax(&self, error: &ScanError, text: &str) -> Fault {
        let (line, column) = (error.marker().line(), error.marker().col());
        let source = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let before = text.lines().nth(line.saturating_sub(2)).unwrap_or_default();
        let fix = advice(error.info(), source, before);
        self.fault(self.mark(line, column), error.info().to_owned(), fix)
    }
}

/// What usually is the matter where the parser gives up.
fn advice(info: &str, line: &str, before: &str) -> &'static str {
    let indent_has_tab = |line: &str| line[..line.len() - line.trim_start().len()].contains('\t');
    let value = line.split_once(": ").map_or("", |(_, value)| value.trim_start());
    if info.contains("tab") || indent_has_tab(line) || indent_has_tab(before) {
        "indent with spaces, never with tabs"
    } else if info.contains("anchor") {
        "name the anchor (&name) before the alias (*name), or quote text that begins with *"
    } else if info.contains("flow sequence") {
        "close the list with ], or quote text that begins with ["
    } else if info.contains("flow mapping") || value.starts_with(['{', '[']) || value.starts_with("- {") {
        "close the map with }, or quote text that begins with {"
    } else if value.starts_with(['@', '`', '%', '&', '*', '!', '|', '>']) {
        "quote text that begins with a special character"
    } else if info.contains("quote") || info.contains("scalar") && info.contains("end") {
        "close the quotes"
    } else if info.contains("mapping values") || value.contains(": ") {
        "quote text that contains a colon and a space, and check the indentation"
    } else {
        "check the indentation, colons and quotes here and in the line before"
    }
}

/// The path of what is being read: the keys and numbers of everything open, then `last`.
fn path_of(stack: &[Open<'_>], last: &str) -> String {
    let mut path = String::new();
    for (depth, open) in stack.iter().enumerate() {
        let innermost = depth + 1 == stack.len();
        match &open.value {
            Building::List(elements) => {
                let _ = write!(path, "[{}]", elements.len());
            }
            Building::Map(map) => {
                let name = match &map.key {
                    Some((name, ..)) => name,
                    None if innermost => last,
                    None => "",
                };
                if !path.is_empty() && !name.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
        }
    }
    shorten(path)
}

/// Keeps the ends of a path that nobody would read.
fn shorten(path: String) -> String {
    const MOST: usize = 160;
    let count = path.chars().count();
    if count <= MOST {
        return path;
    }
    let begin: String = path.chars().take(MOST / 2).collect();
    let end: String = path.chars().skip(count - MOST / 2).collect();
    format!("{begin}…{end}")
}

/// Adds the fields of merged maps (`<<: *defaults`) under a map's own; of several the first wins. An error is the place
/// of what is no map.
fn merge<'t>(fields: &mut Vec<Field<'t>>, merged: Vec<Node<'t>>) -> Result<(), Mark> {
    let mut taken: HashSet<Cow<'t, str>> = HashSet::new();
    if !merged.is_empty() {
        taken.extend(fields.iter().map(|field| field.key.clone()));
    }
    for node in merged {
        let sources = match node.content {
            Content::List(nodes) => nodes,
            content => vec![Node { mark: node.mark, content }],
        };
        for source in sources {
            if let Content::Map(more) = source.content {
                fields.extend(more.into_iter().filter(|field| taken.insert(field.key.clone())));
            } else {
                return Err(source.mark);
            }
        }
    }
    Ok(())
}
