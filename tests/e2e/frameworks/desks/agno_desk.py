"""The refund desk behind Agno's AG-UI interface, at /agui."""

import desk
import provider
from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS
from agno.os.interfaces.agui import AGUI
from agno.tools import tool

agent = Agent(
    name="desk",
    model=OpenAILike(id="desk", base_url=provider.start(), api_key="none"),
    tools=[tool(requires_confirmation=True)(each) for each in (desk.issue_refund, desk.send_email)],
    db=SqliteDb(db_file=str(desk.DATA / "agno.db")),
    telemetry=False,
)
app = AgentOS(agents=[agent], interfaces=[AGUI(agent=agent)], telemetry=False).get_app()
