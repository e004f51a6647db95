//! Every way through a template, without its values.
//!
//! The template's own text and a stand-in for each value are given to the [`Lexer`], with both branches of every `if`
//! and any number of rounds of every `for`. What is kept is the *set* of states the lexer can be in at a point: equal
//! states, however they were reached, are one. A value has to be quotable in every state of its point. This covers every
//! combination of branches, not a sample: a state depends on nothing but the text before it, and all states are followed.

use std::collections::HashSet;

use mcc_crds::v1alpha1::ParamType;
use minijinja::machinery::ast::{EmitExpr, Expr, ForLoop, IfCond, Spanned, Stmt};

use super::lexer::{Lexer, Place, Refusal, Shape};
use super::names::{Param, Printed, Scope, Uses};
use super::problem::{Position, Rewrite, TemplateProblem, Warning};
use super::{TemplateParam, engine};

/// Most states followed at once. Real templates have a handful.
const MAX_STATES: usize = 200;

/// Most bytes and statements looked at, over all states: loops in loops could make very many of a small template.
const MAX_WORK: usize = 2_000_000;

/// A printed expression of a template.
#[derive(Clone, Debug)]
pub(super) struct Emit {
    /// Where it begins in the source.
    pub(super) offset: usize,
    /// Parameters it is made of.
    pub(super) params: Vec<String>,
    /// All of them may begin a word with a hyphen.
    pub(super) allow_leading_dash: bool,
}

/// What the text of a template is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// A shell script.
    Shell,
    /// Text that nothing interprets.
    Plain,
}

/// What the analysis found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<TemplateProblem>,
    pub(super) warnings: Vec<Warning>,
    pub(super) emits: Vec<Emit>,
}

/// Checks a template in every way it can be rendered.
pub(super) fn analyse(source: &str, params: &[TemplateParam<'_>], language: Language) -> Findings {
    let mut analysis = Analysis::new(source, params);
    if source.len() > engine::MAX_SOURCE {
        let fix = format!(
            "keep it below {} bytes: put what is long into the image or a parameter",
            engine::MAX_SOURCE
        );
        analysis.problem(0, format!("the template has {} bytes", source.len()), fix, Vec::new(), None);
        return analysis.findings;
    }
    if let Some(offset) = source.find('\0') {
        let fix = "leave it out".to_owned();
        analysis.problem(offset, "the template contains a NUL character".to_owned(), fix, Vec::new(), None);
        return analysis.findings;
    }
    if let Some(offset) = engine::almost_a_comment(source) {
        let reason = "a comment begins with {# and a space; this would be text".to_owned();
        let fix = "write {# … #} with a space, or {{ '{#' }} where the two characters are meant".to_owned();
        analysis.problem(offset, reason, fix, Vec::new(), None);
        return analysis.findings;
    }
    match engine::parse(source) {
        Ok(Stmt::Template(template)) => {
            let states = match language {
                Language::Shell => vec![Lexer::new()],
                Language::Plain => Vec::new(),
            };
            let ends = analysis.statements(&template.children, states);
            analysis.end(ends);
        }
        Ok(_) => {}
        Err(error) => analysis.syntax_error(&error),
    }
    analysis.findings.problems.sort_by_key(|problem| problem.position);
    analysis.findings
}

/// What a warning says of a parameter that may have no value.
pub(super) const OPTIONAL: &str = "is optional and has no default";

struct Analysis<'s> {
    source: &'s str,
    scope: Scope<'s>,
    /// Parameters that an enclosing `if` asks about.
    asked: Vec<String>,
    seen: HashSet<(usize, String)>,
    /// Bytes and statements that may still be looked at.
    budget: usize,
    findings: Findings,
}

impl<'s> Analysis<'s> {
    fn new(source: &'s str, params: &[TemplateParam<'_>]) -> Self {
        let known = params.iter().map(|param| {
            let entry = Param {
                kind: param.kind,
                allow_leading_dash: param.allow_leading_dash,
                always_defined: param.required_or_default,
            };
            (param.name.to_owned(), entry)
        });
        Self {
            source,
            scope: Scope::new(known.collect()),
            asked: Vec::new(),
            seen: HashSet::new(),
            budget: MAX_WORK,
            findings: Findings::default(),
        }
    }

    fn problem(
        &mut self,
        offset: usize,
        reason: String,
        fix: String,
        params: Vec<String>,
        rewrite: Option<Rewrite>,
    ) {
        if self.seen.insert((offset, reason.clone())) {
            let position = Position::of(self.source, offset);
            self.findings.problems.push(TemplateProblem { position, reason, fix, params, rewrite });
        }
    }

    fn warn(&mut self, offset: usize, reason: String, fix: String) {
        if self.seen.insert((offset, reason.clone())) {
            self.findings.warnings.push(Warning { position: Position::of(self.source, offset), reason, fix });
        }
    }

    fn syntax_error(&mut self, error: &minijinja::Error) {
        let offset = error.range().map_or(0, |range| range.start);
        let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        let fix = if detail.contains("unknown statement") {
            "a template has {{ … }}, {% if %}, {% for %}, {% set %}, {% with %} and {# … #}"
        } else {
            "see the syntax of Jinja templates; write {% raw %} around text that has {{ or {% of its own"
        };
        self.problem(offset, detail, fix.to_owned(), Vec::new(), None);
    }

    fn statements(&mut self, statements: &[Stmt<'s>], mut states: Vec<Lexer>) -> Vec<Lexer> {
        for statement in statements {
            states = self.statement(statement, states);
        }
        states
    }

    fn statement(&mut self, statement: &Stmt<'s>, states: Vec<Lexer>) -> Vec<Lexer> {
        let bytes = if let Stmt::EmitRaw(raw) = statement { raw.raw.len() } else { 1 };
        let work = bytes.saturating_mul(states.len()).saturating_add(1);
        let Some(budget) = self.budget.checked_sub(work) else {
            self.budget = 0;
            let fix = "write it with fewer loops and conditions inside each other".to_owned();
            self.problem(
                0,
                "the template branches too much to be followed".to_owned(),
                fix,
                Vec::new(),
                None,
            );
            return Vec::new();
        };
        self.budget = budget;
        match statement {
            Stmt::EmitRaw(raw) => self.text(raw.raw, states),
            Stmt::EmitExpr(emit) => self.value(emit, states),
            Stmt::IfCond(condition) => self.condition(condition, states),
            Stmt::ForLoop(repeat) => self.repeat(repeat, states),
            Stmt::WithBlock(with) => {
                let mark = self.scope.enter();
                for (target, value) in &with.assignments {
                    self.assign(target, value);
                }
                let states = self.statements(&with.body, states);
                self.scope.leave(mark);
                states
            }
            Stmt::Set(set) => {
                self.assign(&set.target, &set.expr);
                states
            }
            Stmt::Template(template) => self.statements(&template.children, states),
            Stmt::SetBlock(block) => self.refused(block.span().start_offset, "{% set %} around text", states),
            Stmt::AutoEscape(block) => self.refused(block.span().start_offset, "{% autoescape %}", states),
            Stmt::FilterBlock(block) => self.refused(block.span().start_offset, "{% filter %}", states),
            Stmt::Do(block) => self.refused(block.span().start_offset, "{% do %}", states),
        }
    }

    fn refused(&mut self, offset: u32, what: &str, states: Vec<Lexer>) -> Vec<Lexer> {
        let reason = format!("{what} is not offered: values inside it could not be followed");
        let fix = "write {{ … | filter }} or {% set name = … %}".to_owned();
        self.problem(offset as usize, reason, fix, Vec::new(), None);
        states
    }

    /// Reports what is unknown in an expression, and returns the parameters it is made of.
    fn uses(&mut self, expr: &Expr<'s>, guarded: bool) -> Uses {
        let mut uses = Uses::default();
        self.scope.uses(expr, guarded, &mut uses);
        for (offset, reason, fix) in std::mem::take(&mut uses.problems) {
            self.problem(offset, reason, fix, Vec::new(), None);
        }
        uses
    }

    fn assign(&mut self, target: &Expr<'s>, value: &Expr<'s>) {
        let uses = self.uses(value, true);
        if let Err(offset) = self.scope.bind(target, &uses.params) {
            let reason = "a template can set nothing but plain names".to_owned();
            self.problem(offset, reason, "write {% set name = … %}".to_owned(), Vec::new(), None);
        }
    }

    /// The template's own text.
    fn text(&mut self, raw: &'s str, mut states: Vec<Lexer>) -> Vec<Lexer> {
        let start = (raw.as_ptr() as usize).saturating_sub(self.source.as_ptr() as usize);
        for state in &mut states {
            for (index, c) in raw.char_indices() {
                if let Err(refusal) = state.feed(c) {
                    self.problem(start + index, refusal.reason, refusal.fix, Vec::new(), None);
                }
            }
        }
        merged(states)
    }

    fn condition(&mut self, condition: &Spanned<IfCond<'s>>, states: Vec<Lexer>) -> Vec<Lexer> {
        let uses = self.uses(&condition.expr, true);
        let (mark, asked) = (self.scope.enter(), self.asked.len());
        self.asked.extend(uses.params);
        let mut ends = self.statements(&condition.true_body, states.clone());
        ends.extend(self.statements(&condition.false_body, states));
        self.asked.truncate(asked);
        // What a branch sets stays set: names stay in reach, as in Jinja, so the mark isn't used to forget them.
        let _ = mark;
        self.bounded(condition.span().start_offset, merged(ends))
    }

    fn repeat(&mut self, repeat: &Spanned<ForLoop<'s>>, states: Vec<Lexer>) -> Vec<Lexer> {
        let offset = repeat.span().start_offset;
        if repeat.recursive {
            return self.refused(offset, "{% for … recursive %}", states);
        }
        let uses = self.uses(&repeat.iter, false);
        let mark = self.scope.enter();
        let bound = self.scope.bind(&repeat.target, &uses.params);
        self.scope.bind_loop();
        if bound.is_err() {
            return self.refused(offset, "{% for %} over something that is no plain name", states);
        }
        if let Some(filter) = &repeat.filter_expr {
            self.uses(filter, true);
        }
        // Rounds until one leads nowhere new.
        let mut known: HashSet<Lexer> = HashSet::new();
        let mut ends = Vec::new();
        let mut begin = states.clone();
        loop {
            let after = self.statements(&repeat.body, begin);
            begin = after.into_iter().filter(|state| known.insert(state.clone())).collect();
            ends.extend(begin.iter().cloned());
            if begin.is_empty() || known.len() > MAX_STATES {
                break;
            }
        }
        self.scope.leave(mark);
        ends.extend(self.statements(&repeat.else_body, states));
        self.bounded(offset, merged(ends))
    }

    fn bounded(&mut self, offset: u32, mut states: Vec<Lexer>) -> Vec<Lexer> {
        if states.len() > MAX_STATES {
            let reason =
                "the branches before this can leave the script in too many different states".to_owned();
            let fix = "close quotes and end commands inside each branch".to_owned();
            self.problem(offset as usize, reason, fix, Vec::new(), None);
            states.truncate(1);
        }
        states
    }

    fn value(&mut self, emit: &Spanned<EmitExpr<'s>>, mut states: Vec<Lexer>) -> Vec<Lexer> {
        let expr = &emit.expr;
        let span = emit.span();
        let offset = span.start_offset as usize;
        let text = self.source.get(offset..span.end_offset as usize).unwrap_or_default().trim();
        let uses = self.uses(expr, false);
        for param in
            uses.needed.iter().filter(|param| !self.asked.contains(param)).cloned().collect::<Vec<_>>()
        {
            let reason = format!("parameter {param} {OPTIONAL}: a call without it fails here");
            self.warn(offset, reason, format!("write {{% if {param} %}} around it, or give it a default"));
        }
        let printed = self.scope.printed(expr);
        let shape = Shape {
            list: matches!(printed, Printed::List | Printed::Words),
            words: printed == Printed::Words,
            text: None,
            ends_word: None,
        };
        for state in &mut states {
            let outcome = state.value(&shape).and_then(|place| match place {
                Place::Arithmetic if !matches!(printed, Printed::Int | Printed::Unknown) => {
                    Err(not_an_integer(uses.params.first().map_or("", String::as_str)))
                }
                other => Ok(other),
            });
            match outcome {
                Err(refusal) => {
                    self.refuse_value(expr, text, (offset, span.end_offset as usize), &uses.params, &refusal);
                }
                Ok(Place::Double { begins_word: true, .. }) if self.may_be_option(&uses.params, printed) => {
                    let reason =
                        format!("a value of {{{{ {text} }}}} that begins with - may be read as an option");
                    self.warn(offset, reason, "write -- before it if the program knows that".to_owned());
                }
                Ok(_) => {}
            }
        }
        let all = |flag: fn(&Param) -> bool| {
            uses.params.iter().all(|name| self.scope.params.get(name).is_some_and(flag))
        };
        let allow_leading_dash = !uses.params.is_empty() && all(|param| param.allow_leading_dash);
        if !self.findings.emits.iter().any(|known| known.offset == offset) {
            self.findings.emits.push(Emit { offset, params: uses.params, allow_leading_dash });
        }
        merged(states)
    }

    fn may_be_option(&self, params: &[String], printed: Printed) -> bool {
        matches!(printed, Printed::Text | Printed::List | Printed::Unknown)
            && params
                .iter()
                .any(|name| self.scope.params.get(name).is_some_and(|param| !param.allow_leading_dash))
    }

    fn refuse_value(
        &mut self,
        expr: &Expr<'s>,
        text: &str,
        span: (usize, usize),
        params: &[String],
        refusal: &Refusal,
    ) {
        let shown =
            self.source[..span.0].trim_end_matches(['-', '+', ' ', '\t', '\n', '\r', '(']).strip_suffix("{{");
        let begin = shown.map_or(span.0, str::len);
        let reason = format!("{{{{ {text} }}}} is {}", refusal.reason);
        let mut fix = refusal.fix.replace("{{ … }}", &format!("{{{{ {text} }}}}"));
        fix = match (fix.split_once("; for a string of options"), expr) {
            (Some((fix, _)), Expr::Filter(_)) => fix.to_owned(),
            _ => fix.replace("{{ … |", &format!("{{{{ {text} |")),
        };
        if let [param] = params {
            fix = fix.replace("MCC_PARAM_NAME", &variable(param));
        }
        let rewrite = if refusal.program_text { self.rewrite(expr, span) } else { None };
        self.problem(begin, reason, fix, params.to_vec(), rewrite);
    }

    /// A word that is one parameter and nothing else can be read from the environment instead. Only if it is quoted, by
    /// the filter or by quotes: without, the author may have meant several words (`words`).
    fn rewrite(&self, expr: &Expr<'s>, (start, end): (usize, usize)) -> Option<Rewrite> {
        let param = self.scope.plain_param(expr)?;
        if matches!(self.scope.params.get(param)?.kind, ParamType::List | ParamType::Dict) {
            return None;
        }
        let before = self.source.get(..start)?.trim_end().strip_suffix("{{")?;
        let after = self.source.get(end..)?.trim_start().strip_prefix("}}")?;
        let quotes = ['"', '\'']
            .into_iter()
            .find_map(|quote| Some((before.strip_suffix(quote)?, after.strip_prefix(quote)?)));
        let (outer_before, outer_after) = match quotes {
            Some(outer) => outer,
            None if matches!(expr, Expr::Filter(_)) => (before, after),
            None => return None,
        };
        let alone = outer_before.ends_with(|c: char| c.is_ascii_whitespace())
            && (outer_after.is_empty()
                || outer_after.starts_with(|c: char| c.is_ascii_whitespace() || ";&|)<>".contains(c)));
        alone.then(|| Rewrite {
            range: outer_before.len()..self.source.len() - outer_after.len(),
            replacement: format!("\"${}\"", variable(param)),
        })
    }

    fn end(&mut self, states: Vec<Lexer>) {
        for mut state in states {
            if let Err(refusal) = state.finish() {
                let offset = self.source.trim_end().len();
                self.problem(offset, refusal.reason, refusal.fix, Vec::new(), None);
            }
        }
    }
}

/// The environment variable that holds the parameter `name`.
pub(super) fn variable(name: &str) -> String {
    format!("MCC_PARAM_{}", name.to_ascii_uppercase())
}

pub(super) fn not_an_integer(param: &str) -> Refusal {
    Refusal {
        reason: "a value in $((…)) that is not certainly an integer".to_owned(),
        fix: format!("declare the parameter {param} as int, or use the filter int"),
        program_text: false,
    }
}

/// The states, each once, in order.
fn merged(states: Vec<Lexer>) -> Vec<Lexer> {
    if states.len() < 2 {
        return states;
    }
    let mut seen = HashSet::with_capacity(states.len());
    states.into_iter().filter(|state| seen.insert(state.clone())).collect()
}
