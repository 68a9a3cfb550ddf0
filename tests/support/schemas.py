# SPDX-License-Identifier: Apache-2.0
"""The project's JSON schemas, checked by a library that is not ours: a compiled one, which takes 2 ms for a summary instead of 100."""

import json

from tracemill import ROOT

try:
    import jsonschema_rs
except ImportError:
    jsonschema_rs = None


def schema_of(name, root=ROOT):
    return json.loads((root / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


def validator_of(tap, name, root=ROOT):
    """A validator of schemas/NAME.schema.json below the root; ends the test where the library is not there."""
    if jsonschema_rs is None:
        tap.ok(False, "the library jsonschema-rs is installed", "make build/venv/.made")
        tap.done()
    schema = schema_of(name, root)
    jsonschema_rs.meta.validate(schema)
    return jsonschema_rs.validator_for(schema)


def problems(validator, document, most=10):
    """What of a document does not keep to the schema: one text for each place, the first ones."""
    return [f"{'/'.join(map(str, e.instance_path))}: {e.message[:200]}" for e in validator.iter_errors(document)][:most]
