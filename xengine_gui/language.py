"""The language of the window's texts: English, or what a catalogue says instead.

Catalogues are those of GNU gettext, `resources/locale/LANGUAGE/LC_MESSAGES/xengine.mo`. The environment's LANGUAGE,
LC_ALL, LC_MESSAGES or LANG chooses among them when the program starts.
"""

import gettext

from xengine_gui.paths import resources

_CATALOGUE = gettext.translation("xengine", str(resources() / "locale"), fallback=True)

LANGUAGE: str = _CATALOGUE.info().get("language", "")
"""The language of the catalogue that was found, such as `de`; empty for English."""


def tr(text: str, /, **values: object) -> str:
    """`text` in the user's language, its fields `{name}` filled with `values` as `str.format` does.

    In the source `text` must stand as it is, in quotes, since catalogues are made by looking for it there.
    """
    translated = _CATALOGUE.gettext(text)
    return translated.format(**values) if values else translated
