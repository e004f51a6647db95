"""Reads import paths as a JSON list from standard input and writes what it finds out about each as JSON."""

import contextlib
import functools
import importlib
import inspect
import json
import sys
import types
import typing

NAMES = {str: "str", int: "int", float: "float", bool: "bool", list: "list", dict: "dict"}


def resolve(path):
    if ":" in path:
        module, _, attributes = path.partition(":")
        return functools.reduce(getattr, attributes.split("."), importlib.import_module(module))
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:end])
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and (name == error.name or name.startswith(error.name + ".")):
                continue
            raise
        return functools.reduce(getattr, parts[end:], module)
    raise ModuleNotFoundError(f"No module named {parts[0]!r}")


def of_annotation(annotation):
    """Type, item type, and whether None is allowed."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        arguments = typing.get_args(annotation)
        rest = [argument for argument in arguments if argument is not type(None)]
        kind, items, _ = of_annotation(rest[0]) if len(rest) == 1 else (None, None, False)
        return kind, items, len(rest) < len(arguments)
    if origin is typing.Annotated:
        return of_annotation(typing.get_args(annotation)[0])
    if origin in (list, set, frozenset, tuple) or annotation in (set, frozenset, tuple):
        arguments = typing.get_args(annotation)
        return "list", NAMES.get(arguments[0]) if arguments else None, False
    if origin is dict or (inspect.isclass(annotation) and issubclass(annotation, dict)):
        return "dict", None, False
    return NAMES.get(annotation), None, False


def describe(path):
    function = resolve(path)
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    params = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name == "context":
            continue
        kind, items, optional = of_annotation(hints.get(parameter.name, parameter.annotation))
        param = {"name": parameter.name}
        if parameter.default is parameter.empty:
            param["required"] = not optional
        else:
            default = parameter.default
            if kind is None and type(default) in NAMES:
                kind = NAMES[type(default)]
            try:
                param["default"] = json.loads(json.dumps(default))
            except (TypeError, ValueError):
                pass
        param["type"] = kind or "str"
        if items:
            param["items"] = items
        params.append(param)
    returns = hints.get("return", inspect.signature(function).return_annotation)
    name = None if returns is inspect.Signature.empty else NAMES.get(returns) or of_annotation(returns)[0]
    return {"params": params, "description": inspect.getdoc(function) or "", "returns": name}


def main():
    found = {}
    with contextlib.redirect_stdout(sys.stderr):
        for path in json.load(sys.stdin):
            try:
                found[path] = describe(path)
            except BaseException as error:
                found[path] = {"error": f"{type(error).__name__}: {error}"}
    json.dump(found, sys.stdout)


main()
