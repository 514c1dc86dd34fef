"""Check docstrings of the public interface with numpydoc.

Modules, classes, functions and methods without a leading underscore are public, except within
private ones. ``[tool.numpydoc_validation]`` in pyproject.toml selects the checks. The modules are
parsed, not imported. Four rules adapt numpydoc to this package:

* Parameters of a data class or a named tuple are its fields. A section ``Attributes``, a docstring
  below the field or the argument ``about`` of ``setting`` also documents a field.
* A method that overrides a documented method inherits its docstring and its sections.
* The docstring of a property describes a value and has no section ``Returns``.
* A returned object of a class needs its type but no description, because the summary describes it.
  Numbers and containers need a description, which has the unit.
"""

import ast
import os
import re
import sys
import warnings
from pathlib import Path

from numpydoc.docscrape import NumpyDocString
from numpydoc.hooks.validate_docstrings import AstValidator, DocstringVisitor, parse_config
from numpydoc.validate import validate

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "imu_simulation_framework"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

INHERITED = {"GL08", "PR01", "RT01", "RT03", "YD01"}
ABSTRACT_BASES = {"ABC", "Enum", "Generic", "NamedTuple", "Protocol"}
PROPERTIES = {"property", "cached_property", "setter"}
NEEDS_DESCRIPTION = re.compile(r"\b(float|int|n?d?array|tuple|list|dict|DataFrame|Series)\b")


def get_name(node):
    """Return the last part of the name of a base class or a decorator."""
    if isinstance(node, (ast.Call, ast.Subscript)):
        return get_name(node.func if isinstance(node, ast.Call) else node.value)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def get_decorators(node):
    """Return the names of the decorators of a definition."""
    return {get_name(decorator) for decorator in getattr(node, "decorator_list", ())}


def get_sections(node):
    """Return the parsed docstring of a definition."""
    return NumpyDocString(ast.get_docstring(node) or "")


def has_yield(node):
    """Return whether a function itself, and not a nested function, contains a yield."""
    inner = (*FUNCTIONS, ast.Lambda)
    children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, inner)]
    return any(isinstance(c, (ast.Yield, ast.YieldFrom)) or has_yield(c) for c in children)


def returns_none(node):
    """Return whether the return annotation of a function is None."""
    annotation = getattr(node, "returns", None)
    return isinstance(annotation, ast.Constant) and annotation.value is None


def get_parameters(function):
    """Return the names of the parameters of a method without self."""
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][1:]
    names += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    names += [argument.arg for argument in arguments.kwonlyargs]
    return names + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])


def get_fields(node):
    """Return the names of the public fields that the constructor of a data class accepts."""
    names = []
    for child in node.body:
        if isinstance(child, ast.AnnAssign) and "ClassVar" not in ast.dump(child.annotation):
            keywords = {key.arg: key.value for key in getattr(child.value, "keywords", ())}
            is_derived = getattr(keywords.get("init"), "value", True) is False
            if not is_derived and not child.target.id.startswith("_"):
                names.append(child.target.id)
    return names


def get_described_fields(node):
    """Return the names of fields that are described by a docstring or by the keyword ``about``."""
    names = set()
    for field, follower in zip(node.body, [*node.body[1:], None]):
        if isinstance(field, ast.AnnAssign):
            text = getattr(getattr(follower, "value", None), "value", None)
            is_text = isinstance(follower, ast.Expr) and isinstance(text, str)
            keywords = {key.arg for key in getattr(field.value, "keywords", ())}
            if is_text or "about" in keywords:
                names.add(field.target.id)
    return names


class Hierarchy:
    """Class hierarchy of the package."""

    def __init__(self, modules):
        self._classes = {}
        for module in modules:
            for node in ast.walk(module):
                if isinstance(node, ast.ClassDef):
                    self._classes.setdefault(node.name, []).append(node)

    def bases(self, node):
        """Return the direct and indirect base classes of a class that are in the package."""
        bases = []
        for base in node.bases:
            for parent in self._classes.get(get_name(base), ()):
                if parent is not node and parent not in bases:
                    bases += [parent, *self.bases(parent)]
        return bases

    def is_inherited(self, node, method):
        """Return whether a base class documents a method; assume it of classes in other libraries.

        Sections ``Attributes`` document properties.
        """
        bases = self.bases(node)
        if any(method in self._documented_names(c, ["Attributes"]) for c in (node, *bases)):
            return True
        names = {get_name(base) for parent in (node, *bases) for base in parent.bases}
        if names - self._classes.keys() - ABSTRACT_BASES:
            return True
        return any(
            isinstance(child, FUNCTIONS) and child.name == method and ast.get_docstring(child)
            for parent in bases
            for child in parent.body
        )

    def parameters(self, node):
        """Return the parameters of a class that its section Parameters has to document."""
        lineage = (node, *self.bases(node))
        documented = set(self._documented_names(node, ["Parameters"]))
        elsewhere = set(self._documented_names(node, ["Attributes"])) | get_described_fields(node)
        for parent in lineage[1:]:
            elsewhere.update(self._documented_names(parent, ["Parameters", "Attributes"]))
            elsewhere |= get_described_fields(parent)
        names = self._constructor_parameters(lineage)
        return [name for name in names if name in documented or name not in elsewhere]

    @staticmethod
    def _constructor_parameters(lineage):
        """Return the parameters of the first __init__ in a class and its bases, or their fields."""
        for parent in lineage:
            for child in parent.body:
                if isinstance(child, ast.FunctionDef) and child.name == "__init__":
                    return get_parameters(child)
        fields = {}
        for parent in reversed(lineage):
            if "dataclass" in get_decorators(parent) or "NamedTuple" in map(get_name, parent.bases):
                fields.update(dict.fromkeys(get_fields(parent)))
        return list(fields)

    @staticmethod
    def _documented_names(node, sections):
        text = get_sections(node)
        entries = [entry.name for section in sections for entry in text[section]]
        return [name.strip() for names in entries for name in names.split(",")]


class PublicVisitor(DocstringVisitor):
    """Visitor of the public definitions of a module."""

    def __init__(self, path, config, hierarchy):
        super().__init__(os.path.relpath(path, ROOT), config)
        self._hierarchy = hierarchy
        self._classes = []

    def visit(self, node):
        """Check a definition and the definitions in it, unless it is private."""
        if getattr(node, "name", "").startswith("_"):
            return
        if isinstance(node, FUNCTIONS):
            # Functions within functions are private.
            self.stack.append(node.name)
            self._get_numpydoc_issues(node)
            self.stack.pop()
            return
        if isinstance(node, ast.ClassDef):
            self._classes.append(node)
        super().visit(node)
        if isinstance(node, ast.ClassDef):
            self._classes.pop()

    def _get_numpydoc_issues(self, node):
        hierarchy = self._hierarchy

        class Validator(AstValidator):
            @property
            def is_generator_function(self):
                return self.is_function_or_method and has_yield(node)

            @property
            def signature_parameters(self):
                if self.is_class:
                    return tuple(hierarchy.parameters(node))
                return super().signature_parameters

        name = ".".join(self.stack)
        report = validate(name, Validator, ast_node=node, filename=self.filepath)
        ignored = self._ignored_checks(node)
        self.findings += [
            f"{self.filepath}:{report['file_line']}: {name}: {code} {text}"
            for code, text in report["errors"]
            if code not in ignored and not self._ignore_issue(node, code)
        ]

    def _ignored_checks(self, node):
        if isinstance(node, ast.Module):
            return {"GL06", "GL07"}  # module docstrings may have any headings
        text, ignored = get_sections(node), set()
        # Names that share a description are listed together, such as related fields of a class.
        if isinstance(node, ast.ClassDef) or any("," in entry.name for entry in text["Parameters"]):
            ignored.add("PR03")
        if not any(NEEDS_DESCRIPTION.search(f"{r.name} {r.type}") for r in text["Returns"]):
            ignored.add("RT03")
        if isinstance(node, FUNCTIONS):
            if get_decorators(node) & PROPERTIES or returns_none(node):
                ignored |= {"RT01", "RT03"}
            if "contextmanager" in get_decorators(node):
                ignored.add("YD01")
            if self._classes and self._hierarchy.is_inherited(self._classes[-1], node.name):
                ignored |= INHERITED
        return ignored


def check(folder):
    """Print the faults of the docstrings below a folder; return whether there are none."""
    config = parse_config(ROOT)
    modules = {path: ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))}
    hierarchy = Hierarchy(modules.values())
    findings = []
    for path, module in modules.items():
        visitor = PublicVisitor(path, config, hierarchy)
        visitor.visit(module)
        findings += visitor.findings
    for finding in findings:
        print(finding)
    return not findings


if __name__ == "__main__":
    # A heading that numpydoc does not know is reported as GL06.
    warnings.filterwarnings("ignore", "Unknown section")
    sys.exit(not check(PACKAGE))
