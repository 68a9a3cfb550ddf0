# SPDX-License-Identifier: Apache-2.0
"""The project's JSON schemas, checked by a library that is not ours."""

import json

from tracemill import ROOT

try:
    import jsonschema
except ImportError:
    jsonschema = None


def validator_of(tap, name, root=ROOT):
    """A validator of schemas/NAME.schema.json below the root; ends the test where the library is not there."""
    if jsonschema is None:
        tap.ok(False, "the library jsonschema is installed", "make build/venv/.made")
        tap.done()
    schema = json.loads((root / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def problems(validator, document, most=10):
    """What of a document does not keep to the schema: one text for each place, the first ones."""
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(document)][:most]
