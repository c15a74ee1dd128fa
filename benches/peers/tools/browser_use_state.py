"""Prints what browser-use shows a model of some pages: browser_use_state.py BROWSER URL..."""

import asyncio
import json
import os
import sys
from importlib.metadata import version

os.environ["ANONYMIZED_TELEMETRY"] = "false"
os.environ["BROWSER_USE_LOGGING_LEVEL"] = "result"

from browser_use import BrowserProfile, BrowserSession  # noqa: E402


async def main(browser: str, urls: list[str]) -> None:
    size = {"width": 1280, "height": 720}
    profile = BrowserProfile(
        executable_path=browser,
        headless=True,
        chromium_sandbox=os.getuid() != 0,
        enable_default_extensions=False,
        viewport=size,
        window_size=size,
    )
    session = BrowserSession(browser_profile=profile)
    await session.start()
    pages = {}
    for url in urls:
        await session.navigate_to(url)
        state = await session.get_browser_state_summary(include_screenshot=False)
        dom = state.dom_state
        pages[url] = {"text": dom.llm_representation(), "controls": len(dom.selector_map)}
    await session.kill()
    print(json.dumps({"version": version("browser-use"), "pages": pages}))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
