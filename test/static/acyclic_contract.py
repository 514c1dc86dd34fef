"""Contract of import-linter: the imports of the package contain no cycle."""

from importlinter import Contract, ContractCheck, fields, output


class AcyclicContract(Contract):
    """Contract that the imports between the modules of the root package contain no cycle.

    Imports inside functions and imports for types are included. ``ignore_imports`` lists the
    exceptions.
    """

    type_name = "acyclic"

    ignore_imports = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph, verbose):
        """Check that the graph of imports has no cycle."""
        ignored = {tuple(text.split(" -> ")) for text in self.ignore_imports or ()}
        imports = {
            module: {
                target
                for target in graph.find_modules_directly_imported_by(module)
                if (module, target) not in ignored
            }
            for module in graph.modules
        }
        unknown = [
            f"No import {source} -> {target} to ignore."
            for source, target in sorted(ignored)
            if not graph.direct_import_exists(importer=source, imported=target)
        ]
        _remove_acyclic(imports)
        return ContractCheck(kept=not imports, warnings=unknown, metadata={"cycle": imports})

    def render_broken_contract(self, check):
        """Print the imports in and between the cycles."""
        for module, targets in sorted(check.metadata["cycle"].items()):
            for target in sorted(targets):
                output.print_error(f"{module} -> {target}", bold=False)


def _remove_acyclic(imports):
    """Remove the modules outside of all cycles, and their imports."""
    while True:
        imported = set().union(*imports.values())
        free = {module for module, targets in imports.items() if not targets}
        free |= imports.keys() - imported
        if not free:
            return
        for module in free:
            del imports[module]
        for targets in imports.values():
            targets -= free
