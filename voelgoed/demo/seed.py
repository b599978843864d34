"""The demo's story from its beginning to its present, in steps that may be repeated."""

from collections.abc import Callable

from voelgoed.accounts.model import Caller
from voelgoed.config import Settings
from voelgoed.demo.bank import PLACE
from voelgoed.demo.box_office import sales_of_festival, sales_of_hall, sales_of_theatre
from voelgoed.demo.file import FILE, SLUG, Demo, new_demo, read_demo, write_demo
from voelgoed.demo.gates import build_gates, let_people_in, open_doors
from voelgoed.demo.people import ensure_people
from voelgoed.demo.story import Story, StoryClock
from voelgoed.demo.venues import build_houses
from voelgoed.infra.clock import Clock
from voelgoed.infra.data_directory import DataDirectory
from voelgoed.infra.database import Database
from voelgoed.infra.log import only_warnings
from voelgoed.infra.master_key import MasterKey
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.model.orders import NewPaymentAccount

Report = Callable[[str], None]


async def ensure_demo(
    settings: Settings,
    database_url: str,
    master_key: MasterKey,
    directory: DataDirectory,
    url: str,
    report: Report,
) -> Demo | None:
    """None when this installation has organisations but no demo: it is in real use."""
    clock = StoryClock()
    services = build_services(settings, database_url, clock, master_key)
    async with running(services, with_jobs=False):
        demo = await _known_demo(services.database, directory, url)
        if demo is None:
            return None
        demo.url = url
        write_demo(directory, demo)
        if not demo.is_finished:
            with only_warnings():
                await _seed(Story(services, clock, demo.begun_at), demo, report)
            demo.is_finished = True
            write_demo(directory, demo)
        if not master_key.is_missing:
            await _introduce_bank(services, demo, (settings.public_url or url).rstrip("/") + PLACE)
            write_demo(directory, demo)
        return demo


async def _known_demo(database: Database, directory: DataDirectory, url: str) -> Demo | None:
    demo = read_demo(directory.path / FILE)
    if demo is not None and demo.is_finished and await database.find_organization(SLUG) is None:
        demo = None  # it tells of another database
    if demo is None and not await database.organization_ids():
        demo = new_demo(url, Clock().now())
    return demo


async def _introduce_bank(services: Services, demo: Demo, url: str) -> None:
    """Again if this start goes by another address."""
    if demo.bank_url == url:
        return
    assert demo.organization_id is not None
    system = Caller(kind="system", id=None, organization_id=demo.organization_id)
    account = NewPaymentAccount(page_url=url, secret=demo.bank_secret)
    await services.checkout.providers.put_account(services.database, system, "paylink", account)
    demo.bank_url = url


async def _seed(story: Story, demo: Demo, report: Report) -> None:
    report("Making a demo organisation with three events")
    await ensure_people(story, demo)
    demo.organization_id = story.owner.organization_id
    festival, theatre, hall = await build_houses(story)
    demo.gates = await build_gates(story, festival)
    demo.event_id = festival.event.id
    can_sell = not story.services.master_key.is_missing
    if can_sell:
        report("Selling the tickets of the last weeks")
        await story.tell(
            [
                *sales_of_festival(story, festival),
                *sales_of_theatre(story, theatre),
                *sales_of_hall(story, hall),
            ]
        )
    await open_doors(story, festival)
    if can_sell:
        report("Letting people in at the festival")
        await let_people_in(story, festival, demo.gates)
