"""A match that goes back behind the deal that is dealt: the deal before is forfeited meanwhile."""

import pytest

from controller.messages import Outcome, Phase, Role
from tests.machine.stages import STAGES, cut, ordered
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual


@pytest.mark.parametrize("stage", ["shuffling", "dealing", "held"])
async def test_hands_are_void_and_dealt_anew_where_their_deal_begins_anew(
    table: Tables, stage: str
) -> None:
    async with table() as trial:
        await STAGES[stage](trial)
        said = {"offence": "delay_other", "seat": "N", "deal": 1, "penalty": "foul"}
        proposed = await ordered(trial, Role.REFEREE, "propose", **said)
        assert proposed.result is not None
        await ordered(trial, Role.CHIEF, "approve", ruling=proposed.result["ruling"])
        assert trial.states[-1].match.phase == "forfeit"
        await ordered(trial, Role.REFEREE, "name_leader", seat="E")
        void = await trial.until(lambda state: state.fairness[-1].outcome is Outcome.VOID)
        assert void.fairness[-1].reasons == ["NOT_NEEDED"]
        assert void.match.phase == "cut"
        await trial.people.collect()
        await trial.phase(Phase.COMMITTED)
        await cut(trial)
        held = await trial.phase(Phase.HELD)
        assert (held.match.phase, held.match.deal, held.machine.deal) == ("held", 2, 2)
