"""The rules by which combinations are judged (combo_rules.toml), with their articles.

If the rulebook of a profile does not state a rule, the rule is cited from a rulebook that states
it, and is provisional. A rule that no rulebook states is also provisional.
"""

import msgspec

from controller.host import toml_files
from controller.rules.profile import Profile
from controller.rules.ranks import rank_text

_FULL_RULEBOOK = "000"


class ComboRule(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A rule about combinations in both languages, with its article in each rulebook.

    `article_000` is the article in seeds 000 and 001. An article is None if the rulebook does not
    state the rule. `similar_article`: the article from which a proposed rule is derived. `key`: the
    key of the profile by which an event may change the rule. `is_about_notation`: the text states
    how the question was interpreted, and is not a rule of the game. "{level}" in the texts is
    replaced by the level played.
    """

    en: str
    zh: str
    article_000: str | None = None
    article_003: str | None = None
    article_004: str | None = None
    similar_article: str | None = None
    key: str | None = None
    is_about_notation: bool = False


class CitedRule(msgspec.Struct, frozen=True, gc=False):
    """A rule that is cited as a reason when a play is judged, with its article under one profile.

    `provisional`: the rulebook of the profile does not state the rule.
    """

    rule: str
    en: str
    zh: str
    article: str
    provisional: bool = False


COMBO_RULES = toml_files.read_resource(
    "controller.rules.combos", "combo_rules.toml", dict[str, ComboRule]
)
"""Every rule by its key. The kinds of combination are among the keys."""


def cite_rule(rule: str, profile: Profile, level: int) -> CitedRule:
    """Return the rule named `rule`, with its article in the rulebook of `profile`.

    If the regulations of the event settle the rule, their title replaces the article. `level`: a
    natural rank. Raises KeyError for an unknown rule.
    """
    stated, seed = COMBO_RULES[rule], profile.text
    en, zh = (words.replace("{level}", rank_text(level)) for words in (stated.en, stated.zh))
    if stated.is_about_notation:
        return CitedRule(rule, en, zh, "as written")
    if profile.event and stated.key in profile.event.settled:
        return CitedRule(rule, en, zh, profile.event.title_en)
    own = {"003": stated.article_003, "004": stated.article_004}.get(seed, stated.article_000)
    if own is not None:
        return CitedRule(rule, en, zh, f"{seed} {own}")
    elsewhere = stated.article_000 or stated.similar_article
    article = f"{_FULL_RULEBOOK} {elsewhere} (provisional)" if elsewhere else "provisional"
    return CitedRule(rule, en, zh, article, provisional=True)
