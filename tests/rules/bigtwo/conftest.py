import pytest

from controller.rules.big_two import BigTwoRules
from controller.rules.profile import BigTwoProfile
from controller.rules.profile_files import load_profile


@pytest.fixture(scope="session")
def profile() -> BigTwoProfile:
    found = load_profile("bigtwo-2017-002")
    assert isinstance(found, BigTwoProfile)
    return found


@pytest.fixture(scope="session")
def rules(profile: BigTwoProfile) -> BigTwoRules:
    return profile.bigtwo
