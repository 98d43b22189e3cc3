"""A match that goes back behind the deal that is dealt: the deal before is forfeited meanwhile."""

import pytest

from controller.messages import AttemptOutcome, MachinePhase, Role
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
        void = await trial.wait_for_state(
            lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID
        )
        assert void.fairness[-1].reasons == ["NOT_NEEDED"]
        assert void.match.phase == "cut"
        await trial.people.collect()
        await trial.wait_for_phase(MachinePhase.COMMITTED)
        await cut(trial)
        held = await trial.wait_for_phase(MachinePhase.HELD)
        assert (held.match.phase, held.match.deal, held.machine.deal) == ("held", 2, 2)
