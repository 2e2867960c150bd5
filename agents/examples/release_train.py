"""A release train: deployments are approved in parallel, then promoted together."""

from pydantic import BaseModel, Field

from agents.sdk.context import ToolContext
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow


class Release(BaseModel):
    version: str = Field(default="9.2.1", title="Version")
    services: list[str] = Field(default=["api", "billing", "search"], title="Services")


@tool(effect="idempotent", approval="Deploy {service} {version} to production")
def deploy(service: str, version: str, canary_percent: int = 10) -> str:
    """Deploy a service to production (demo: nothing is deployed)."""
    return f"{service} {version} serves {canary_percent} % of the traffic"


@tool(effect="idempotent", approval="Give {version} all of the traffic")
def promote(call: ToolContext, version: str, services: list[str]) -> str:
    """Send all traffic to a version (demo: nothing is promoted)."""
    for percent in (25, 50, 100):
        call.progress(f"Moving traffic to {version}", done=percent, total=100)
    return f"{version} serves all traffic of {', '.join(services)}"


@workflow(tools=(deploy, promote), input_model=Release)
async def release_train(ctx: WorkflowContext) -> None:
    """Deploys services, each with its own approval, and promotes those that were approved."""
    release = Release.model_validate(ctx.input or {})
    names = ", ".join(release.services)
    await ctx.emit_text(f"Version {release.version} of {names} passed its tests and is ready.")
    calls = [
        (deploy, {"service": service, "version": release.version, "canary_percent": 10})
        for service in release.services
    ]
    outcomes = await ctx.call_all(*calls)
    deployed = [
        service
        for service, outcome in zip(release.services, outcomes, strict=True)
        if outcome.is_done
    ]
    if not deployed:
        await ctx.emit_text("Nothing was approved, so nothing was deployed.")
        return
    await ctx.emit_text(f"The canaries of {', '.join(deployed)} look healthy.")
    promoted = await ctx.call(promote, version=release.version, services=deployed)
    await ctx.emit_text(str(promoted.value) if promoted.is_done else "The canaries stay canaries.")
