//! The names a template uses: variables, filters, tests, functions, and what kind of value an expression prints.

use std::collections::BTreeMap;

use mcc_crds::v1alpha1::ParamType;
use minijinja::machinery::ast::{BinOpKind, CallArg, Expr};

/// Filters a template may use. All are the engine's own but `quote`, `words` and `urlencode`.
const FILTERS: [&str; 48] = [
    "abs",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "quote",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "urlencode",
    "words",
    "zip",
    "attr",
    "pprint",
];

/// Tests a template may use.
const TESTS: [&str; 28] = [
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "even",
    "false",
    "float",
    "ge",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "true",
    "undefined",
];

/// Functions a template may use.
const FUNCTIONS: [&str; 2] = ["range", "dict"];

/// A parameter as the templates see it.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) kind: ParamType,
    pub(super) allow_leading_dash: bool,
    pub(super) always_defined: bool,
}

/// What an expression prints, as far as the template alone says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    Text,
    Int,
    Float,
    Bool,
    List,
    Words,
    Dict,
    Unknown,
}

impl From<ParamType> for Printed {
    fn from(kind: ParamType) -> Self {
        match kind {
            ParamType::Str => Self::Text,
            ParamType::Int => Self::Int,
            ParamType::Float => Self::Float,
            ParamType::Bool => Self::Bool,
            ParamType::List => Self::List,
            ParamType::Dict => Self::Dict,
        }
    }
}

/// The variables in reach: parameters, and names of the template with the parameters they are made of.
#[derive(Debug, Default)]
pub(super) struct Scope<'s> {
    pub(super) params: BTreeMap<String, Param>,
    locals: Vec<(&'s str, Vec<String>)>,
}

/// What an expression uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Parameters, in order of appearance, each once.
    pub(super) params: Vec<String>,
    /// Parameters that have to have a value.
    pub(super) needed: Vec<String>,
    /// What is unknown or not offered: byte offset, reason, fix.
    pub(super) problems: Vec<(usize, String, String)>,
}

impl<'s> Scope<'s> {
    pub(super) fn new(params: BTreeMap<String, Param>) -> Self {
        Self { params, locals: Vec::new() }
    }

    /// How many names the template has made so far; for [`Self::leave`].
    pub(super) fn enter(&self) -> usize {
        self.locals.len()
    }

    /// Forgets the names made since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        self.locals.truncate(mark);
    }

    /// Makes the names of an assignment's or a loop's target.
    ///
    /// # Errors
    /// The target is no plain name.
    pub(super) fn bind(&mut self, target: &Expr<'s>, params: &[String]) -> Result<(), usize> {
        match target {
            Expr::Var(var) => {
                self.locals.push((var.id, params.to_vec()));
                Ok(())
            }
            Expr::List(list) => list.items.iter().try_for_each(|item| self.bind(item, params)),
            Expr::Tuple(tuple) => tuple.items.iter().try_for_each(|item| self.bind(item, params)),
            other => Err(other.span().start_offset as usize),
        }
    }

    /// Makes `loop`.
    pub(super) fn bind_loop(&mut self) {
        self.locals.push(("loop", Vec::new()));
    }

    fn local(&self, name: &str) -> Option<&[String]> {
        self.locals.iter().rev().find(|(local, _)| *local == name).map(|(_, params)| params.as_slice())
    }

    /// The parameter that an expression is, perhaps through `quote`.
    pub(super) fn plain_param<'e>(&self, expr: &Expr<'e>) -> Option<&'e str> {
        match expr {
            Expr::Var(var) if self.local(var.id).is_none() && self.params.contains_key(var.id) => {
                Some(var.id)
            }
            Expr::Filter(filter) if filter.name == "quote" && filter.args.is_empty() => {
                self.plain_param(filter.expr.as_ref()?)
            }
            _ => None,
        }
    }

    /// What `expr` prints.
    pub(super) fn printed(&self, expr: &Expr<'_>) -> Printed {
        match expr {
            Expr::Var(var) if self.local(var.id).is_none() => {
                self.params.get(var.id).map_or(Printed::Unknown, |param| param.kind.into())
            }
            Expr::Filter(filter) => {
                let inner = || filter.expr.as_ref().map_or(Printed::Unknown, |expr| self.printed(expr));
                match filter.name {
                    "quote" => inner(),
                    "default" | "d" => {
                        let fallback = filter.args.first().map(|arg| match arg {
                            CallArg::Pos(expr) => self.printed(expr),
                            _ => Printed::Unknown,
                        });
                        if fallback == Some(inner()) { inner() } else { Printed::Unknown }
                    }
                    "words" => Printed::Words,
                    "length" | "count" | "int" => Printed::Int,
                    "float" => Printed::Float,
                    "bool" => Printed::Bool,
                    "split" | "lines" | "list" | "batch" | "slice" | "dictsort" | "items" | "chain"
                    | "zip" | "map" | "select" | "reject" | "unique" => Printed::List,
                    "capitalize" | "format" | "indent" | "join" | "lower" | "replace" | "string"
                    | "title" | "tojson" | "trim" | "upper" | "urlencode" | "pprint" => Printed::Text,
                    _ => Printed::Unknown,
                }
            }
            Expr::BinOp(op) if matches!(op.op, BinOpKind::Concat) => Printed::Text,
            Expr::Compare(_) | Expr::Test(_) => Printed::Bool,
            Expr::Const(constant) if constant.value.is_integer() => Printed::Int,
            Expr::Const(constant) if constant.value.as_str().is_some() => Printed::Text,
            Expr::List(_) | Expr::Tuple(_) => Printed::List,
            Expr::Map(_) => Printed::Dict,
            _ => Printed::Unknown,
        }
    }

    /// What `expr` uses; `guarded`: it may do without a value.
    pub(super) fn uses(&self, expr: &Expr<'_>, guarded: bool, uses: &mut Uses) {
        let offset = expr.span().start_offset as usize;
        match expr {
            Expr::Var(var) => self.variable(var.id, offset, guarded, uses),
            Expr::Const(_) => {}
            Expr::Slice(slice) => {
                self.uses(&slice.expr, guarded, uses);
                for part in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
                    self.uses(part, guarded, uses);
                }
            }
            Expr::UnaryOp(op) => self.uses(&op.expr, guarded, uses),
            Expr::BinOp(op) => {
                let short = matches!(op.op, BinOpKind::ScOr | BinOpKind::ScAnd);
                self.uses(&op.left, guarded || short, uses);
                self.uses(&op.right, guarded, uses);
            }
            Expr::Compare(compare) => {
                self.uses(&compare.expr, true, uses);
                compare.ops.iter().for_each(|op| self.uses(&op.expr, true, uses));
            }
            Expr::IfExpr(choice) => {
                self.uses(&choice.test_expr, true, uses);
                self.uses(&choice.true_expr, true, uses);
                if let Some(other) = &choice.false_expr {
                    self.uses(other, true, uses);
                }
            }
            Expr::Filter(filter) => {
                if !FILTERS.contains(&filter.name) {
                    uses.unknown(offset, "filter", filter.name, &FILTERS);
                }
                let defaults = matches!(filter.name, "default" | "d");
                if let Some(inner) = &filter.expr {
                    self.uses(inner, guarded || defaults, uses);
                }
                self.arguments(&filter.args, guarded, uses);
            }
            Expr::Test(test) => {
                if !TESTS.contains(&test.name) {
                    uses.unknown(offset, "test", test.name, &TESTS);
                }
                self.uses(&test.expr, true, uses);
                self.arguments(&test.args, true, uses);
            }
            Expr::GetAttr(attribute) => self.uses(&attribute.expr, guarded, uses),
            Expr::GetItem(item) => {
                self.uses(&item.expr, guarded, uses);
                self.uses(&item.subscript_expr, guarded, uses);
            }
            Expr::Call(call) => {
                match &call.expr {
                    Expr::Var(var) if FUNCTIONS.contains(&var.id) && self.local(var.id).is_none() => {}
                    Expr::GetAttr(attribute) => self.uses(&attribute.expr, guarded, uses),
                    _ => uses.problems.push((
                        offset,
                        "a template can call nothing but range, dict and methods".to_owned(),
                        "write it with filters, {% if %} and {% for %}".to_owned(),
                    )),
                }
                self.arguments(&call.args, guarded, uses);
            }
            Expr::List(list) => list.items.iter().for_each(|item| self.uses(item, guarded, uses)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.uses(item, guarded, uses)),
            Expr::Map(map) => {
                map.keys.iter().chain(&map.values).for_each(|item| self.uses(item, guarded, uses));
            }
        }
    }

    fn arguments(&self, args: &[CallArg<'_>], guarded: bool, uses: &mut Uses) {
        for arg in args {
            match arg {
                CallArg::Pos(expr)
                | CallArg::Kwarg(_, expr)
                | CallArg::PosSplat(expr)
                | CallArg::KwargSplat(expr) => {
                    self.uses(expr, guarded, uses);
                }
            }
        }
    }

    fn variable(&self, name: &str, offset: usize, guarded: bool, uses: &mut Uses) {
        if let Some(params) = self.local(name) {
            for param in params {
                uses.add(param);
            }
        } else if let Some(param) = self.params.get(name) {
            uses.add(name);
            if !guarded && !param.always_defined && !uses.needed.iter().any(|needed| needed == name) {
                uses.needed.push(name.to_owned());
            }
        } else if !matches!(name, "true" | "false" | "none" | "True" | "False" | "None") {
            let names: Vec<&str> = self
                .params
                .keys()
                .map(String::as_str)
                .chain(self.locals.iter().map(|(name, _)| *name))
                .collect();
            uses.unknown(offset, "variable", name, &names);
        }
    }
}

impl Uses {
    fn add(&mut self, param: &str) {
        if !self.params.iter().any(|known| known == param) {
            self.params.push(param.to_owned());
        }
    }

    fn unknown(&mut self, offset: usize, what: &str, name: &str, known: &[&str]) {
        let nearest = known
            .iter()
            .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
            .filter(|(distance, candidate)| *distance * 3 <= candidate.len().max(name.len()))
            .min();
        let fix = match (nearest, what) {
            (Some((_, candidate)), _) => format!("did you mean {candidate}?"),
            (None, "variable") => "declare it in params".to_owned(),
            (None, "filter") => {
                "use filters of Jinja, such as default, join, lower, replace, tojson, urlencode, or words"
                    .to_owned()
            }
            (None, _) => "use tests of Jinja, such as defined, none, string, number, in".to_owned(),
        };
        self.problems.push((offset, format!("unknown {what} {name}"), fix));
    }
}
