"""Every screen in three sizes and three themes, cell by cell. ``python -m tests.tui.camera`` writes them anew."""

from __future__ import annotations

import pytest

from tests.tui.camera import SCREENS, SIZES, kept, picture


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("screen", SCREENS)
async def test_picture(screen: str, size: str) -> None:
    assert await picture(screen, size) == kept(screen, size)
