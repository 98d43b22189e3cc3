"""`dealtable schema`: what others may rely on, as JSON Schema."""

import json

import click
import msgspec

from controller.messages import PUBLISHED

_NAMES = {shape.__name__.lower(): shape for shape in PUBLISHED}


@click.command
@click.argument("name", required=False, type=click.Choice(sorted(_NAMES)))
def command(name: str | None) -> None:
    """Print the JSON Schema of the message NAME, or of all of them."""
    shapes = [_NAMES[name]] if name else PUBLISHED
    schemas, parts = msgspec.json.schema_components(shapes, ref_template="#/$defs/{name}")
    top = schemas[0] if name else {"anyOf": list(schemas)}
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": parts}
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
