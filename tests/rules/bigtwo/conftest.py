import pytest

from controller.rules.bigtwo.tables import BigTwoRules
from controller.rules.profile import BigTwoProfile
from controller.rules.rulebooks import load_profile


@pytest.fixture(scope="session")
def profile() -> BigTwoProfile:
    found = load_profile("bigtwo-2017-002")
    assert isinstance(found, BigTwoProfile)
    return found


@pytest.fixture(scope="session")
def rules(profile: BigTwoProfile) -> BigTwoRules:
    return profile.bigtwo
